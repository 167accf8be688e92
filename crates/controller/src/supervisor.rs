//! All tasks of a process in one set.

use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::time::Duration;

use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::error_text::with_causes;

/// Holds the long-running tasks of a process. Each runs until the token is cancelled; one that ends earlier, or panics,
/// takes the others with it.
#[derive(Debug)]
pub struct Supervisor {
    stop: CancellationToken,
    tasks: JoinSet<Result<(), String>>,
    names: HashMap<Id, String>,
}

/// Why a process ended that was not asked to.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SupervisorError {
    /// A task that should run for ever returned.
    #[error("{task} ended unexpectedly")]
    Ended {
        /// The task.
        task: String,
    },
    /// A task that should run for ever returned an error.
    #[error("{task} failed: {message}")]
    Failed {
        /// The task.
        task: String,
        /// The error and its sources, separated by colons.
        message: String,
    },
    /// A task panicked.
    #[error("{task} panicked: {message}")]
    Panicked {
        /// The task.
        task: String,
        /// What it said.
        message: String,
    },
    /// Tasks did not end in time after they were asked to.
    #[error("still running {grace:?} after the request to stop: {}", tasks.join(", "))]
    Stuck {
        /// How long they were given.
        grace: Duration,
        /// The tasks, by name.
        tasks: Vec<String>,
    },
}

impl Supervisor {
    /// An empty set whose tasks are asked to stop by `stop`.
    pub fn new(stop: CancellationToken) -> Supervisor {
        Supervisor { stop, tasks: JoinSet::new(), names: HashMap::new() }
    }

    /// Starts a task. It is to end once the token is cancelled, and not before.
    pub fn spawn(&mut self, name: impl Into<String>, task: impl Future<Output = ()> + Send + 'static) {
        self.try_spawn(name, async {
            task.await;
            Ok::<(), Infallible>(())
        });
    }

    /// Starts a task that may fail. An error ends the process as a panic does: [`SupervisorError::Failed`].
    pub fn try_spawn<E: Error>(
        &mut self,
        name: impl Into<String>,
        task: impl Future<Output = Result<(), E>> + Send + 'static,
    ) {
        let handle = self.tasks.spawn(async { task.await.map_err(|error| with_causes(&error)) });
        self.names.insert(handle.id(), name.into());
    }

    /// Waits until the token is cancelled or a task ends, whichever comes first; then cancels the token and gives the
    /// tasks that are left `grace` to end. Those that do not are aborted.
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
                // A task may fail because another one panicked, and still end first.
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

    /// Why a task that ended should not have; `None` if it returned after the request to stop.
    fn failure(&mut self, ended: Result<(Id, Result<(), String>), JoinError>) -> Option<SupervisorError> {
        let mut name = |id| self.names.remove(&id).unwrap_or_else(|| "a task".to_owned());
        match ended {
            Ok((id, Ok(()))) => {
                let task = name(id);
                (!self.stop.is_cancelled()).then_some(SupervisorError::Ended { task })
            }
            Ok((id, Err(message))) => Some(SupervisorError::Failed { task: name(id), message }),
            Err(error) => {
                let task = name(error.id());
                error.try_into_panic().ok().map(|panic| SupervisorError::Panicked { task, message: message(&*panic) })
            }
        }
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(5);

    fn supervisor() -> (Supervisor, CancellationToken) {
        let stop = CancellationToken::new();
        (Supervisor::new(stop.clone()), stop)
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_to_stop_ends_all() {
        let (mut supervisor, stop) = supervisor();
        for _ in 0..3 {
            supervisor.spawn("task", stop.clone().cancelled_owned());
        }
        stop.cancel();
        assert_eq!(supervisor.run(GRACE).await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_ends_takes_the_others_with_it() {
        let (mut supervisor, stop) = supervisor();
        supervisor.spawn("steady", stop.clone().cancelled_owned());
        supervisor.spawn("short", async {});
        assert_eq!(supervisor.run(GRACE).await, Err(SupervisorError::Ended { task: "short".into() }));
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
        let message = format!("no cache: {}", std::fmt::Error);
        assert_eq!(supervisor.run(GRACE).await, Err(SupervisorError::Failed { task: "broken".into(), message }));
        assert!(stop.is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_is_reported_before_the_failures_it_causes() {
        let (mut supervisor, stop) = supervisor();
        supervisor.try_spawn("consequence", async { Err(NoCache(std::fmt::Error)) });
        supervisor.spawn("cause", async move {
            stop.cancelled().await;
            panic!("out of luck")
        });
        let expected = SupervisorError::Panicked { task: "cause".into(), message: "out of luck".into() };
        assert_eq!(supervisor.run(GRACE).await, Err(expected));
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_is_named() {
        let (mut supervisor, _stop) = supervisor();
        supervisor.spawn("broken", async { panic!("out of luck") });
        let expected = SupervisorError::Panicked { task: "broken".into(), message: "out of luck".into() };
        assert_eq!(supervisor.run(GRACE).await, Err(expected));
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_does_not_stop_is_named() {
        let (mut supervisor, stop) = supervisor();
        supervisor.spawn("deaf", std::future::pending());
        supervisor.spawn("fine", stop.clone().cancelled_owned());
        stop.cancel();
        let error = supervisor.run(GRACE).await.unwrap_err();
        assert_eq!(error.to_string(), "still running 5s after the request to stop: deaf");
    }
}
