//! The gate that lets keys wait while the API server fails.

mod parked;
mod state;
#[cfg(test)]
mod tests;

use std::fmt::{self, Display};
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::{Arc, Mutex, Weak};

use display_full_error::DisplayFullErrorExt as _;
use kube_workqueue::Queue;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use self::parked::{Parked, Rank};
use self::state::{Opened, State};
use crate::back_off::BackOffs;
use crate::failure_log::{FailureLog, Folded, Kind};
use crate::removals::Removals;
use crate::{ControllerMetrics, FailureCause, locked};

/// Gate that all controllers of a process share, and that closes while the API server fails.
///
/// It closes when the server fails syncs of three keys without a successful write in between, or cannot be reached (see
/// [`FailureCause`]). The number of keys doubles, up to 48, each time that the gate closes within 60 s after it opened.
/// Keys then wait instead of failing, and use up no retries. After 0.1 s, and then every 0.5 to 5 s, one of them is
/// synced. After the first successful write, all of them are synced, those first that remove something which others still
/// use ([`Urgency::High`](crate::Urgency::High)). Keys that fail although other writes succeed, as behind a webhook of one
/// namespace that is down, do not close it.
///
/// It also limits the log lines about failed syncs of all these controllers, to 41 per minute.
#[derive(Clone, Default)]
pub struct ServerGate(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// Also locked while a key is parked, so that each opening releases all keys that were parked before.
    state: Mutex<State>,
    /// The controllers, by number.
    members: Mutex<Vec<Weak<dyn Waiting>>>,
    /// Notified when the next probe may be due earlier.
    changed: Notify,
    log: Mutex<FailureLog>,
    folded: Notify,
}

/// A controller at the gate, without the type of its keys.
trait Waiting: Send + Sync {
    /// Returns whether a key waits that was not tried since the gate closed; `None` if none waits.
    fn is_fresh(&self) -> Option<bool>;

    /// Returns the rank of the key to try next; `None` if none waits. `again`: one that was tried, if there is one.
    fn rank(&self, again: bool) -> Option<Rank>;

    /// Queues that key, to probe the server with; returns whether one waited.
    fn probe(&self, again: bool) -> bool;

    /// Queues all waiting keys, the urgent ones first, and those in the back-off of the server's failures.
    fn release(&self);
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
        self.0.changed.notify_waiters();
    }

    fn members(&self) -> Vec<Option<Arc<dyn Waiting>>> {
        locked(&self.0.members).iter().map(Weak::upgrade).collect()
    }

    /// Tries one of the waiting keys from time to time while the gate is closed, until the future is dropped. Each
    /// controller runs it, and the first to find a probe due starts it.
    pub(crate) async fn run(&self) {
        loop {
            let changed = self.0.changed.notified();
            let due = self.probe(Instant::now());
            let due = async {
                match due {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = changed => {}
                () = due => {}
            }
        }
    }

    /// Starts a probe if one is due, otherwise returns when the next one is; `None` if that depends on a change.
    ///
    /// First are the keys that were not tried, of these those of another controller than that of the last probe: keys of
    /// another kind, or of another namespace, may succeed although those that were tried fail. Those have nothing to write if
    /// no probe has failed for some time; then a key that was tried is first.
    fn probe(&self, now: Instant) -> Option<Instant> {
        let members = self.members();
        let mut state = locked(&self.0.state);
        // Runs with each key that begins to wait: all of them are compared only for a probe.
        let fresh = members.iter().flatten().filter_map(|it| it.is_fresh()).max()?;
        let due = state.next_probe(fresh)?;
        if now < due {
            return Some(due);
        }
        let again = state.tries_again(now);
        let waiting = members.iter().enumerate().filter_map(|(number, it)| Some((number, it.as_ref()?.rank(again)?)));
        let (number, _) = waiting.min_by_key(|(number, it)| (it.tried != again, state.was_prober(*number), *it))?;
        // An opening of the gate that has not ended yet may have released the key since: then no worker ends the probe.
        if !members[number].as_ref()?.probe(again) {
            return Some(now);
        }
        // Still under the lock, without which the worker cannot end the probe.
        state.start_probe(number, now);
        state.next_probe(fresh)
    }

    pub(crate) fn last_success(&self) -> Option<Instant> {
        locked(&self.0.state).last_success()
    }

    pub(crate) fn succeeded(&self) {
        let opened = locked(&self.0.state).succeeded(Instant::now());
        self.opened(opened);
    }

    fn opened(&self, opened: Option<Opened>) {
        let Some(Opened { after }) = opened else { return };
        self.members().into_iter().flatten().for_each(|member| member.release());
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
    pub(crate) queue: Queue<K>,
    pub(crate) back_offs: Mutex<BackOffs<K>>,
    pub(crate) removals: Removals<K>,
    pub(crate) metrics: Option<Arc<dyn ControllerMetrics>>,
}

/// What the gate decides about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Sync,
    /// It is synced although the gate is closed. Its end must be reported.
    Probe,
    Waits,
}

impl<K: Clone + Eq + Hash + Display + Send + 'static> Member<K> {
    pub(crate) fn new(
        gate: ServerGate,
        queue: Queue<K>,
        removals: Removals<K>,
        metrics: Option<Arc<dyn ControllerMetrics>>,
    ) -> Arc<Self> {
        let shared = Arc::clone(&gate.0);
        let mut members = locked(&shared.members);
        let (number, parked, back_offs) = (members.len(), Mutex::default(), Mutex::default());
        let member = Arc::new(Member { gate, number, parked, queue, back_offs, removals, metrics });
        let weak = Arc::downgrade(&member);
        members.push(weak);
        member
    }

    pub(crate) fn gate(&self) -> &ServerGate {
        &self.gate
    }

    /// Returns the number of keys that wait here, are queued, delayed, or being synced.
    pub(crate) fn pending(&self) -> usize {
        // Under the lock under which keys go from here to the queue: otherwise they could be counted at neither place.
        let parked = locked(&self.parked);
        parked.len() + self.queue.pending()
    }

    /// Decides about a key that the queue returned. `urgent`: it removes something that others still use.
    pub(crate) fn admit(&self, key: &K, urgent: bool) -> Admission {
        if locked(&self.parked).take_probe(key) {
            return Admission::Probe;
        }
        let state = locked(&self.gate.0.state);
        if !state.is_closed() {
            return Admission::Sync;
        }
        self.park(key.clone(), urgent, false);
        Admission::Waits
    }

    fn park(&self, key: K, urgent: bool, tried: bool) {
        self.change_parked(|parked| parked.add(key, urgent, tried));
        self.gate.0.changed.notify_waiters();
    }

    fn change_parked<R>(&self, change: impl FnOnce(&mut Parked<K>) -> R) -> R {
        let mut parked = locked(&self.parked);
        let result = change(&mut parked);
        if let Some(metrics) = &self.metrics {
            // Under the lock: otherwise the number before the change of another thread could be the last one that is set.
            metrics.waiting_for_server(parked.len());
        }
        result
    }

    /// Records the end of a probe without a successful write.
    pub(crate) fn probed(&self, cause: Option<FailureCause>) {
        let members = self.gate.members();
        let mut state = locked(&self.gate.0.state);
        let waiting = members.iter().flatten().any(|member| member.is_fresh().is_some());
        let opened = state.probed(cause, waiting, Instant::now());
        drop(state);
        self.gate.opened(opened);
        self.gate.0.changed.notify_waiters();
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
        let mut state = locked(&self.gate.0.state);
        let closes = state.failed(hasher.finish(), cause, suspect, Instant::now());
        let waits = state.is_closed();
        if waits {
            self.park(key.clone(), urgent, true);
        }
        drop(state);
        if closes && self.gate.logs(Kind::Gate) {
            tracing::warn!(%key, err = %error.display_full(), "The API server fails, all keys wait until it accepts a write");
        }
        waits
    }

    fn queue(&self, key: K, urgent: bool) {
        if urgent {
            self.removals.add(key.clone());
        }
        self.queue.add(key);
    }
}

impl<K: Clone + Eq + Hash + Display + Send + 'static> Waiting for Member<K> {
    fn is_fresh(&self) -> Option<bool> {
        locked(&self.parked).is_fresh()
    }

    fn rank(&self, again: bool) -> Option<Rank> {
        locked(&self.parked).rank(again)
    }

    fn probe(&self, again: bool) -> bool {
        let probe = |parked: &mut Parked<K>| parked.start_probe(again).map(|(key, urgent)| self.queue(key, urgent));
        self.change_parked(probe).is_some()
    }

    fn release(&self) {
        self.change_parked(|parked| parked.take_all().into_iter().for_each(|(key, urgent)| self.queue(key, urgent)));
        let failed = locked(&self.back_offs).release(Instant::now());
        for key in failed {
            self.queue.add(key);
        }
    }
}
