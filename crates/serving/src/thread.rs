//! A server on a thread of its own.

use std::io;
use std::thread;
use std::time::Duration;

use kube_controller::SupervisorError;
use tokio::runtime::{self, Runtime};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{Server, ServingError};

/// Name of the thread, and of the task in errors.
const NAME: &str = "serving";
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// A server that runs on its own thread and runtime. It stops when this is dropped.
///
/// Neither do handshakes and scrapes delay the controllers and the renewal of a lease, nor do the controllers delay health
/// checks.
pub struct ServerThread {
    stop: DropGuard,
    /// Cancelled when the thread ends, also by a panic.
    ended: CancellationToken,
}

impl ServerThread {
    /// Starts the thread, awaits `bind` on it, and runs the server. Returns when `bind` has. Clients of the server should be
    /// created by `bind`, so that their connections belong to the runtime of the thread.
    ///
    /// # Errors
    ///
    /// Those of `bind`, and [`ServingError::Thread`].
    pub async fn start<F, E>(bind: impl FnOnce() -> F + Send + 'static) -> Result<ServerThread, E>
    where
        F: Future<Output = Result<Server, E>>,
        E: From<ServingError> + Send + 'static,
    {
        // Its own token: health checks and metrics are served during the shutdown of the controllers, too.
        let stop = CancellationToken::new();
        let runtime = runtime::Builder::new_current_thread().enable_all().max_blocking_threads(2).build();
        let runtime = runtime.map_err(ServingError::Thread)?;
        let ((started, start_result), ended) = (oneshot::channel(), CancellationToken::new());
        let (token, end) = (stop.clone(), ended.clone().drop_guard());
        let thread =
            thread::Builder::new().name(NAME.to_owned()).spawn(move || run(runtime, bind, &token, started, end));
        thread.map_err(ServingError::Thread)?;
        let running = ServerThread { stop: stop.drop_guard(), ended };
        match start_result.await {
            Ok(Ok(())) => Ok(running),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(ServingError::Thread(io::Error::other("it panicked")).into()),
        }
    }

    /// Waits until the server fails: its thread has panicked. Never returns otherwise.
    pub async fn failed(&self) -> SupervisorError {
        self.ended.cancelled().await;
        SupervisorError::Ended { task: NAME.to_owned() }
    }

    /// Stops the server and waits until its socket is closed, for at most 1 s.
    pub async fn stop(self) {
        let ServerThread { stop, ended } = self;
        drop(stop);
        if timeout(STOP_TIMEOUT, ended.cancelled()).await.is_err() {
            tracing::warn!("The HTTPS server has not stopped within {STOP_TIMEOUT:?}");
        }
    }
}

/// Runs the server on this thread until it is stopped or fails.
fn run<F: Future<Output = Result<Server, E>>, E>(
    runtime: Runtime,
    bind: impl FnOnce() -> F,
    stop: &CancellationToken,
    started: oneshot::Sender<Result<(), E>>,
    _end: DropGuard,
) {
    runtime.block_on(async {
        let server = match bind().await {
            Ok(server) => server,
            Err(error) => {
                // An error means that the receiver was dropped.
                let _ = started.send(Err(error));
                return;
            }
        };
        // An error means that the receiver was dropped; the token is then cancelled.
        let _ = started.send(Ok(()));
        stop.run_until_cancelled(server.run()).await;
    });
    // Blocking tasks, such as a DNS lookup, cannot be cancelled; do not wait for them.
    runtime.shutdown_background();
}

#[cfg(test)]
mod tests {
    use kube_controller::Health;

    use super::*;
    use crate::{Reviewers, Routes, ServingMetrics, ServingSettings};

    #[tokio::test]
    async fn a_thread_that_has_panicked_is_reported_and_can_be_stopped() {
        let running = ServerThread::start(async || {
            let settings = ServingSettings { port: 0, ..ServingSettings::default() };
            let reviewers = Reviewers { following: vec![Box::pin(async { panic!("broken") })], ..Reviewers::default() };
            Server::bind(&settings, reviewers, Routes::new(Health::default()), ServingMetrics::default()).await
        });
        let running = running.await.unwrap();
        assert_eq!(running.failed().await.to_string(), "serving ended unexpectedly");
        running.stop().await;
    }
}
