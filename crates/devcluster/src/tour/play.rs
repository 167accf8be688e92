//! Execution of the script: runs the steps of each stage, prints changes, and waits for the expectations.

use std::{io, time::Duration};

use k8s_openapi::api::core::v1::{Node, Pod};
use kube_controller_client::Client;
use kube_wire::ObjectKey;
use serde_json::json;
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};

use super::{
    expect::{Expectation, NAMESPACE},
    place::give_nodes,
    script::{Shipped, Stage, Step},
};
use crate::{
    apply::{ApplyError, apply},
    cluster::Snapshot,
    kubelet::Stopping,
    manifest::{ManifestError, Object, Syntax, objects},
    view::{Board, Rows, Screen},
};

/// Timeout of the expectations of a stage. On an idle machine they are met within two seconds.
const PATIENCE: Duration = Duration::from_secs(15);

/// Interval in which changes are collected and printed together.
const BREATH: Duration = Duration::from_millis(100);

/// Time without changes after which the live view prints the tables.
const QUIET: Duration = Duration::from_secs(1);

/// Error of the tour.
#[derive(Debug, thiserror::Error)]
pub(super) enum TourError {
    /// An expectation was not met in time.
    #[error("{stage:?}: not met within {} s: {wanting}", PATIENCE.as_secs())]
    Unmet {
        /// Title of the stage.
        stage: &'static str,
        /// Unmet expectations and the actual state.
        wanting: String,
    },
    /// A manifest that ships with this program is invalid.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// An object cannot be applied.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// A request failed.
    #[error("{call}: {error}", call = .0.call(), error = .0)]
    Client(#[from] kube_controller_client::Error),
    /// The informers of the view have ended.
    #[error("the informers of the view have ended")]
    Blind,
    /// Standard output cannot be written.
    #[error("cannot write to standard output")]
    Output(#[from] io::Error),
}

/// Executor of stages.
pub(super) struct Player {
    pub(super) client: Client,
    pub(super) cluster: watch::Receiver<Snapshot>,
    pub(super) stopping: watch::Sender<Stopping>,
    pub(super) screen: Screen,
    /// Objects of the user.
    pub(super) own: Vec<Object>,
    /// Start time of the program.
    pub(super) start: Instant,
}

impl Player {
    /// Runs the steps of a stage, waits until its expectations are met, and prints the tables.
    pub(super) async fn play(&mut self, stage: &Stage) -> Result<(), TourError> {
        let Stage { title, text, steps, show, expect } = stage;
        self.screen.heading(title, text)?;
        for step in steps {
            self.act(title, *step).await?;
        }
        self.wait(title, |cluster| wanting(expect, cluster)).await?;
        let board = Board::of(&self.cluster.borrow());
        Ok(self.screen.tables(&board, *show)?)
    }

    /// Prints changes until the informers end.
    pub(super) async fn look_on(&mut self) -> Result<(), TourError> {
        let mut stale = false;
        loop {
            let changed = async {
                if stale {
                    tokio::time::timeout(QUIET, self.cluster.changed()).await.ok()
                } else {
                    Some(self.cluster.changed().await)
                }
            };
            match changed.await {
                Some(Ok(())) => stale |= self.tell()?,
                Some(Err(_)) => return Err(TourError::Blind),
                None => {
                    let board = Board::of(&self.cluster.borrow());
                    self.screen.tables(&board, Rows::News)?;
                    self.screen.text("")?;
                    stale = false;
                }
            }
        }
    }

    async fn act(&mut self, stage: &'static str, step: Step) -> Result<(), TourError> {
        match step {
            Step::Apply(Shipped { name, text }) => {
                apply(&self.client, objects(name, Syntax::Yaml, text)?).await?;
            }
            Step::ApplyOwn => {
                let mut own = std::mem::take(&mut self.own);
                if !own.is_empty() {
                    self.wait(stage, |cluster| cluster.nodes.is_empty().then(|| "no Nodes yet".to_owned())).await?;
                    give_nodes(&mut own, &self.cluster.borrow());
                    apply(&self.client, own).await?;
                }
            }
            Step::DeletePods(names) => {
                for name in names {
                    self.client.delete::<Pod>(NAMESPACE, name, None).await?;
                }
            }
            Step::AwaitPodGone(name) => {
                let key = ObjectKey::new(NAMESPACE, name);
                let is_there = |cluster: &Snapshot| cluster.pods.contains_key(&key);
                self.wait(stage, |cluster| is_there(cluster).then(|| format!("Pod {key} is still there"))).await?;
            }
            Step::Stopping(stopping) => drop(self.stopping.send_replace(stopping)),
            Step::LoseNode(name) => {
                let lost = json!({ "type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown" });
                let patch = json!({ "status": { "conditions": [lost] } });
                self.client.merge_patch::<Node>("", name, Some("status"), &patch).await?;
            }
            Step::DeleteNode(name) => {
                self.client.delete::<Node>("", name, None).await?;
            }
        }
        Ok(())
    }

    /// Prints changes until `wanting` returns `None`.
    async fn wait(
        &mut self,
        stage: &'static str,
        wanting: impl Fn(&Snapshot) -> Option<String>,
    ) -> Result<(), TourError> {
        let deadline = Instant::now() + PATIENCE;
        let mut breath_ends = Instant::now();
        loop {
            let wanting = wanting(&self.cluster.borrow_and_update());
            let now = Instant::now();
            if wanting.is_none() || now >= breath_ends {
                self.tell()?;
            }
            let Some(wanting) = wanting else { return Ok(()) };
            if now >= deadline {
                return Err(TourError::Unmet { stage, wanting });
            }
            // Wake up at the end of the interval, to print collected changes even if no other follows.
            let next = if now < breath_ends { breath_ends } else { deadline };
            match timeout_at(next, self.cluster.changed()).await {
                Ok(Ok(())) if now >= breath_ends => breath_ends = Instant::now() + BREATH,
                Ok(Err(_)) => return Err(TourError::Blind),
                Ok(Ok(())) | Err(_) => {}
            }
        }
    }

    /// Prints the changes since the last call. Returns whether there were any.
    fn tell(&mut self) -> io::Result<bool> {
        let board = Board::of(&self.cluster.borrow_and_update());
        self.screen.news(board, self.start.elapsed())
    }
}

/// Returns all unmet expectations on one line; `None` if all are met.
fn wanting(expect: &[Expectation], cluster: &Snapshot) -> Option<String> {
    let unmet: Vec<_> = expect.iter().filter_map(|expectation| expectation.unmet(cluster)).collect();
    (!unmet.is_empty()).then(|| unmet.join("; "))
}
