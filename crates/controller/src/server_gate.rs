//! The gate that lets keys wait while the API server fails.

mod parked;
mod state;
#[cfg(test)]
mod tests;

use std::fmt::{self, Display};
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use display_full_error::DisplayFullErrorExt as _;
use kube_workqueue::Queue;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until};

use self::parked::Parked;
use self::state::{Opened, State, Turn};
use crate::back_off::BackOffs;
use crate::failure_log::{FailureLog, Folded, Kind};
use crate::removals::Removals;
use crate::{ControllerMetrics, FailureCause, locked};

/// Gate that all controllers of a process share, and that closes while the API server fails.
///
/// It closes when the server fails syncs of three keys without a successful write in between, or cannot be reached (see
/// [`FailureCause`]). Keys then wait instead of failing, and use up no retries. After 0.1 s, and then every 0.5 to 5 s, one of them is synced. After
/// the first successful write, all of them are synced, those first that remove something which others still use
/// ([`Urgency::High`](crate::Urgency::High)). Keys that fail although other writes succeed, as behind a webhook of one
/// namespace that is down, do not close it.
///
/// It also limits the log lines about failed syncs of all these controllers, to 41 per minute.
#[derive(Clone, Default)]
pub struct ServerGate(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Number of openings. Sent also when something else changes.
    openings: watch::Sender<u64>,
    members: AtomicUsize,
    log: Mutex<FailureLog>,
    folded: Notify,
}

impl Default for Shared {
    fn default() -> Self {
        let (state, openings, members) = (Mutex::default(), watch::Sender::new(0), AtomicUsize::new(0));
        Shared { state, openings, members, log: Mutex::default(), folded: Notify::new() }
    }
}

impl fmt::Debug for ServerGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerGate").field("closed", &self.is_closed()).finish_non_exhaustive()
    }
}

impl ServerGate {
    /// Returns whether keys wait for the server.
    pub fn is_closed(&self) -> bool {
        locked(&self.0.state).is_closed()
    }

    /// Syncs all waiting keys if the server could not be reached, otherwise one of them at once: the server answered another
    /// request, after it had not for some time.
    pub(crate) fn server_answered(&self) {
        let opened = locked(&self.0.state).answered(Instant::now());
        self.opened(opened);
        self.changed(0);
    }

    fn changed(&self, openings: u64) {
        self.0.openings.send_modify(|count| *count += openings);
    }

    /// Returns the time of the last successful write.
    pub(crate) fn last_success(&self) -> Option<Instant> {
        locked(&self.0.state).last_success()
    }

    pub(crate) fn succeeded(&self) {
        let opened = locked(&self.0.state).succeeded(Instant::now());
        self.opened(opened);
    }

    fn opened(&self, opened: Option<Opened>) {
        let Some(Opened { after }) = opened else { return };
        self.changed(1);
        if self.logs(Kind::Gate) {
            let seconds = after.as_secs();
            tracing::info!(seconds, "The API server accepts writes again, syncing the keys that waited");
        }
    }

    /// Counts a line of the log, and returns whether it is logged.
    pub(crate) fn logs(&self, kind: Kind) -> bool {
        let mut log = locked(&self.0.log);
        let admits = log.admits(kind, Instant::now());
        if log.due().is_some() {
            self.0.folded.notify_one();
        }
        admits
    }

    /// Logs how many lines were not logged, until the future is dropped.
    pub(crate) async fn log_folded(&self) {
        loop {
            let due = locked(&self.0.log).due();
            match due {
                Some(due) => sleep_until(due).await,
                None => self.0.folded.notified().await,
            }
            let summary = locked(&self.0.log).summary(Instant::now());
            if let Some(Folded { keys, exhausted, server }) = summary {
                tracing::warn!(
                    keys,
                    exhausted,
                    server,
                    "Failed syncs of the last minute that were not logged one by one"
                );
            }
        }
    }
}

/// A controller at the gate, with its waiting keys.
pub(crate) struct Member<K> {
    gate: ServerGate,
    number: usize,
    parked: Mutex<Parked<K>>,
    added: Notify,
    removals: Removals<K>,
    metrics: Option<Arc<dyn ControllerMetrics>>,
}

/// What the gate decides about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It is synced.
    Sync,
    /// It is synced although the gate is closed. Its end must be reported.
    Probe,
    /// It waits.
    Waits,
}

impl<K: Clone + Eq + Hash + Display> Member<K> {
    pub(crate) fn new(gate: ServerGate, removals: Removals<K>, metrics: Option<Arc<dyn ControllerMetrics>>) -> Self {
        let number = gate.0.members.fetch_add(1, Relaxed);
        Member { gate, number, parked: Mutex::default(), added: Notify::new(), removals, metrics }
    }

    pub(crate) fn gate(&self) -> &ServerGate {
        &self.gate
    }

    /// Returns the number of waiting keys.
    pub(crate) fn waiting(&self) -> usize {
        locked(&self.parked).len()
    }

    /// Decides about a key that the queue returned. `urgent`: it removes something that others still use.
    pub(crate) fn admit(&self, key: &K, urgent: bool) -> Admission {
        if locked(&self.parked).take_probe(key) {
            Admission::Probe
        } else if self.gate.is_closed() {
            self.park(key.clone(), urgent, false);
            Admission::Waits
        } else {
            Admission::Sync
        }
    }

    fn park(&self, key: K, urgent: bool, tried: bool) {
        locked(&self.parked).add(key, urgent, tried);
        self.measure();
        self.added.notify_one();
    }

    fn measure(&self) {
        if let Some(metrics) = &self.metrics {
            metrics.waiting_for_server(self.waiting());
        }
    }

    /// Records the end of a probe without a successful write.
    pub(crate) fn probed(&self, cause: Option<FailureCause>) {
        let waiting = self.waiting() > 0;
        let opened = locked(&self.gate.0.state).probed(cause, waiting, Instant::now());
        self.gate.opened(opened);
        self.gate.changed(0);
    }

    /// Records a sync that the server failed; returns whether the key waits at the gate. `suspect`: it failed before, and
    /// other keys were written since.
    pub(crate) fn failed(
        &self,
        key: &K,
        cause: FailureCause,
        suspect: bool,
        urgent: bool,
        error: &dyn std::error::Error,
    ) -> bool {
        let mut hasher = DefaultHasher::new();
        (self.number, key).hash(&mut hasher);
        let closes = locked(&self.gate.0.state).failed(hasher.finish(), cause, suspect, Instant::now());
        if closes {
            self.gate.changed(0);
            if self.gate.logs(Kind::Gate) {
                tracing::warn!(%key, err = %error.display_full(), "The API server fails, all keys wait until it accepts a write");
            }
        }
        let waits = self.gate.is_closed();
        if waits {
            self.park(key.clone(), urgent, true);
        }
        waits
    }

    /// Syncs waiting keys: from time to time one, and all of them after an opening. Never ends.
    pub(crate) async fn run(&self, queue: &Queue<K>, back_offs: &Mutex<BackOffs<K>>)
    where
        K: Send + 'static,
    {
        let mut openings = self.gate.0.openings.subscribe();
        let mut seen = *openings.borrow_and_update();
        loop {
            let count = *openings.borrow_and_update();
            if count != seen {
                seen = count;
                self.release(queue, back_offs);
            }
            let (waits, fresh) = {
                let parked = locked(&self.parked);
                (parked.len() > 0, parked.has_fresh())
            };
            let turn =
                if waits { locked(&self.gate.0.state).turn(self.number, fresh, Instant::now()) } else { Turn::Wait };
            let due = match turn {
                Turn::Open => {
                    self.release(queue, back_offs);
                    continue;
                }
                Turn::Probe => {
                    self.probe(queue);
                    None
                }
                Turn::At(due) => Some(due),
                Turn::Wait => None,
            };
            let due = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                changed = openings.changed() => changed.expect("the gate of this member has the sender"),
                () = self.added.notified() => {}
                () = due => {}
            }
        }
    }

    fn probe(&self, queue: &Queue<K>)
    where
        K: Send + 'static,
    {
        let probe = locked(&self.parked).start_probe();
        match probe {
            Some((key, urgent)) => {
                self.keep(&key, urgent);
                queue.add(key);
            }
            None => self.probed(None),
        }
        self.measure();
    }

    /// Queues all waiting keys, the urgent ones first, and those in the back-off of the server's failures.
    fn release(&self, queue: &Queue<K>, back_offs: &Mutex<BackOffs<K>>)
    where
        K: Send + 'static,
    {
        let parked = locked(&self.parked).take_all();
        for (key, urgent) in parked {
            self.keep(&key, urgent);
            queue.add(key);
        }
        let failed = locked(back_offs).release(Instant::now());
        for key in failed {
            queue.add(key);
        }
        self.measure();
    }

    fn keep(&self, key: &K, urgent: bool) {
        if urgent {
            self.removals.add(key.clone());
        }
    }
}
