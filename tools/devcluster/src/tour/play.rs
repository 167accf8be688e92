//! Execution of the script: runs the steps of each stage, prints changes, and waits for the expectations.

use std::{io, thread, time::Duration};

use anyhow::{Context as _, bail};
use kube_controller_client::Client;
use kube_dev_apiserver::Server;
use kube_endpoint_model::{Node, Pod};
use kube_wire::ObjectKey;
use serde_json::{Value, json};
use tokio::{
    sync::{oneshot, watch},
    time::{Instant, timeout_at},
};

use super::{
    expect::{Expectation, NAMESPACE},
    explain::explanations,
    script::{Embedded, Stage, Step},
};
use crate::{
    cluster::Snapshot,
    kubelet::Stopping,
    manifests,
    output::{OutputError, print_line},
    view::{Board, Screen},
};

/// Timeout of the expectations of a stage. On an idle machine they are met within two seconds, on a busy one later.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Interval in which changes are collected and printed together.
const PRINT_INTERVAL: Duration = Duration::from_millis(100);

/// What an error reports if the snapshots of the cluster end.
const INFORMERS_ENDED: &str = "the informers of the view have ended";

/// Executor of stages.
pub(super) struct Player<'a> {
    pub(super) server: &'a Server,
    pub(super) client: Client,
    pub(super) cluster: watch::Receiver<Snapshot>,
    pub(super) stopping: watch::Sender<Stopping>,
    pub(super) screen: Screen,
    /// Objects of the user.
    pub(super) own: Vec<Value>,
    /// Start time of the program.
    pub(super) start: Instant,
}

impl Player<'_> {
    /// Runs the steps of a stage, waits until its expectations are met, and prints the tables and explanations.
    pub(super) async fn play(&mut self, stage: &Stage) -> anyhow::Result<()> {
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

    /// Waits for Enter. The thread that reads does not delay the end of the program.
    pub(super) async fn wait_for_enter(&self) -> anyhow::Result<()> {
        self.screen.prompt("Press Enter for the next step.")?;
        let (sender, read) = oneshot::channel();
        thread::spawn(move || sender.send(io::stdin().lines().next()));
        // Whatever was read.
        let _ = read.await;
        Ok(())
    }

    pub(super) async fn print_changes_until_end(&mut self) -> anyhow::Result<()> {
        while self.cluster.changed().await.is_ok() {
            self.print_changes()?;
        }
        bail!(INFORMERS_ENDED)
    }

    async fn run_step(&mut self, stage: &'static str, step: Step) -> anyhow::Result<()> {
        match step {
            Step::Create(Embedded { name, text }) => {
                self.server.load(manifests::parse(name, text)?)?;
            }
            Step::CreateOwn => {
                self.server.load(std::mem::take(&mut self.own))?;
            }
            Step::DeletePods(names) => {
                for name in names {
                    self.client.delete::<Pod>(NAMESPACE, name, None).await.context(name)?;
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
                self.client.merge_patch::<Node>("", name, Some("status"), &patch).await.context(name)?;
            }
            Step::DeleteNode(name) => {
                self.client.delete::<Node>("", name, None).await.context(name)?;
            }
        }
        Ok(())
    }

    /// Prints changes until `missing` returns `None`.
    async fn wait(&mut self, stage: &'static str, missing: impl Fn(&Snapshot) -> Option<String>) -> anyhow::Result<()> {
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
                bail!("{stage:?}: not met within {} s: {missing}", TIMEOUT.as_secs());
            }
            // Wake up at the end of the interval, to print collected changes even if no other follows.
            let next = if now < next_print { next_print } else { deadline };
            match timeout_at(next, self.cluster.changed()).await {
                Ok(Ok(())) if now >= next_print => next_print = Instant::now() + PRINT_INTERVAL,
                Ok(Err(_)) => bail!(INFORMERS_ENDED),
                Ok(Ok(())) | Err(_) => {}
            }
        }
    }

    /// Prints the changes since the last call.
    fn print_changes(&mut self) -> Result<(), OutputError> {
        // Not marked as seen: the expectations may not have been evaluated on this state.
        let board = Board::of(&self.cluster.borrow());
        self.screen.changes(board, self.start.elapsed())
    }
}

/// Returns all unmet expectations on one line; `None` if all are met.
fn missing(expect: &[Expectation], cluster: &Snapshot) -> Option<String> {
    let unmet: Vec<_> = expect.iter().filter_map(|expectation| expectation.unmet(cluster)).collect();
    (!unmet.is_empty()).then(|| unmet.join("; "))
}
