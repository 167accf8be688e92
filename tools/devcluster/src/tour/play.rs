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
    explain::explanations,
    key::{self, Answer},
    schedule::assign_nodes,
    script::{Embedded, Stage, Step},
};
use crate::{
    apply::{ApplyError, apply},
    cluster::Snapshot,
    kubelet::Stopping,
    manifest::{ManifestError, Object, Syntax, objects},
    output::{OutputError, print_line},
    view::{Board, Rows, Screen},
};

/// Timeout of the expectations of a stage. On an idle machine they are met within two seconds, on a busy one later.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Interval in which changes are collected and printed together.
const PRINT_INTERVAL: Duration = Duration::from_millis(100);

/// Time without changes after which the live view prints the tables.
const IDLE_TIME: Duration = Duration::from_secs(1);

/// Error of the tour.
#[derive(Debug, thiserror::Error)]
pub(super) enum TourError {
    /// An expectation was not met in time.
    #[error("{stage:?}: not met within {} s: {missing}", TIMEOUT.as_secs())]
    Unmet {
        /// Title of the stage.
        stage: &'static str,
        /// Unmet expectations and the actual state.
        missing: String,
    },
    /// A manifest that ships with this program is invalid.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// An object cannot be applied.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// A request failed.
    #[error("{}", .0.call())]
    Client(#[from] kube_controller_client::Error),
    /// The informers of the view have ended.
    #[error("the informers of the view have ended")]
    InformersEnded,
    /// The tour cannot be printed.
    #[error("cannot print the tour")]
    Output(#[from] OutputError),
    /// No key can be read.
    #[error("cannot read a key from the terminal")]
    Key(#[source] io::Error),
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
    /// Runs the steps of a stage, waits until its expectations are met, and prints the tables and explanations.
    pub(super) async fn play(&mut self, stage: &Stage) -> Result<(), TourError> {
        let Stage { title, text, steps, show, explain, expect } = stage;
        self.screen.heading(title, text)?;
        for step in steps {
            self.run_step(title, *step).await?;
        }
        self.wait(title, |cluster| missing(expect, cluster)).await?;
        let board = Board::of(&self.cluster.borrow());
        self.screen.tables(&board, *show)?;
        if !explain.is_empty() {
            let text = explanations(&self.cluster.borrow(), explain, self.screen.has_colours(), kube_ambient::now());
            print_line(&format!("\n{}", text.trim_end()))?;
        }
        Ok(())
    }

    /// Asks for a key, and waits for it.
    pub(super) async fn wait_for_key(&self) -> Result<Answer, TourError> {
        self.screen.prompt("Press a key for the next step, q to quit.")?;
        let answer = key::wait().await.map_err(TourError::Key)?;
        print_line("")?;
        Ok(answer)
    }

    /// Prints changes until the informers end.
    pub(super) async fn print_changes_until_end(&mut self) -> Result<(), TourError> {
        let mut stale = false;
        loop {
            let changed = async {
                if stale {
                    tokio::time::timeout(IDLE_TIME, self.cluster.changed()).await.ok()
                } else {
                    Some(self.cluster.changed().await)
                }
            };
            match changed.await {
                Some(Ok(())) => stale |= self.print_changes()?,
                Some(Err(_)) => return Err(TourError::InformersEnded),
                None => {
                    let board = Board::of(&self.cluster.borrow());
                    self.screen.tables(&board, Rows::Changed)?;
                    print_line("")?;
                    stale = false;
                }
            }
        }
    }

    async fn run_step(&mut self, stage: &'static str, step: Step) -> Result<(), TourError> {
        match step {
            Step::Apply(Embedded { name, text }) => {
                apply(&self.client, objects(name, Syntax::Yaml, text)?).await?;
            }
            Step::ApplyOwn => {
                let mut own = std::mem::take(&mut self.own);
                if !own.is_empty() {
                    self.wait(stage, |cluster| cluster.nodes.is_empty().then(|| "no Nodes yet".to_owned())).await?;
                    assign_nodes(&mut own, &self.cluster.borrow());
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
                let exists = |cluster: &Snapshot| cluster.pods.contains_key(&key);
                self.wait(stage, |cluster| exists(cluster).then(|| format!("Pod {key} is still there"))).await?;
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

    /// Prints changes until `missing` returns `None`.
    async fn wait(
        &mut self,
        stage: &'static str,
        missing: impl Fn(&Snapshot) -> Option<String>,
    ) -> Result<(), TourError> {
        let deadline = Instant::now() + TIMEOUT;
        let mut next_print = Instant::now();
        loop {
            let missing = missing(&self.cluster.borrow_and_update());
            let now = Instant::now();
            if missing.is_none() || now >= next_print {
                self.print_changes()?;
            }
            let Some(missing) = missing else { return Ok(()) };
            if now >= deadline {
                return Err(TourError::Unmet { stage, missing });
            }
            // Wake up at the end of the interval, to print collected changes even if no other follows.
            let next = if now < next_print { next_print } else { deadline };
            match timeout_at(next, self.cluster.changed()).await {
                Ok(Ok(())) if now >= next_print => next_print = Instant::now() + PRINT_INTERVAL,
                Ok(Err(_)) => return Err(TourError::InformersEnded),
                Ok(Ok(())) | Err(_) => {}
            }
        }
    }

    /// Prints the changes since the last call. Returns whether there were any.
    fn print_changes(&mut self) -> Result<bool, OutputError> {
        let board = Board::of(&self.cluster.borrow_and_update());
        self.screen.changes(board, self.start.elapsed())
    }
}

/// Returns all unmet expectations on one line; `None` if all are met.
fn missing(expect: &[Expectation], cluster: &Snapshot) -> Option<String> {
    let unmet: Vec<_> = expect.iter().filter_map(|expectation| expectation.unmet(cluster)).collect();
    (!unmet.is_empty()).then(|| unmet.join("; "))
}
