//! Setup and teardown of clusters and controllers for measurements.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use kube_controller_client::Client;
use kube_dev_apiserver::Population;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use super::{
    args::BenchArgs,
    controller_process::{ControllerProcess, Template},
    outcome::Outcome,
    server::{BenchServer, RequestCounts},
    settling::{Sample, Settling},
    usage::Usage,
};

/// Sampling interval of a measurement.
const INTERVAL: Duration = Duration::from_millis(100);
/// Time without activity after which the controllers are idle, in addition to twice the batch period.
const IDLE_TIME: Duration = Duration::from_secs(1);
/// Resources that the controllers watch.
const WATCHED: [&str; 5] = ["endpoints", "endpointslices", "nodes", "pods", "services"];

#[derive(Debug)]
pub(crate) struct Environment {
    pub(crate) args: BenchArgs,
    /// Progress on standard error, if that is a terminal.
    pub(crate) progress: ProgressBar,
    controller: Template,
    folder: TempDir,
    /// Cluster of the last measurement, for reuse by the next one.
    cached: Option<BenchServer>,
}

impl Environment {
    pub(crate) fn new(args: BenchArgs) -> anyhow::Result<Self> {
        let controller = args.controller.clone().map_or_else(Template::default_command, Ok)?;
        let style = ProgressStyle::with_template("{spinner} {elapsed_precise} {prefix}: {wide_msg}")?;
        let progress = ProgressBar::new_spinner().with_style(style);
        Ok(Self { args, progress, controller, folder: TempDir::new()?, cached: None })
    }

    /// Loads a cluster without Endpoints and slices.
    pub(crate) async fn empty(&mut self, population: Population) -> anyhow::Result<BenchServer> {
        // Stop the previous cluster first: memory may not suffice for two.
        self.cached = None;
        self.progress.set_message(format!("loading {} Pods", population.pods));
        BenchServer::start(population, self.folder.path()).await
    }

    /// Returns a cluster whose Endpoints and slices are up to date, and idle controllers.
    pub(crate) async fn resumed(
        &mut self,
        default: Population,
        batch_period: Duration,
    ) -> anyhow::Result<(Run, BenchServer)> {
        let mut server = self.filled(self.args.population(default)).await?;
        let mut run = self.run(&mut server, batch_period).await?;
        run.settle(&mut server, &self.progress, "resuming", watches_all_resources).await?;
        Ok((run, server))
    }

    /// Returns a cluster whose Endpoints and slices are up to date.
    async fn filled(&mut self, population: Population) -> anyhow::Result<BenchServer> {
        if let Some(server) = self.cached.take_if(|it| it.population == population && it.filled) {
            return Ok(server);
        }
        let mut server = self.empty(population).await?;
        let run = self.run(&mut server, Duration::ZERO).await?;
        run.fill(&mut server, &self.progress).await?.stop().await?;
        Ok(server)
    }

    /// Stores a cluster for reuse by the next measurement.
    pub(crate) fn cache(&mut self, server: BenchServer) {
        self.cached = Some(server);
    }

    /// Starts the controllers, by default with this batch period, and begins a measurement.
    pub(crate) async fn run(&self, server: &mut BenchServer, batch_period: Duration) -> anyhow::Result<Run> {
        let counts = server.count();
        let batch_period = self.args.batch_period.unwrap_or(batch_period);
        let words = self.controller.fill(&server.kubeconfig, batch_period);
        let controller_process = ControllerProcess::start(&words, self.folder.path())?;
        Ok(Run {
            client: server.client().await?,
            population: server.population,
            batch_period,
            controller_process,
            started: Instant::now(),
            counts,
            usage: Usage::default(),
            settling: Settling::new(Duration::ZERO),
            last: (RequestCounts::default(), Usage::default()),
        })
    }
}

/// Running controllers and the current measurement.
#[derive(Debug)]
pub(crate) struct Run {
    /// Client of the bench, excluded from the counts.
    pub(crate) client: Client,
    pub(crate) population: Population,
    batch_period: Duration,
    controller_process: ControllerProcess,
    started: Instant,
    /// Requests before the measurement began.
    counts: RequestCounts,
    /// Usage before the measurement began.
    usage: Usage,
    settling: Settling,
    /// Requests and usage since the measurement began.
    last: (RequestCounts, Usage),
}

impl Run {
    /// Waits until every Service has Endpoints and a slice, and the controllers are idle.
    pub(crate) async fn fill(mut self, server: &mut BenchServer, progress: &ProgressBar) -> anyhow::Result<Self> {
        let services = self.population.services as u64;
        let written = move |counts: &RequestCounts| {
            watches_all_resources(counts)
                && counts.count("endpointslices", "create") >= services
                && counts.count("endpoints", "create") >= services
        };
        self.settle(server, progress, "filling", written).await?;
        server.filled = true;
        Ok(self)
    }

    /// Waits until `done` returns true and the controllers are idle.
    pub(crate) async fn settle(
        &mut self,
        server: &mut BenchServer,
        progress: &ProgressBar,
        what: &str,
        done: impl Fn(&RequestCounts) -> bool,
    ) -> anyhow::Result<()> {
        self.settling = Settling::new(IDLE_TIME + 2 * self.batch_period);
        loop {
            let counts = server.count().since(&self.counts);
            let usage = self.controller_process.usage()?.since(self.usage);
            let at = self.started.elapsed();
            progress.set_message(format!("{what}: {} writes, {:.2} s CPU", counts.writes(), usage.cpu.as_secs_f64()));
            let sample = Sample { at, writes: counts.writes(), sent: counts.sent, usage };
            let settled = self.settling.add(sample, done(&counts));
            self.last = (counts, usage);
            if settled {
                return Ok(());
            }
            sleep(INTERVAL).await;
        }
    }

    /// Returns the outcome of the current measurement and begins the next one.
    pub(crate) fn outcome(&mut self, server: &mut BenchServer, name: &str) -> anyhow::Result<Outcome> {
        let (counts, usage) = std::mem::take(&mut self.last);
        let outcome = Outcome {
            name: name.to_owned(),
            run: 1,
            population: self.population,
            usage,
            seconds: self.settling.busy_until().as_secs_f64(),
            counts,
            changes: 0,
            latencies: None,
        };
        self.counts = server.count();
        self.usage = self.controller_process.usage()?;
        self.started = Instant::now();
        Ok(outcome)
    }

    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        self.controller_process.stop().await
    }
}

fn watches_all_resources(counts: &RequestCounts) -> bool {
    WATCHED.iter().all(|resource| counts.count(resource, "watch") > 0)
}
