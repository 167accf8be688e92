//! Clusters and controllers, put together for a measurement and taken apart again.

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

/// How often the controllers are looked at.
const INTERVAL: Duration = Duration::from_millis(100);
/// Nothing happens for so long, and twice the batch period, when they are at rest.
const QUIET: Duration = Duration::from_secs(1);
/// What the controllers follow.
const FOLLOWED: [&str; 5] = ["endpoints", "endpointslices", "nodes", "pods", "services"];

/// Where measurements are made.
#[derive(Debug)]
pub(crate) struct Lab {
    pub(crate) settings: Settings,
    pub(crate) progress: Progress,
    controller: Template,
    folder: TempDir,
    /// The last cluster, in case that the next measurement wants the same.
    kept: Option<World>,
}

impl Lab {
    pub(crate) fn new(settings: Settings, progress: Progress) -> anyhow::Result<Self> {
        let controller = settings.controller.clone().map_or_else(Template::beside_this, Ok)?;
        Ok(Self { settings, progress, controller, folder: TempDir::new()?, kept: None })
    }

    /// A cluster in which no controller has worked yet.
    pub(crate) async fn empty(&mut self, population: Population) -> anyhow::Result<World> {
        // The old one goes first: there may not be room for two.
        self.kept = None;
        self.progress.step(&format!("loading {} Pods", population.pods));
        World::start(population, self.folder.path()).await
    }

    /// A cluster in which everything is written.
    pub(crate) async fn filled(&mut self, population: Population) -> anyhow::Result<World> {
        if let Some(world) = self.kept.take_if(|it| it.population == population && it.filled) {
            return Ok(world);
        }
        let mut world = self.empty(population).await?;
        let run = self.run(&mut world, self.settings.pace(Duration::ZERO)).await?;
        run.fill(&mut world, &self.progress).await?.end().await?;
        Ok(world)
    }

    /// Keeps a cluster for the next measurement.
    pub(crate) fn keep(&mut self, world: World) {
        self.kept = Some(world);
    }

    /// Starts the controllers.
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

/// Controllers at work.
#[derive(Debug)]
pub(crate) struct Run {
    /// A client of the bench.
    pub(crate) client: Client,
    pub(crate) population: Population,
    encoding: &'static str,
    pace: Pace,
    subject: Subject,
    begun: Instant,
    /// What had been done when the measurement began.
    counts: Counts,
    usage: Usage,
    settling: Settling,
    /// What has been done since.
    last: (Counts, Usage),
}

impl Run {
    /// Waits until every Service has what belongs to it.
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

    /// Waits until everything is known.
    pub(crate) async fn resume(mut self, world: &mut World, progress: &Progress) -> anyhow::Result<Self> {
        self.settle(world, progress, "resuming", follows_everything).await?;
        Ok(self)
    }

    /// Waits until nothing happens any more, and what must have happened has.
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

    /// What was measured since the last time this was asked, or since the start.
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

    /// Ends the controllers.
    pub(crate) async fn end(self) -> anyhow::Result<()> {
        self.subject.end().await
    }
}

fn follows_everything(counts: &Counts) -> bool {
    FOLLOWED.iter().all(|resource| counts.count(resource, "watch") > 0)
}
