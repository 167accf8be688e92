//! Execution of one run.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, header::CONTENT_TYPE};
use http_body_util::{BodyExt as _, Full};
use jiff::{SignedDuration, Timestamp};
use kube_ambient::{Clock, simulate};
use kube_dev_apiserver::{Config, Denial, Fault, History, On, Operation as Write, Server, Snapshot};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tower::ServiceExt as _;

use crate::fault::{Disturbance, POLICY_LABEL, Plan, Policy};
use crate::log::{EntryKind, Log};
use crate::oracle::Rules;
use crate::process::{Process, Processes};
use crate::request::Target;
use crate::run_state::{Faults, Kill, RunState};
use crate::script::{Operation, Step};

/// Description of one simulated run: processes, steps, faults and rules. Running it twice gives equal outcomes.
#[derive(Clone)]
pub struct Simulation {
    /// Seed of all random numbers, latencies and drawn faults.
    pub seed: u64,
    /// Programs under simulation.
    pub processes: Vec<Process>,
    /// Rules of the application, which the run is checked against.
    pub rules: Arc<dyn Rules>,
    /// Writes that are executed before the processes start.
    pub setup: Vec<Operation>,
    /// Steps of the user. The time of the first one counts from 500 ms after the start of the run.
    pub steps: Vec<Step>,
    /// Faults of the run: drawn from the seed, or planned.
    pub faults: Faults,
    /// Time limits for the end of the run.
    pub limits: Limits,
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation").field("seed", &self.seed).field("steps", &self.steps.len()).finish_non_exhaustive()
    }
}

/// Time limits of a run, in virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum time from the end of the last step and disturbance until the state meets the rules and queues are empty.
    pub settle: Duration,
    /// Time without writes after which writes count as ended.
    pub quiet: Duration,
}

impl Limits {
    pub(crate) const DEFAULT: Limits = Limits { settle: Duration::from_secs(1_100), quiet: Duration::from_secs(40) };
}

impl Default for Limits {
    /// Returns the limits of every scenario that states none: 1,100 s to settle, 40 s without writes.
    fn default() -> Self {
        Limits::DEFAULT
    }
}

/// Outcome of [`Simulation::run`]: violations, log and injected faults.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Violated rules, in order of time; empty if the run passed.
    pub violations: Vec<String>,
    /// Log of everything that happened in the run.
    pub log: Log,
    /// Faults that were injected. As [`Faults::Planned`], they reproduce the run.
    pub plan: Plan,
    /// Virtual time from the end of the last step and disturbance until the state met the rules; `None` if the run did
    /// not settle.
    pub settled_after: Option<Duration>,
}

/// Wall-clock time at the start of every run.
const START: &str = "2026-01-01T00:00:00Z";
/// Time between the start of the processes and the start of the script of the user.
const LEAD: Duration = Duration::from_millis(500);
/// Increase of the resource version by a restore.
const BUMP: u64 = 1_000_000;
/// Pause of the user after a restore: until the controllers have relisted, they may miss changes.
const PAUSE: Duration = Duration::from_secs(15);

impl Simulation {
    /// Runs the simulation on the current thread, in virtual time, and checks it against the rules.
    ///
    /// # Panics
    ///
    /// If called within a tokio runtime, or if a runtime cannot be built.
    pub fn run(&self) -> Outcome {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        #[expect(clippy::expect_used, reason = "a runtime without I/O needs no system resources")]
        let runtime = runtime.expect("cannot build the tokio runtime");
        let mut outcome = runtime.block_on(self.drive());
        let log = &outcome.log;
        let no_faults = Plan::default();
        let fault_free = || match &self.faults {
            Faults::Planned(plan) if *plan == no_faults => log.clone(),
            _ => Simulation { faults: Faults::Planned(no_faults.clone()), ..self.clone() }.run().log,
        };
        let found = self.rules.history(log, &fault_free);
        outcome.violations.extend(found);
        outcome
    }

    async fn drive(&self) -> Outcome {
        let began = Instant::now();
        let offset = Arc::new(AtomicI64::new(0));
        let start: Timestamp = START.parse().unwrap_or_default();
        let wall = {
            let offset = Arc::clone(&offset);
            move || {
                let past = SignedDuration::try_from(began.elapsed()).unwrap_or_default();
                start + past + SignedDuration::from_secs(offset.load(Ordering::Relaxed))
            }
        };
        let clock = Clock { now: Box::new(wall), since_boot: Box::new(move || began.elapsed()) };
        let _simulated = simulate(self.seed, clock);

        let config = Config {
            seed: Some(self.seed),
            clock: kube_dev_apiserver::Clock::new(kube_ambient::now),
            request_log: 0,
            garbage_collection: true,
            ..Config::default()
        };
        #[expect(clippy::expect_used, reason = "only the initial objects can fail, which are those of the default")]
        let server = Server::in_process(config).expect("cannot start the API server");
        let (run_state, kills) = RunState::new(self.seed, server, Arc::clone(&self.rules), self.faults.clone());
        let processes = Processes::new(&run_state, &self.processes);
        let mut run = Run { state: Arc::clone(&run_state), processes, kills, offset, snapshots: Vec::new() };
        for operation in &self.setup {
            run.perform(operation).await;
        }
        run.until(Instant::now() + LEAD).await;
        run.play(&self.steps, self.faults.disturbances()).await;
        run_state.end_faults();
        let settled_after = run.settle(self.limits).await;
        drop(run);
        let (log, plan, violations) = run_state.finish();
        Outcome { violations, log, plan, settled_after }
    }
}

pub(crate) struct Run {
    pub(crate) state: Arc<RunState>,
    pub(crate) processes: Processes,
    kills: mpsc::UnboundedReceiver<Kill>,
    /// Offset of the wall clock, in seconds.
    offset: Arc<AtomicI64>,
    /// Time and store before each step; empty if no disturbance restores the store.
    snapshots: Vec<(Duration, Snapshot)>,
}

/// End times of disturbances, each with what happens then.
type Ends = Vec<(Instant, Box<dyn FnOnce(&Server)>)>;

impl Run {
    /// Advances time to `until`. Meanwhile starts, kills and restarts processes.
    pub(crate) async fn until(&mut self, until: Instant) {
        loop {
            let change = self.processes.next_change();
            tokio::select! {
                biased;
                Some(Kill { process, pause, past }) = self.kills.recv() => {
                    self.processes.kill(&process, pause);
                    if let Some(percent) = past {
                        self.processes.fall_back(&process, percent, pause);
                    }
                }
                () = self.processes.ended() => {}
                () = sleep_until(change.unwrap_or(until)), if change.is_some_and(|change| change <= until) => {
                    self.processes.change();
                }
                () = sleep_until(until) => return,
            }
        }
    }

    /// Executes all steps and disturbances, until the last of them has ended.
    async fn play(&mut self, steps: &[Step], disturbances: &[(Duration, Disturbance)]) {
        let mut due = Instant::now();
        let began = due - self.state.now();
        let keeps_snapshots =
            disturbances.iter().any(|(_, what)| matches!(what, Disturbance::Restore(_) | Disturbance::Rewind(_)));
        let (mut disturbances, mut ends) = (disturbances.iter().peekable(), Ends::new());
        for step in steps {
            due += step.after;
            while let Some((at, disturbance)) = disturbances.next_if(|(at, _)| began + *at <= due) {
                self.until(began + *at).await;
                self.disturb(*at, disturbance, &mut ends).await;
            }
            self.until_and_end(due, &mut ends).await;
            if keeps_snapshots {
                self.snapshots.push((self.state.now(), self.state.server.snapshot()));
            }
            self.perform(&step.operation).await;
        }
        for (at, disturbance) in disturbances {
            self.until_and_end(began + *at, &mut ends).await;
            self.disturb(*at, disturbance, &mut ends).await;
        }
        let last = ends.iter().map(|(at, _)| *at).max().unwrap_or(due);
        self.until_and_end(last, &mut ends).await;
    }

    /// Advances time to `until`, and ends admission rules and wrong lists when their time is over.
    async fn until_and_end(&mut self, until: Instant, ends: &mut Ends) {
        ends.sort_by_key(|(at, _)| *at);
        while ends.first().is_some_and(|(at, _)| *at <= until) {
            let (at, end) = ends.remove(0);
            self.until(at).await;
            end(&self.state.server);
        }
        self.until(until).await;
    }

    /// Sends a request of the user and waits for the response.
    async fn perform(&mut self, operation: &Operation) {
        let (method, content_type, path, body) = match operation {
            Operation::Create { path, object } => (Method::POST, "application/json", path, object),
            Operation::Patch { path, patch } => (Method::PATCH, "application/merge-patch+json", path, patch),
            Operation::Delete { path, options } => (Method::DELETE, "application/json", path, options),
        };
        let Some(path) = self.state.rules.resolve(path, &self.state.server) else {
            self.state.note(EntryKind::User { operation: operation.clone(), code: 0 });
            return;
        };
        let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
        let request = Request::builder().method(method).uri(path).header(CONTENT_TYPE, content_type);
        let Ok(request) = request.body(Full::new(body)) else { return };
        let target = Target::of(request.method(), request.uri());
        let code = match self.state.server.service().oneshot(request).await {
            Ok(answer) => {
                let code = answer.status();
                if code.is_success() {
                    self.state.written(None, &target, &[]);
                }
                // The write is complete when the response body has been read.
                drop(answer.into_body().collect().await);
                code.as_u16()
            }
            Err(_) => 0,
        };
        self.state.note(EntryKind::User { operation: operation.clone(), code });
    }

    async fn disturb(&mut self, at: Duration, disturbance: &Disturbance, ends: &mut Ends) {
        self.state.disturbed(at, disturbance.clone());
        let after = |millis: &u32| Instant::now() + Duration::from_millis((*millis).into());
        let run_state = Arc::clone(&self.state);
        let server = &run_state.server;
        match disturbance {
            Disturbance::RestartServer => server.restart(History::Kept),
            Disturbance::RestartServerLost => server.restart(History::Lost),
            Disturbance::Restore(millis) | Disturbance::Rewind(millis) => {
                let then = self.state.now().saturating_sub(Duration::from_millis((*millis).into()));
                if let Some((_, snapshot)) = self.snapshots.iter().rev().find(|(at, _)| *at <= then) {
                    match disturbance {
                        Disturbance::Restore(_) => server.restore_bumped(snapshot, BUMP),
                        _ => server.restore(snapshot),
                    }
                    self.state.forget_holder();
                    self.until(Instant::now() + PAUSE).await;
                }
            }
            Disturbance::WrongLists(resource, millis) => {
                let on = On::any().verb("list").verb("watch").resource(resource);
                let id = server.faults().inject(Fault::omit_objects().on(on));
                restart_and_expire(server);
                let end = move |server: &Server| {
                    server.faults().remove(id);
                    restart_and_expire(server);
                };
                ends.push((after(millis), Box::new(end)));
            }
            Disturbance::Policy(policy, millis) => {
                let id = enforce(&self.state, *policy);
                ends.push((
                    after(millis),
                    Box::new(move |server: &Server| {
                        server.admission().remove(id);
                    }),
                ));
            }
            Disturbance::Freeze(process, millis) => {
                self.state.freeze(process, after(millis));
                ends.push((after(millis), Box::new(|_: &Server| {})));
            }
            Disturbance::Crash(process, millis) => {
                self.processes.kill(process, Duration::from_millis((*millis).into()));
                ends.push((after(millis), Box::new(|_: &Server| {})));
            }
            Disturbance::Jump(millis) => tokio::time::advance(Duration::from_millis((*millis).into())).await,
            Disturbance::SetWallClock(seconds) => self.offset.store((*seconds).into(), Ordering::Relaxed),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.kills.close();
    }
}

/// Restarts the server without its history. A write before it makes the current version of every watch expire, too.
fn restart_and_expire(server: &Server) {
    let name = format!("version-{}", server.revision());
    let metadata = json!({ "namespace": "default", "name": name });
    // A name is used once, and the namespace exists.
    let _ = server.load([json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata })]);
    server.restart(History::Lost);
}

/// Puts an admission rule in force and returns its id.
fn enforce(run_state: &Arc<RunState>, policy: Policy) -> u64 {
    let rules = Arc::clone(&run_state.rules);
    let admission = run_state.server.admission();
    match policy {
        Policy::AddLabel => admission.mutate(move |request, object| {
            if rules.is_policed(request.resource) && request.operation != Write::Delete {
                object["metadata"]["labels"][POLICY_LABEL] = "yes".into();
            }
            Ok(())
        }),
        Policy::RejectCreates | Policy::RejectUpdates | Policy::RejectDeletes => {
            let refused = match policy {
                Policy::RejectCreates => Write::Create,
                Policy::RejectUpdates => Write::Update,
                _ => Write::Delete,
            };
            admission.validate(move |request, _| {
                if request.operation == refused && rules.is_policed(request.resource) {
                    return Err(Denial::forbidden("refused by a policy of the simulation"));
                }
                Ok(())
            })
        }
    }
}
