//! What the exchanges of a run share: the log, the faults and the state that faults leave behind.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use kube_dev_apiserver::Server;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep_until};

use crate::chaos::{self, Chaos};
use crate::fault::{Disturbance, Fault, Plan};
use crate::log::{Happening, Log};
use crate::oracle::{Rules, Write};
use crate::point::{Point, Verb};
use crate::request::Target;
use crate::versions::Versions;

/// Where the faults of a run come from.
#[derive(Clone, Debug)]
pub enum Faults {
    /// Those at points are drawn from the seed until the last step of the user.
    Drawn {
        /// How often there is a fault.
        chaos: Chaos,
        /// Those at times since the start, in order.
        disturbances: Vec<(Duration, Disturbance)>,
    },
    /// Exactly these.
    Planned(Plan),
}

impl Faults {
    /// Faults at points, drawn from the seed.
    pub fn drawn(chaos: Chaos) -> Faults {
        Faults::Drawn { chaos, disturbances: Vec::new() }
    }

    /// The faults at times since the start, in order.
    pub fn disturbances(&self) -> &[(Duration, Disturbance)] {
        match self {
            Faults::Drawn { disturbances, .. } | Faults::Planned(Plan { disturbances, .. }) => disturbances,
        }
    }
}

/// A process that is to die, and when it starts again.
#[derive(Debug)]
pub(crate) struct Kill {
    pub(crate) process: Arc<str>,
    pub(crate) pause: Duration,
    /// Share of the revisions, in percent, that the API server has which the new process reads from.
    pub(crate) past: Option<u8>,
}

pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) server: Server,
    pub(crate) rules: Arc<dyn Rules>,
    began: Instant,
    kills: mpsc::UnboundedSender<Kill>,
    changed: Notify,
    state: Mutex<State>,
}

struct State {
    log: Log,
    faults: Faults,
    /// Faults and disturbances that occurred.
    fired: Plan,
    /// Faults are drawn until then.
    drawing: bool,
    counts: BTreeMap<(Arc<str>, Verb, String), u32>,
    frozen: BTreeMap<Arc<str>, Instant>,
    /// Watches whose next request is answered with 410, by process and resource.
    expired: BTreeMap<(Arc<str>, String), Option<Hold>>,
    /// Number of changes of each resource.
    changes: BTreeMap<String, u64>,
    /// Successful writes that have to stop some time.
    writes: u64,
    /// The process that holds the lease.
    holder: Option<Arc<str>>,
    /// Until then, two processes may hold it: its store was restored.
    lease_restored: Option<Instant>,
    violations: Vec<String>,
    /// Versions of the objects that the rules want remembered.
    past: Vec<Versions>,
}

/// A relist that is held back.
#[derive(Clone, Copy, Debug)]
struct Hold {
    until: Instant,
    /// Number of changes after which it may go on.
    changes: u64,
}

/// How long a lease is valid (`--leader-elect-lease-duration`).
const LEASE: Duration = Duration::from_secs(15);

/// How long a relist after a skipped event waits for another change.
const HELD: Duration = Duration::from_secs(5);

impl World {
    pub(crate) fn new(
        seed: u64,
        server: Server,
        rules: Arc<dyn Rules>,
        faults: Faults,
    ) -> (Arc<World>, mpsc::UnboundedReceiver<Kill>) {
        let (kills, killed) = mpsc::unbounded_channel();
        let state = State {
            log: Log::default(),
            faults,
            fired: Plan::default(),
            drawing: true,
            counts: BTreeMap::new(),
            frozen: BTreeMap::new(),
            expired: BTreeMap::new(),
            changes: BTreeMap::new(),
            writes: 0,
            holder: None,
            lease_restored: None,
            violations: Vec::new(),
            past: vec![Versions::default(); rules.remembered().len()],
        };
        let (began, changed) = (Instant::now(), Notify::new());
        let world = World { seed, server, rules, began, kills, changed, state: Mutex::new(state) };
        (Arc::new(world), killed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Virtual time since the start of the run.
    pub(crate) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    pub(crate) fn note(&self, what: Happening) {
        let now = self.now();
        self.state().log.push(now, what);
    }

    pub(crate) fn violated(&self, what: String) {
        let now = self.now();
        let mut state = self.state();
        state.log.push(now, Happening::Violation(what.clone()));
        state.violations.push(what);
    }

    /// Names an exchange.
    pub(crate) fn point(&self, process: &Arc<str>, verb: Verb, resource: &str) -> Point {
        let mut state = self.state();
        let nth = state.counts.entry((Arc::clone(process), verb, resource.to_owned())).or_default();
        *nth += 1;
        Point { process: process.to_string(), verb, resource: resource.to_owned(), nth: *nth }
    }

    /// What goes wrong at a point, which is noted.
    pub(crate) fn decide(&self, point: &Point) -> Option<Fault> {
        let now = self.now();
        let mut state = self.state();
        let fault = match &state.faults {
            Faults::Drawn { chaos, .. } if state.drawing => chaos.draw(self.seed, point),
            Faults::Drawn { .. } => None,
            Faults::Planned(plan) => plan.faults.get(point).copied(),
        }?;
        state.fired.faults.insert(point.clone(), fault);
        state.log.push(now, Happening::Fault { point: point.clone(), fault });
        Some(fault)
    }

    pub(crate) fn latency(&self, point: &Point, direction: u8) -> Duration {
        chaos::latency(self.seed, point, direction)
    }

    /// Ends the drawing of faults.
    pub(crate) fn end_faults(&self) {
        self.state().drawing = false;
    }

    pub(crate) fn disturbed(&self, at: Duration, disturbance: Disturbance) {
        let now = self.now();
        let mut state = self.state();
        state.log.push(now, Happening::Disturbance(disturbance.clone()));
        state.fired.disturbances.push((at, disturbance));
    }

    /// Has a process killed.
    pub(crate) fn kill(&self, process: &Arc<str>, pause: Duration, past: Option<u8>) {
        // The receiver lives as long as the run.
        let _ = self.kills.send(Kill { process: Arc::clone(process), pause, past });
    }

    /// Holds back all exchanges of a process.
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

    /// Has the next watch of a resource answered with 410; with `hold`, the relist waits for another change.
    pub(crate) fn expire(&self, process: &Arc<str>, resource: &str, hold: bool) {
        let mut state = self.state();
        let changes = state.changes.get(resource).copied().unwrap_or_default() + 1;
        let hold = hold.then(|| Hold { until: Instant::now() + HELD, changes });
        state.expired.insert((Arc::clone(process), resource.to_owned()), hold);
    }

    /// Whether a watch is to be answered with 410.
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

    /// Remembers the present versions of a resource, if the rules want them remembered.
    pub(crate) fn remember(&self, resource: &str) {
        let mut state = self.state();
        for ((group, plural), past) in self.rules.remembered().iter().zip(&mut state.past) {
            if *plural == resource {
                past.extend(self.server.encoded_objects(group, plural));
            }
        }
    }

    /// Checks a write that the server is about to carry out. Returns what is wrong with it, if it succeeds.
    pub(crate) fn check(&self, point: &Point, target: &Target, body: &Bytes) -> Option<String> {
        let state = self.state();
        let write = Write { process: &point.process, target, body, past: &state.past };
        self.rules.write(&write, &self.server).map(|wrong| format!("{point}: {wrong}"))
    }

    /// Counts a write that the server carried out.
    pub(crate) fn written(&self, process: Option<&Arc<str>>, target: &Target, body: &[u8]) {
        let mut state = self.state();
        *state.changes.entry(target.resource.clone()).or_default() += 1;
        if let Some(process) = process {
            if self.rules.must_stop(target) {
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

    /// The process that holds the lease, as the server has it; `None` if none does, or more than one may.
    pub(crate) fn holder(&self) -> Option<Arc<str>> {
        let state = self.state();
        if state.lease_restored.is_some_and(|until| Instant::now() < until) {
            return None;
        }
        state.holder.clone()
    }

    /// After a restore of the store, its Lease is an older one, or there is none: until the next renewals, another process may
    /// take it.
    pub(crate) fn forget_holder(&self) {
        let mut state = self.state();
        state.holder = None;
        state.lease_restored = Some(Instant::now() + LEASE);
    }

    /// Number of writes so far that have to stop some time.
    pub(crate) fn writes(&self) -> u64 {
        self.state().writes
    }

    /// Ends the run.
    pub(crate) fn finish(&self) -> (Log, Plan, Vec<String>) {
        let mut state = self.state();
        (std::mem::take(&mut state.log), std::mem::take(&mut state.fired), std::mem::take(&mut state.violations))
    }
}
