//! Processes of a run: start, kill and restart.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use futures::future::BoxFuture;
use kube_dev_apiserver::Lag;
use prometheus::Registry;
use tokio::task::{AbortHandle, JoinError, JoinSet};
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

pub(crate) struct Processes {
    run_state: Arc<RunState>,
    slots: Vec<Slot>,
    running: JoinSet<Result<(), ProcessError>>,
}

struct Slot {
    program: Process,
    /// Start time, if the process is to be started.
    due: Option<Instant>,
    /// Handle and metrics of the running process.
    instance: Option<(AbortHandle, Registry)>,
    /// Lag of the API server that the process is connected to, and when the lag ends.
    lag: Lag,
    lag_ends: Option<Instant>,
}

impl Processes {
    pub(crate) fn new(run_state: &Arc<RunState>, programs: &[Process]) -> Processes {
        let slot = |program: &Process| Slot {
            program: program.clone(),
            due: Some(Instant::now()),
            instance: None,
            lag: Lag::default(),
            lag_ends: None,
        };
        let slots = programs.iter().map(slot).collect();
        Processes { run_state: Arc::clone(run_state), slots, running: JoinSet::new() }
    }

    pub(crate) fn metrics(&self) -> impl Iterator<Item = &Registry> {
        self.slots.iter().filter_map(|slot| slot.instance.as_ref().map(|(_, metrics)| metrics))
    }

    /// Returns when the next process is to be started, or the next lag ends.
    pub(crate) fn next_change(&self) -> Option<Instant> {
        self.slots.iter().flat_map(|slot| [slot.due, slot.lag_ends]).flatten().min()
    }

    /// Starts the processes that are due, and ends the lags that are over.
    pub(crate) fn change(&mut self) {
        let now = Instant::now();
        for Slot { lag, lag_ends, .. } in &mut self.slots {
            if lag_ends.take_if(|at| *at <= now).is_some() {
                lag.catch_up();
            }
        }
        for Slot { program: Process { name, elects, main }, due, instance, lag, .. } in &mut self.slots {
            if due.take_if(|at| *at <= now).is_none() {
                continue;
            }
            self.run_state.note(EntryKind::Started { process: name.to_string() });
            let service = self.run_state.server.service().behind(lag);
            let transport = Transport::new(&self.run_state, name, *elects, service);
            let (name, metrics) = (Arc::clone(name), Registry::new());
            let environment = Environment { name, transport, metrics: metrics.clone(), stop: CancellationToken::new() };
            *instance = Some((self.running.spawn(main(environment)), metrics));
        }
    }

    fn slot(&mut self, name: &str) -> Option<&mut Slot> {
        self.slots.iter_mut().find(|slot| *slot.program.name == *name)
    }

    /// Kills a process, and schedules its restart after `pause`.
    pub(crate) fn kill(&mut self, name: &str, pause: Duration) {
        let Some(slot) = self.slot(name) else { return };
        let Some((handle, _)) = slot.instance.take() else { return };
        handle.abort();
        slot.due = Some(Instant::now() + pause);
        self.run_state.note(EntryKind::Ended { process: name.to_owned(), reason: "killed".to_owned() });
    }

    /// Makes the API server of a process fall back to a percentage of the current revision, until ten seconds after the
    /// next start.
    pub(crate) fn fall_back(&mut self, name: &str, percent: u8, pause: Duration) {
        let revision = self.run_state.server.revision();
        let Some(slot) = self.slot(name) else { return };
        slot.lag.stop_at(revision * u64::from(percent.min(100)) / 100);
        slot.lag_ends = Some(Instant::now() + pause + BEHIND);
    }

    /// Waits until a process has ended, and schedules its restart if it was not killed. A panic is a violation.
    pub(crate) async fn ended(&mut self) {
        let Some(ended) = self.running.join_next_with_id().await else { return std::future::pending().await };
        let (id, reason) = match ended {
            Ok((id, Ok(()))) => (id, "returned".to_owned()),
            Ok((id, Err(error))) => (id, error.to_string_full()),
            Err(error) => (error.id(), panic_text(error).unwrap_or_default()),
        };
        let is_it = |slot: &&mut Slot| slot.instance.as_ref().is_some_and(|(handle, _)| handle.id() == id);
        let Some(slot) = self.slots.iter_mut().find(is_it) else { return };
        (slot.instance, slot.due) = (None, Some(Instant::now() + PAUSE));
        let process = slot.program.name.to_string();
        if reason.contains("panicked") {
            self.run_state.violated(format!("{process}: {reason}"));
        }
        self.run_state.note(EntryKind::Ended { process, reason });
    }
}

fn panic_text(error: JoinError) -> Option<String> {
    let panic = error.try_into_panic().ok()?;
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    Some(format!("panicked: {text}"))
}
