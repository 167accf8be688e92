//! State shared by the exchanges of a run: the log, the faults, and the lasting effects of faults.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use kube_dev_apiserver::Server;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep_until};

use crate::chaos::{self, Chaos};
use crate::fault::{Disturbance, Fault, Plan};
use crate::log::{EntryKind, Log};
use crate::oracle::{Rules, Write};
use crate::point::{Point, Verb};
use crate::request::Target;
use crate::versions::Versions;

/// Faults of a run: drawn from the seed, or given by a plan.
#[derive(Clone, Debug)]
pub enum Faults {
    /// Faults at points are drawn from the seed until the last step and disturbance have ended.
    Drawn {
        /// Probabilities of faults at points.
        chaos: Chaos,
        /// Disturbances with their times since the start of the run, in order of time.
        disturbances: Vec<(Duration, Disturbance)>,
    },
    /// Exactly the faults of this plan.
    Planned(Plan),
}

impl Faults {
    /// Returns faults at points that are drawn from the seed, without disturbances.
    pub fn drawn(chaos: Chaos) -> Faults {
        Faults::Drawn { chaos, disturbances: Vec::new() }
    }

    /// Returns the disturbances with their times since the start of the run, in order of time.
    pub fn disturbances(&self) -> &[(Duration, Disturbance)] {
        match self {
            Faults::Drawn { disturbances, .. } | Faults::Planned(Plan { disturbances, .. }) => disturbances,
        }
    }
}

/// Request to kill and restart a process.
#[derive(Debug)]
pub(crate) struct Kill {
    pub(crate) process: Arc<str>,
    pub(crate) pause: Duration,
    /// Percentage of the current revision to which the API server of the restarted process falls back.
    pub(crate) past: Option<u8>,
}

pub(crate) struct RunState {
    pub(crate) seed: u64,
    pub(crate) server: Server,
    pub(crate) rules: Arc<dyn Rules>,
    began: Instant,
    kills: mpsc::UnboundedSender<Kill>,
    faults: Faults,
    changed: Notify,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    log: Log,
    /// Faults and disturbances that were injected.
    fired: Plan,
    /// Whether the last step and disturbance have ended: [`Faults::Drawn`] draws no faults any longer.
    has_ended: bool,
    counts: BTreeMap<(Arc<str>, Verb, String), u32>,
    frozen: BTreeMap<Arc<str>, Instant>,
    /// Process and resource whose next list or watch is answered with 410, after the hold.
    expired: BTreeMap<(Arc<str>, String), Option<Hold>>,
    /// Number of changes of each resource.
    changes: BTreeMap<String, u64>,
    /// Number of successful writes that must stop ([`Target::must_stop`]).
    writes: u64,
    /// Process that holds the lease on the server.
    holder: Option<Arc<str>>,
    /// Until this time, two processes may hold the lease, because the store was restored.
    lease_restored: Option<Instant>,
    violations: Vec<String>,
    /// Versions of the resources of [`Rules::remembered`], in the same order.
    past: Vec<Versions>,
}

/// Condition on which a delayed relist continues.
#[derive(Clone, Copy, Debug)]
struct Hold {
    until: Instant,
    /// Number of changes of the resource at which the relist continues.
    changes: u64,
}

/// Default of `--leader-elect-lease-duration`.
const LEASE: Duration = Duration::from_secs(15);

/// Maximum time for which a relist after a skipped event waits for another change.
const HELD: Duration = Duration::from_secs(5);

impl RunState {
    pub(crate) fn new(
        seed: u64,
        server: Server,
        rules: Arc<dyn Rules>,
        faults: Faults,
    ) -> (Arc<RunState>, mpsc::UnboundedReceiver<Kill>) {
        let (kills, killed) = mpsc::unbounded_channel();
        let state = State { past: vec![Versions::default(); rules.remembered().len()], ..State::default() };
        let (began, changed) = (Instant::now(), Notify::new());
        let run_state = RunState { seed, server, rules, began, kills, faults, changed, state: Mutex::new(state) };
        (Arc::new(run_state), killed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the virtual time since the start of the run.
    pub(crate) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    pub(crate) fn note(&self, what: EntryKind) {
        let now = self.now();
        self.state().log.push(now, what);
    }

    pub(crate) fn violated(&self, what: String) {
        let now = self.now();
        let mut state = self.state();
        state.log.push(now, EntryKind::Violation(what.clone()));
        state.violations.push(what);
    }

    /// Returns the name of the next exchange of a process with this verb and resource.
    pub(crate) fn point(&self, process: &Arc<str>, verb: Verb, resource: &str) -> Point {
        let mut state = self.state();
        let nth = state.counts.entry((Arc::clone(process), verb, resource.to_owned())).or_default();
        *nth += 1;
        Point { process: process.to_string(), verb, resource: resource.to_owned(), nth: *nth }
    }

    /// Returns the fault at a point, if there is one, and logs it.
    pub(crate) fn decide(&self, point: &Point) -> Option<Fault> {
        let now = self.now();
        let mut state = self.state();
        let fault = match &self.faults {
            Faults::Drawn { chaos, .. } if !state.has_ended => chaos.draw(self.seed, point),
            Faults::Drawn { .. } => None,
            Faults::Planned(plan) => plan.faults.get(point).copied(),
        }?;
        state.fired.faults.insert(point.clone(), fault);
        state.log.push(now, EntryKind::Fault { point: point.clone(), fault });
        Some(fault)
    }

    pub(crate) fn latency(&self, point: &Point, direction: u8) -> Duration {
        chaos::latency(self.seed, point, direction)
    }

    /// Stops drawing faults.
    pub(crate) fn end_faults(&self) {
        self.state().has_ended = true;
    }

    pub(crate) fn disturbed(&self, at: Duration, disturbance: Disturbance) {
        let now = self.now();
        let mut state = self.state();
        state.log.push(now, EntryKind::Disturbance(disturbance.clone()));
        state.fired.disturbances.push((at, disturbance));
    }

    /// Requests that a process is killed, and restarted after `pause`.
    pub(crate) fn kill(&self, process: &Arc<str>, pause: Duration, past: Option<u8>) {
        // Fails only when the run is over.
        let _ = self.kills.send(Kill { process: Arc::clone(process), pause, past });
    }

    pub(crate) fn freeze(&self, process: &str, until: Instant) {
        self.state().frozen.insert(process.into(), until);
    }

    pub(crate) async fn thawed(&self, process: &Arc<str>) {
        loop {
            let until = self.state().frozen.get(process).copied();
            match until {
                Some(until) if until > Instant::now() => sleep_until(until).await,
                _ => return,
            }
        }
    }

    /// Makes the next list or watch of a resource fail with 410. With `hold`, the response waits for another change of
    /// the resource, at most [`HELD`].
    pub(crate) fn expire(&self, process: &Arc<str>, resource: &str, hold: bool) {
        let mut state = self.state();
        let changes = state.changes.get(resource).copied().unwrap_or_default() + 1;
        let hold = hold.then(|| Hold { until: Instant::now() + HELD, changes });
        state.expired.insert((Arc::clone(process), resource.to_owned()), hold);
    }

    /// Returns whether a list or watch must be answered with 410, after waiting for its hold.
    pub(crate) async fn is_expired(&self, process: &Arc<str>, resource: &str) -> bool {
        let Some(hold) = self.state().expired.remove(&(Arc::clone(process), resource.to_owned())) else { return false };
        if let Some(hold) = hold {
            loop {
                let changed = self.changed.notified();
                if self.state().changes.get(resource).is_some_and(|changes| *changes >= hold.changes) {
                    break;
                }
                if tokio::time::timeout_at(hold.until, changed).await.is_err() {
                    break;
                }
            }
        }
        true
    }

    /// Records the current versions of the objects of a resource, if it is one of [`Rules::remembered`].
    pub(crate) fn remember(&self, resource: &str) {
        let mut state = self.state();
        for ((group, plural), past) in self.rules.remembered().iter().zip(&mut state.past) {
            if *plural == resource {
                past.extend(self.server.encoded_objects(group, plural));
            }
        }
    }

    /// Checks a write before the server executes it. Returns the violation to report if the write succeeds.
    pub(crate) fn check(&self, point: &Point, target: &Target, body: &Bytes) -> Option<String> {
        let state = self.state();
        let write = Write { process: &point.process, target, body, past: &state.past };
        self.rules.write(&write, &self.server).map(|wrong| format!("{point}: {wrong}"))
    }

    /// Records a write that the server has executed: of `process`, or of the user if it is `None`.
    pub(crate) fn written(&self, process: Option<&Arc<str>>, target: &Target, body: &[u8]) {
        let mut state = self.state();
        *state.changes.entry(target.resource.clone()).or_default() += 1;
        if let Some(process) = process {
            if target.must_stop() {
                state.writes += 1;
            }
            if target.resource == "leases" {
                let lease: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
                let held = lease["spec"]["holderIdentity"].as_str().is_some_and(|holder| !holder.is_empty());
                state.holder = held.then(|| Arc::clone(process));
            }
        }
        drop(state);
        self.remember(&target.resource);
        self.changed.notify_waiters();
    }

    /// Returns the process that holds the lease on the server; `None` if none does, or if more than one may hold it.
    pub(crate) fn holder(&self) -> Option<Arc<str>> {
        let state = self.state();
        if state.lease_restored.is_some_and(|until| Instant::now() < until) {
            return None;
        }
        state.holder.clone()
    }

    /// Forgets the holder of the lease. A restored store contains an older Lease or none, so another process may
    /// acquire it before the holder notices.
    pub(crate) fn forget_holder(&self) {
        let mut state = self.state();
        state.holder = None;
        state.lease_restored = Some(Instant::now() + LEASE);
    }

    /// Returns the number of successful writes so far that must stop ([`Target::must_stop`]).
    pub(crate) fn writes(&self) -> u64 {
        self.state().writes
    }

    /// Takes the log, the injected faults and the violations at the end of the run.
    pub(crate) fn finish(&self) -> (Log, Plan, Vec<String>) {
        let mut state = self.state();
        (std::mem::take(&mut state.log), std::mem::take(&mut state.fired), std::mem::take(&mut state.violations))
    }
}
