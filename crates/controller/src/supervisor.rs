//! Runs the long-running tasks of a process together.

use std::collections::HashMap;
use std::error::Error;
use std::pin::Pin;
use std::time::Duration;

use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::ServerGate;

type BoxError = Box<dyn Error + Send + Sync>;

/// Set of the long-running tasks of a process, of which the first failure stops all.
///
/// Each task runs until the token is cancelled. If one returns earlier, fails or panics, the others are stopped, and
/// [`run`](Self::run) returns the error.
#[derive(Debug)]
pub struct Supervisor {
    stop: CancellationToken,
    tasks: JoinSet<Result<(), BoxError>>,
    names: HashMap<Id, String>,
}

/// Error of [`Supervisor::run`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SupervisorError {
    /// A task returned before the token was cancelled.
    #[error("{task} ended unexpectedly")]
    Ended {
        /// Name of the task.
        task: String,
    },
    /// A task returned an error.
    #[error("{task} failed")]
    Failed {
        /// Name of the task.
        task: String,
        /// Error of the task.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A task panicked.
    #[error("{task} panicked: {message}")]
    Panicked {
        /// Name of the task.
        task: String,
        /// Message of the panic.
        message: String,
    },
    /// Tasks did not end within the grace period after the token was cancelled. They are aborted.
    #[error("still running {grace:?} after the request to stop: {}", tasks.join(", "))]
    Stuck {
        /// The grace period.
        grace: Duration,
        /// Names of the tasks, sorted.
        tasks: Vec<String>,
    },
}

impl Supervisor {
    /// Returns an empty set. Its tasks must end when `stop` is cancelled.
    pub fn new(stop: CancellationToken) -> Supervisor {
        Supervisor { stop, tasks: JoinSet::new(), names: HashMap::new() }
    }

    /// Spawns a task that ends when the token is cancelled, and not before.
    pub fn spawn(&mut self, name: impl Into<String>, task: impl Future<Output = ()> + Send + 'static) {
        let task = async {
            task.await;
            Ok(())
        };
        self.spawn_boxed(name.into(), Box::pin(task));
    }

    /// Spawns a task that may fail; its error becomes [`SupervisorError::Failed`]. Otherwise like
    /// [`spawn`](Self::spawn).
    pub fn try_spawn<E: Error + Send + Sync + 'static>(
        &mut self,
        name: impl Into<String>,
        task: impl Future<Output = Result<(), E>> + Send + 'static,
    ) {
        self.spawn_boxed(name.into(), Box::pin(async { task.await.map_err(BoxError::from) }));
    }

    /// Boxed, so that the code of the runtime for a task is compiled once, not for each of them.
    fn spawn_boxed(&mut self, name: String, task: Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send>>) {
        let handle = self.tasks.spawn(task);
        self.names.insert(handle.id(), name);
    }

    /// Returns a gate for the controllers of the process. It lets waiting keys through when a future of `recovery` ends: when
    /// the server answers again after it had not, as `Availability::recovery` of `kube-controller-client`.
    pub fn server_gate<F>(&mut self, recovery: impl Fn() -> F + Send + 'static) -> ServerGate
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (gate, stop) = (ServerGate::default(), self.stop.clone());
        let answered = gate.clone();
        self.spawn("availability of the API server", async move {
            while stop.run_until_cancelled(recovery()).await.is_some() {
                answered.server_answered();
            }
        });
        gate
    }

    /// Waits until the token is cancelled or a task ends, then cancels the token and waits up to `grace` for the
    /// remaining tasks. Tasks that still run after that are aborted.
    ///
    /// # Errors
    ///
    /// The first failure of a task, except that a panic takes precedence over an error that may be its consequence.
    /// [`SupervisorError::Stuck`] if no task failed but some did not end within `grace`.
    pub async fn run(mut self, grace: Duration) -> Result<(), SupervisorError> {
        let early = tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            Some(ended) = self.tasks.join_next_with_id() => Some(ended),
        };
        let mut failure = early.and_then(|ended| self.failure(ended));
        self.stop.cancel();

        let drained = tokio::time::timeout(grace, async {
            while let Some(ended) = self.tasks.join_next_with_id().await {
                let later = self.failure(ended);
                // A panic may cause another task to fail, which may end before the task that panicked.
                failure = match (failure.take(), later) {
                    (Some(SupervisorError::Failed { .. }), Some(panic @ SupervisorError::Panicked { .. })) => {
                        Some(panic)
                    }
                    (first, later) => first.or(later),
                };
            }
        })
        .await;
        match (failure, drained) {
            (Some(failure), _) => Err(failure),
            (None, Ok(())) => Ok(()),
            (None, Err(_)) => {
                let mut tasks: Vec<String> = self.names.into_values().collect();
                tasks.sort();
                Err(SupervisorError::Stuck { grace, tasks })
            }
        }
    }

    /// Returns the failure of a task that ended; `None` if it returned without an error after the token was cancelled.
    fn failure(&mut self, ended: Result<(Id, Result<(), BoxError>), JoinError>) -> Option<SupervisorError> {
        let mut name = |id| self.names.remove(&id).unwrap_or_else(|| "a task".to_owned());
        match ended {
            Ok((id, Ok(()))) => {
                let task = name(id);
                (!self.stop.is_cancelled()).then_some(SupervisorError::Ended { task })
            }
            Ok((id, Err(source))) => Some(SupervisorError::Failed { task: name(id), source }),
            Err(error) => {
                let task = name(error.id());
                error
                    .try_into_panic()
                    .ok()
                    .map(|panic| SupervisorError::Panicked { task, message: panic_message(&*panic) })
            }
        }
    }
}

pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use display_full_error::DisplayFullErrorExt as _;

    use super::*;

    const GRACE: Duration = Duration::from_secs(5);

    fn supervisor() -> (Supervisor, CancellationToken) {
        let stop = CancellationToken::new();
        (Supervisor::new(stop.clone()), stop)
    }

    async fn run(supervisor: Supervisor) -> Result<(), String> {
        supervisor.run(GRACE).await.map_err(|error| error.to_string_full())
    }

    #[tokio::test(start_paused = true)]
    async fn cancelling_the_token_ends_all_tasks() {
        let (mut supervisor, stop) = supervisor();
        for _ in 0..3 {
            supervisor.spawn("task", stop.clone().cancelled_owned());
        }
        stop.cancel();
        assert_eq!(run(supervisor).await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_ends_early_stops_the_others() {
        let (mut supervisor, stop) = supervisor();
        supervisor.spawn("steady", stop.clone().cancelled_owned());
        supervisor.spawn("short", async {});
        assert_eq!(run(supervisor).await, Err("short ended unexpectedly".to_owned()));
        assert!(stop.is_cancelled());
    }

    #[derive(Debug, thiserror::Error)]
    #[error("no cache")]
    struct NoCache(#[source] std::fmt::Error);

    #[tokio::test(start_paused = true)]
    async fn an_error_is_reported_with_its_sources() {
        let (mut supervisor, stop) = supervisor();
        supervisor.spawn("steady", stop.clone().cancelled_owned());
        supervisor.try_spawn("broken", async { Err(NoCache(std::fmt::Error)) });
        assert_eq!(run(supervisor).await, Err(format!("broken failed: no cache: {}", std::fmt::Error)));
        assert!(stop.is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_is_reported_before_the_failures_it_causes() {
        let (mut supervisor, stop) = supervisor();
        supervisor.try_spawn("consequence", async { Err(NoCache(std::fmt::Error)) });
        supervisor.spawn("cause", async move {
            stop.cancelled().await;
            panic!("index out of bounds")
        });
        assert_eq!(run(supervisor).await, Err("cause panicked: index out of bounds".to_owned()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_is_reported_with_the_name_of_its_task() {
        let (mut supervisor, _stop) = supervisor();
        supervisor.spawn("broken", async { panic!("index out of bounds") });
        assert_eq!(run(supervisor).await, Err("broken panicked: index out of bounds".to_owned()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_outlives_the_grace_period_is_reported() {
        let (mut supervisor, stop) = supervisor();
        supervisor.spawn("stuck", std::future::pending());
        supervisor.spawn("fine", stop.clone().cancelled_owned());
        stop.cancel();
        assert_eq!(run(supervisor).await, Err("still running 5s after the request to stop: stuck".to_owned()));
    }
}
