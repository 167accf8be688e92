//! Selects scenarios for a profile, and plays them on clusters with the controllers under test.

use std::{cmp::Reverse, sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use kube_dev_apiserver::Config as ServerConfig;
use tokio::{task::JoinSet, time::Instant};

use crate::{
    Access, Cluster, Comparison, Entry, Hostile, Kind, Limits, Player, Profile, Recording, Report, Subject, Target,
    Verdict, World, WriteBound, during,
};

/// Controllers under test, their claims, and the clusters to test them on.
pub struct Kit {
    /// Claims of the controllers.
    pub profile: Arc<Profile>,
    /// Controllers under test.
    pub subject: Arc<dyn Subject>,
    /// Whether the controllers run already, or are started by another program: all scenarios are then played on one
    /// cluster.
    pub external: bool,
    /// Clusters on which scenarios are played.
    pub target: Target,
    /// User and rights of the controllers on the embedded server.
    pub access: Access,
    /// Time limits.
    pub limits: Limits,
    /// Maximum number of clusters at a time, each with an instance of the controllers; ignored if there is only one.
    pub jobs: usize,
}

/// Function that is called with the key of each scenario that has ended.
type Progress = dyn Fn(&str, &Entry) + Send + Sync;

/// Scenarios to play, and those that do not apply.
#[derive(Default)]
pub struct Plan {
    /// Files with the scenarios to play.
    pub recordings: Vec<(String, Recording)>,
    /// Hostile scenarios to play.
    pub hostile: Vec<Hostile>,
    /// Keys of scenarios that are not played, with the reasons.
    pub skipped: Vec<(String, String)>,
}

/// What is played on one cluster.
enum Part {
    File(String, Recording),
    Hostile(Hostile),
}

impl Plan {
    /// Returns the number of scenarios to play.
    pub fn scenarios(&self) -> usize {
        self.recordings.iter().map(|(_, recording)| recording.scenarios.len()).sum::<usize>() + self.hostile.len()
    }
}

impl Kit {
    /// Returns whether all scenarios are played on one cluster, one file after the other.
    pub(crate) fn is_shared(&self) -> bool {
        self.external || matches!(self.target, Target::Cluster { .. })
    }

    /// Selects the scenarios whose key `file/scenario` is accepted by `selects`, and of them those that apply to the
    /// profile.
    pub fn plan(
        &self,
        recordings: Vec<(String, Recording)>,
        hostile: Vec<Hostile>,
        selects: impl Fn(&str) -> bool,
    ) -> Plan {
        let mut plan = Plan::default();
        for (file, mut recording) in recordings {
            recording.scenarios.retain(|scenario| {
                let key = format!("{file}/{}", scenario.name);
                let skips = self.profile.skips(&file, scenario);
                let selected = selects(&key);
                plan.skipped.extend(skips.clone().filter(|_| selected).map(|reason| (key, reason)));
                selected && skips.is_none()
            });
            if !recording.scenarios.is_empty() {
                plan.recordings.push((file, recording));
            }
        }
        // Long files start first, which shortens the total time.
        let steps = |recording: &Recording| recording.scenarios.iter().map(|it| it.steps.len()).sum::<usize>();
        plan.recordings.sort_by_key(|(_, recording)| Reverse(steps(recording)));
        for scenario in hostile {
            if selects(&scenario.key()) {
                match scenario.skips(&self.profile, &self.target, &*self.subject) {
                    Some(reason) => plan.skipped.push((scenario.key(), reason)),
                    None => plan.hostile.push(scenario),
                }
            }
        }
        plan
    }

    /// Starts the cluster for all scenarios; `None` if each file and each hostile scenario has one of its own.
    ///
    /// # Errors
    /// The cluster does not start.
    pub async fn start_shared(&self) -> Result<Option<Arc<Cluster>>> {
        if !self.is_shared() {
            return Ok(None);
        }
        let server = ServerConfig { garbage_collection: true, ..ServerConfig::default() };
        Ok(Some(Arc::new(Cluster::start(&self.target, server, &self.access).await?)))
    }

    /// Plays the scenarios of a plan, on the cluster of [`start_shared`](Self::start_shared) if there is one.
    /// `progress` is called with the key of each scenario that has ended.
    pub async fn run(
        self: Arc<Self>,
        plan: Plan,
        shared: Option<Arc<Cluster>>,
        progress: impl Fn(&str, &Entry) + Send + Sync + 'static,
    ) -> Report {
        let Plan { recordings, hostile, skipped } = plan;
        let skipped = skipped.into_iter().map(|(key, reason)| {
            (key, Entry { verdict: Verdict::Skipped(reason), time: Duration::ZERO, notes: Vec::new() })
        });
        let mut report = Report { about: self.about(), entries: skipped.collect() };
        let progress: Arc<Progress> = Arc::new(progress);
        let files = recordings.into_iter().map(|(file, recording)| Part::File(file, recording));
        let mut parts = files.chain(hostile.into_iter().map(Part::Hostile));
        let at_once = if self.is_shared() { 1 } else { self.jobs.max(1) };
        // Each part is a task of its own, so that the players of several files share no CPU.
        let mut running = JoinSet::new();
        loop {
            while running.len() < at_once
                && let Some(part) = parts.next()
            {
                let (kit, shared, progress) = (Arc::clone(&self), shared.clone(), Arc::clone(&progress));
                running.spawn(async move { Box::pin(kit.play(part, shared, &*progress)).await });
            }
            match running.join_next().await {
                None => return report,
                Some(Ok(played)) => report.entries.extend(played),
                Some(Err(error)) => std::panic::resume_unwind(error.into_panic()),
            }
        }
    }

    async fn play(&self, part: Part, shared: Option<Arc<Cluster>>, progress: &Progress) -> Vec<(String, Entry)> {
        let (key, entry) = match part {
            Part::File(file, recording) => match self.play_file(shared, &file, &recording, progress).await {
                Ok(played) => return played,
                Err(error) => {
                    (file, Entry { verdict: Verdict::failed(&error), time: Duration::ZERO, notes: Vec::new() })
                }
            },
            Part::Hostile(scenario) => (scenario.key(), self.play_hostile(shared, &scenario).await),
        };
        progress(&key, &entry);
        vec![(key, entry)]
    }

    /// Plays one hostile scenario on the given cluster, or on one of its own.
    pub async fn play_hostile(&self, shared: Option<Arc<Cluster>>, scenario: &Hostile) -> Entry {
        let start = Instant::now();
        let played = async {
            let cluster = if let Some(cluster) = shared {
                cluster
            } else {
                let mut server = ServerConfig { garbage_collection: true, ..ServerConfig::default() };
                scenario.configure(&mut server);
                Arc::new(Cluster::start(&self.target, server, &self.access).await?)
            };
            let played = Box::pin(World::play(self, Arc::clone(&cluster), scenario)).await;
            stop_or_clear(cluster).await;
            played
        };
        let (verdict, notes) = match played.await {
            Ok(notes) => (Verdict::Passed, notes),
            Err(error) => (Verdict::failed(&error), Vec::new()),
        };
        Entry { verdict, time: start.elapsed(), notes }
    }

    /// Plays the scenarios of one file. Returns their outcomes with their keys.
    async fn play_file(
        &self,
        shared: Option<Arc<Cluster>>,
        file: &str,
        recording: &Recording,
        progress: &Progress,
    ) -> Result<Vec<(String, Entry)>> {
        let is_shared = shared.is_some();
        let cluster = match shared {
            Some(cluster) => cluster,
            None => Arc::new(Cluster::start(&self.target, ServerConfig::default(), &self.access).await?),
        };
        let player = Player::connect(cluster.config(), Arc::clone(&self.profile), self.limits).await;
        let player = player.context("cannot connect")?;
        if is_shared {
            warn_of_nodes(&player).await?;
        }
        player.create_nodes(&recording.nodes).await.context("cannot create the nodes")?;
        let controllers = self.subject.start(cluster.controllers(), <_>::default()).await?;
        let played = during(controllers, async {
            player.wait_for_controllers().await?;
            Ok(player.play(file, &recording.scenarios, progress).await)
        })
        .await;
        if is_shared {
            // A failed clean-up does not change the outcomes.
            player.clean_up(&recording.nodes).await.unwrap_or_else(|error| eprintln!("cannot clean up: {error:#}"));
        }
        let played = played?;
        cluster.check_rights(&self.profile)?;
        stop_or_clear(cluster).await;
        Ok(played)
    }

    /// Describes what is compared, in one line.
    fn about(&self) -> String {
        let Profile { name, compare, ignore, writes, .. } = &*self.profile;
        let compared = match compare {
            Comparison::Exact => "all fields",
            Comparison::Endpoints => "endpoints only",
        };
        let counted = match writes {
            WriteBound::Exact => "equal numbers of writes",
            WriteBound::Bounded => "at most twice the number of writes",
        };
        let ignored: Vec<_> = ignore.iter().map(|field| field.name()).collect();
        let ignored = if ignored.is_empty() { String::new() } else { format!(" without {}", ignored.join(", ")) };
        format!("profile {name}: compared {compared}{ignored}; {counted}")
    }
}

/// Stops a cluster, or clears the request log of one that others use too.
async fn stop_or_clear(cluster: Arc<Cluster>) {
    match Arc::try_unwrap(cluster) {
        Ok(cluster) => cluster.stop().await,
        Err(shared) => {
            if let Some(server) = shared.server() {
                server.requests().clear();
            }
        }
    }
}

/// Prints a warning if the cluster has other Nodes, since hints depend on all Nodes of a cluster.
async fn warn_of_nodes(player: &Player) -> Result<()> {
    let nodes = player.api().list(Kind::Node, "", "").await?;
    if !nodes.is_empty() {
        let names: Vec<_> = nodes.iter().filter_map(|node| node["metadata"]["name"].as_str()).collect();
        eprintln!("warning: the cluster has other Nodes ({}): scenarios about hints may differ", names.join(", "));
    }
    Ok(())
}
