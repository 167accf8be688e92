//! Processes of a run: start, kill and restart.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use futures::future::BoxFuture;
use kube_dev_apiserver::Lag;
use prometheus::Registry;
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::log::EntryKind;
use crate::run_state::RunState;
use crate::transport::Transport;

/// Error with which the main function of a [`Process`] ended.
pub type ProcessError = Box<dyn std::error::Error + Send + Sync>;

type Main = dyn Fn(Environment) -> BoxFuture<'static, Result<(), ProcessError>> + Send + Sync;

/// A program under simulation: its name and main function.
#[derive(Clone)]
pub struct Process {
    name: Arc<str>,
    elects: bool,
    main: Arc<Main>,
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("name", &self.name).field("elects", &self.elects).finish_non_exhaustive()
    }
}

/// Argument of the main function of a [`Process`]: its name, and its connection to the API server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Environment {
    /// Name of the process.
    pub name: Arc<str>,
    /// Connection to the API server.
    pub transport: Transport,
    /// Registry for the metrics of the process, read at the end of a run: gauges whose names end with `_pending_keys`, with
    /// the label `controller`, must be 0 except for what [`Rules::max_pending`](crate::Rules::max_pending) allows.
    pub metrics: Registry,
    /// Token for programs that need one for their shutdown. It is never cancelled: processes are killed.
    pub stop: CancellationToken,
}

impl Process {
    /// Creates a process that runs `main`. If its future completes, the process is restarted one second later.
    ///
    /// A process is killed by dropping the future of `main`. All of its tasks must end with that future, as the tasks
    /// of a `JoinSet` inside it do.
    pub fn new<F, E>(name: &str, main: impl Fn(Environment) -> F + Send + Sync + 'static) -> Process
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<ProcessError>,
    {
        let main = move |environment| {
            let run = main(environment);
            Box::pin(async move { run.await.map_err(Into::into) }) as BoxFuture<'static, _>
        };
        Process { name: name.into(), elects: false, main: Arc::new(main) }
    }

    /// Makes the process a candidate for leadership: writes while another process holds the Lease are violations.
    #[must_use]
    pub fn with_leader_election(self) -> Process {
        Process { elects: true, ..self }
    }
}

/// Time after a restart for which the API server of a process is behind.
const BEHIND: Duration = Duration::from_secs(10);

/// Delay before a process that ended by itself is restarted.
const PAUSE: Duration = Duration::from_secs(1);

/// The processes of one run.
pub(crate) struct Processes {
    run_state: Arc<RunState>,
    programs: Vec<Process>,
    running: JoinSet<Result<(), ProcessError>>,
    handles: BTreeMap<Arc<str>, AbortHandle>,
    names: BTreeMap<Id, Arc<str>>,
    /// Registries of the running processes.
    metrics: BTreeMap<Arc<str>, Registry>,
    /// Start times of the processes that are to be started.
    due: BTreeMap<Arc<str>, Instant>,
    /// Lag of the API server that each process is connected to, and when the lag ends.
    lags: BTreeMap<Arc<str>, (Lag, Option<Instant>)>,
}

impl Processes {
    pub(crate) fn new(run_state: &Arc<RunState>, programs: &[Process]) -> Processes {
        let due = programs.iter().map(|program| (Arc::clone(&program.name), Instant::now())).collect();
        let lags = programs.iter().map(|program| (Arc::clone(&program.name), (Lag::default(), None))).collect();
        Processes {
            run_state: Arc::clone(run_state),
            programs: programs.to_vec(),
            running: JoinSet::new(),
            handles: BTreeMap::new(),
            names: BTreeMap::new(),
            metrics: BTreeMap::new(),
            due,
            lags,
        }
    }

    /// Returns the metrics of the running processes.
    pub(crate) fn metrics(&self) -> impl Iterator<Item = &Registry> {
        self.metrics.values()
    }

    /// Returns when the next process is to be started, or the next lag ends.
    pub(crate) fn next_change(&self) -> Option<Instant> {
        self.due.values().copied().chain(self.lags.values().filter_map(|(_, until)| *until)).min()
    }

    /// Starts the processes that are due, and ends the lags that are over.
    pub(crate) fn change(&mut self) {
        let now = Instant::now();
        for (lag, until) in self.lags.values_mut().filter(|(_, until)| until.is_some_and(|until| until <= now)) {
            lag.catch_up();
            *until = None;
        }
        for program in &self.programs {
            let Process { name, elects, main } = program;
            if self.due.get(name).is_none_or(|at| *at > now) {
                continue;
            }
            self.due.remove(name);
            self.run_state.note(EntryKind::Started { process: name.to_string() });
            let mut service = self.run_state.server.service();
            if let Some((lag, _)) = self.lags.get(name) {
                service = service.behind(lag);
            }
            let transport = Transport::new(&self.run_state, name, *elects, service);
            let metrics = Registry::new();
            self.metrics.insert(Arc::clone(name), metrics.clone());
            let environment =
                Environment { name: Arc::clone(name), transport, metrics, stop: CancellationToken::new() };
            let handle = self.running.spawn(main(environment));
            self.names.insert(handle.id(), Arc::clone(name));
            self.handles.insert(Arc::clone(name), handle);
        }
    }

    /// Kills a process, and schedules its restart after `pause`.
    pub(crate) fn kill(&mut self, name: &str, pause: Duration) {
        let Some((name, handle)) = self.handles.remove_entry(name) else { return };
        self.metrics.remove(&name);
        handle.abort();
        self.run_state.note(EntryKind::Ended { process: name.to_string(), reason: "killed".to_owned() });
        self.due.insert(name, Instant::now() + pause);
    }

    /// Makes the API server of a process fall back to a percentage of the current revision, until ten seconds after the
    /// next start.
    pub(crate) fn fall_back(&mut self, name: &str, percent: u8, pause: Duration) {
        let Some((lag, until)) = self.lags.get_mut(name) else { return };
        let revision = self.run_state.server.revision();
        lag.stop_at(revision * u64::from(percent.min(100)) / 100);
        *until = Some(Instant::now() + pause + BEHIND);
    }

    /// Waits until a process has ended, and schedules its restart if it was not killed. A panic is a violation.
    pub(crate) async fn ended(&mut self) {
        let Some(ended) = self.running.join_next_with_id().await else { return std::future::pending().await };
        let (id, reason) = match ended {
            Ok((id, Ok(()))) => (id, "returned".to_owned()),
            Ok((id, Err(error))) => (id, error.to_string_full()),
            Err(error) => (error.id(), panic_text(error).unwrap_or_default()),
        };
        let Some(name) = self.names.remove(&id) else { return };
        if self.handles.get(&name).is_none_or(|handle| handle.id() != id) {
            return;
        }
        self.handles.remove(&name);
        self.metrics.remove(&name);
        if reason.contains("panicked") {
            self.run_state.violated(format!("{name}: {reason}"));
        }
        self.run_state.note(EntryKind::Ended { process: name.to_string(), reason });
        self.due.insert(name, Instant::now() + PAUSE);
    }
}

fn panic_text(error: JoinError) -> Option<String> {
    let panic = error.try_into_panic().ok()?;
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    Some(format!("panicked: {text}"))
}
