//! Setup and teardown of clusters and controllers for measurements.

use std::time::Duration;

use kube_controller_client::Client;
use kube_dev_apiserver::Population;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use super::{
    outcome::{Outcome, timeline},
    progress::Progress,
    protocol::Counts,
    settings::{Pace, Settings},
    settling::{Sample, Settling},
    subject::{Subject, Template, Usage, Values},
    world::World,
};

/// Sampling interval of a measurement.
const INTERVAL: Duration = Duration::from_millis(100);
/// Time without activity after which the controllers are idle, in addition to twice the batch period.
const QUIET: Duration = Duration::from_secs(1);
/// Resources that the controllers watch.
const FOLLOWED: [&str; 5] = ["endpoints", "endpointslices", "nodes", "pods", "services"];

/// Environment of the measurements.
#[derive(Debug)]
pub(crate) struct Lab {
    pub(crate) settings: Settings,
    pub(crate) progress: Progress,
    controller: Template,
    folder: TempDir,
    /// Cluster of the last measurement, for reuse by the next one.
    kept: Option<World>,
}

impl Lab {
    pub(crate) fn new(settings: Settings, progress: Progress) -> anyhow::Result<Self> {
        let controller = settings.controller.clone().map_or_else(Template::beside_this, Ok)?;
        Ok(Self { settings, progress, controller, folder: TempDir::new()?, kept: None })
    }

    /// Loads a cluster without Endpoints and slices.
    pub(crate) async fn empty(&mut self, population: Population) -> anyhow::Result<World> {
        // Stop the previous cluster first: memory may not suffice for two.
        self.kept = None;
        self.progress.step(&format!("loading {} Pods", population.pods));
        World::start(population, self.folder.path()).await
    }

    /// Returns a cluster whose Endpoints and slices are up to date.
    pub(crate) async fn filled(&mut self, population: Population) -> anyhow::Result<World> {
        if let Some(world) = self.kept.take_if(|it| it.population == population && it.filled) {
            return Ok(world);
        }
        let mut world = self.empty(population).await?;
        let run = self.run(&mut world, self.settings.pace(Duration::ZERO)).await?;
        run.fill(&mut world, &self.progress).await?.end().await?;
        Ok(world)
    }

    /// Stores a cluster for reuse by the next measurement.
    pub(crate) fn keep(&mut self, world: World) {
        self.kept = Some(world);
    }

    /// Starts the controllers and begins a measurement.
    pub(crate) async fn run(&self, world: &mut World, pace: Pace) -> anyhow::Result<Run> {
        let counts = world.count().await?;
        let kubeconfig = world.kubeconfig.display().to_string();
        let values = Values { kubeconfig: &kubeconfig, content_type: self.settings.content_type(), pace };
        let subject = Subject::start(&self.controller, values, self.folder.path())?;
        Ok(Run {
            client: world.client().await?,
            encoding: self.settings.encoding(),
            population: world.population,
            pace,
            subject,
            begun: Instant::now(),
            counts,
            usage: Usage::default(),
            settling: Settling::new(Duration::ZERO),
            last: (Counts::default(), Usage::default()),
        })
    }
}

/// Running controllers and the current measurement.
#[derive(Debug)]
pub(crate) struct Run {
    /// Client of the bench, excluded from the counts.
    pub(crate) client: Client,
    pub(crate) population: Population,
    encoding: &'static str,
    pace: Pace,
    subject: Subject,
    begun: Instant,
    /// Requests before the measurement began.
    counts: Counts,
    /// Usage before the measurement began.
    usage: Usage,
    settling: Settling,
    /// Requests and usage since the measurement began.
    last: (Counts, Usage),
}

impl Run {
    /// Waits until every Service has Endpoints and a slice, and the controllers are idle.
    pub(crate) async fn fill(mut self, world: &mut World, progress: &Progress) -> anyhow::Result<Self> {
        let services = self.population.services as u64;
        let written = move |counts: &Counts| {
            follows_everything(counts)
                && counts.count("endpointslices", "create") >= services
                && counts.count("endpoints", "create") >= services
        };
        self.settle(world, progress, "filling", written).await?;
        world.filled = true;
        Ok(self)
    }

    /// Waits until the controllers watch all resources and are idle.
    pub(crate) async fn resume(mut self, world: &mut World, progress: &Progress) -> anyhow::Result<Self> {
        self.settle(world, progress, "resuming", follows_everything).await?;
        Ok(self)
    }

    /// Waits until `done` returns true and the controllers are idle.
    pub(crate) async fn settle(
        &mut self,
        world: &mut World,
        progress: &Progress,
        what: &str,
        done: impl Fn(&Counts) -> bool,
    ) -> anyhow::Result<()> {
        self.settling = Settling::new(QUIET + 2 * self.pace.batch_period());
        loop {
            let counts = world.count().await?.since(&self.counts);
            let usage = self.subject.usage()?;
            let usage = Usage { cpu: usage.cpu.saturating_sub(self.usage.cpu), ..usage };
            let at = self.begun.elapsed();
            progress.step(&format!("{what}: {} writes, {:.2} s CPU", counts.writes(), usage.cpu.as_secs_f64()));
            let sample = Sample { at, writes: counts.writes(), sent: counts.sent, usage };
            let over = self.settling.add(sample, done(&counts));
            self.last = (counts, usage);
            if over {
                return Ok(());
            }
            sleep(INTERVAL).await;
        }
    }

    /// Returns the outcome of the current measurement and begins the next one.
    pub(crate) async fn outcome(&mut self, world: &mut World, name: &str) -> anyhow::Result<Outcome> {
        let (counts, usage) = std::mem::take(&mut self.last);
        let outcome = Outcome {
            name: name.to_owned(),
            command: String::new(),
            encoding: self.encoding,
            pace: self.pace,
            population: self.population,
            usage,
            seconds: self.settling.busy_until().as_secs_f64(),
            counts,
            changes: 0,
            latencies: None,
            upstream: None,
            timeline: timeline(&self.settling),
        };
        self.counts = world.count().await?;
        self.usage = self.subject.usage()?;
        self.begun = Instant::now();
        Ok(outcome)
    }

    /// Stops the controllers.
    pub(crate) async fn end(self) -> anyhow::Result<()> {
        self.subject.end().await
    }
}

fn follows_everything(counts: &Counts) -> bool {
    FOLLOWED.iter().all(|resource| counts.count(resource, "watch") > 0)
}
