//! The player of the script: does what stands there, shows what comes of it, and insists on it.

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

/// How long anything expected may take. On an idle machine all of it is there within two seconds.
const PATIENCE: Duration = Duration::from_secs(15);

/// Changes that come within so short a time are told together.
const BREATH: Duration = Duration::from_millis(100);

/// In the live view, tables follow when nothing has changed for so long.
const QUIET: Duration = Duration::from_secs(1);

/// A tour that did not go as it should.
#[derive(Debug, thiserror::Error)]
pub(super) enum TourError {
    /// What a stage should bring about did not come.
    #[error("{stage:?}: not within {} s: {wanting}", PATIENCE.as_secs())]
    Unmet {
        /// The stage.
        stage: &'static str,
        /// What is wanting, and what was found instead.
        wanting: String,
    },
    /// A manifest of this program is wrong.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// An object cannot be applied.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// The server refused something.
    #[error("{call}: {error}", call = .0.call(), error = .0)]
    Client(#[from] kube_controller_client::Error),
    /// The cluster is not followed any more.
    #[error("the cluster is not followed any more")]
    Blind,
    /// The tour cannot be shown.
    #[error("standard output")]
    Output(#[from] io::Error),
}

/// Plays stages, one after the other.
pub(super) struct Player {
    pub(super) client: Client,
    pub(super) cluster: watch::Receiver<Snapshot>,
    pub(super) stopping: watch::Sender<Stopping>,
    pub(super) screen: Screen,
    /// The user's own objects.
    pub(super) own: Vec<Object>,
    /// When the program started.
    pub(super) start: Instant,
}

impl Player {
    /// Plays one stage to its end: all that it expects has been seen.
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

    /// Shows changes for ever.
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
                    self.wait(stage, |cluster| cluster.nodes.is_empty().then(|| "no node yet".to_owned())).await?;
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

    /// Shows changes until nothing is wanting any more.
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
            // Untold changes are told at the end of the breath even if nothing more happens.
            let next = if now < breath_ends { breath_ends } else { deadline };
            match timeout_at(next, self.cluster.changed()).await {
                Ok(Ok(())) if now >= breath_ends => breath_ends = Instant::now() + BREATH,
                Ok(Err(_)) => return Err(TourError::Blind),
                Ok(Ok(())) | Err(_) => {}
            }
        }
    }

    /// Shows what changed since the last time, if anything did.
    fn tell(&mut self) -> io::Result<bool> {
        let board = Board::of(&self.cluster.borrow_and_update());
        self.screen.news(board, self.start.elapsed())
    }
}

/// All that is wanting, on one line.
fn wanting(expect: &[Expectation], cluster: &Snapshot) -> Option<String> {
    let unmet: Vec<_> = expect.iter().filter_map(|expectation| expectation.unmet(cluster)).collect();
    (!unmet.is_empty()).then(|| unmet.join("; "))
}
