//! All tasks of a process in one set.

use std::collections::HashMap;
use std::time::Duration;

use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

/// Holds the long-running tasks of a process. Each runs until the token is cancelled; one that ends earlier, or panics,
/// takes the others with it.
#[derive(Debug)]
pub struct Supervisor {
    stop: CancellationToken,
    tasks: JoinSet<()>,
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
        let handle = self.tasks.spawn(task);
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
                // After the request to stop, returning is what tasks are to do.
                if ended.is_err() {
                    let later = self.failure(ended);
                    failure = failure.take().or(later);
                } else if let Ok((id, ())) = ended {
                    self.names.remove(&id);
                }
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

    fn failure(&mut self, ended: Result<(Id, ()), JoinError>) -> Option<SupervisorError> {
        let mut name = |id| self.names.remove(&id).unwrap_or_else(|| "a task".to_owned());
        match ended {
            Ok((_, ())) if self.stop.is_cancelled() => None,
            Ok((id, ())) => Some(SupervisorError::Ended { task: name(id) }),
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
