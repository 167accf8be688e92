//! Error of the whole run.

use std::time::Duration;

use kube_controller::SupervisorError;
use kube_controller_client::ConfigError;
use kube_controller_serving::ServingError;

/// Why [`run`](crate::run) failed: the controllers could not be started, or ended before `stop` was cancelled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// No client can be built from the configuration of the API server.
    #[error("cannot set up a client for the API server")]
    Client(#[from] ConfigError),
    /// [Shadow mode](crate::Mode::Shadow) needs the feature `shadow`.
    #[error("--mode=shadow: this program was built without the feature \"shadow\"")]
    ShadowNotCompiledIn,
    /// The lease was not renewed within the renew deadline, or another process holds it. The process has to end, as
    /// upstream's does.
    #[error("the leader election lease is lost")]
    LeaseLost,
    /// The API server has answered every request of this process with 401 for five minutes.
    #[error(
        "the API server has answered 401 for {} s: replace the token or client certificate, or the file it is read from",
        .rejected.as_secs()
    )]
    Credentials {
        /// Time since the first of these answers; at least 300 s.
        rejected: Duration,
    },
    /// The HTTPS server cannot be started: see [`ServingError`].
    #[error(transparent)]
    Serving(#[from] ServingError),
    /// A metric cannot be registered: its name is already in use, or invalid.
    #[error("cannot register metrics")]
    Metrics(#[from] prometheus::Error),
    /// A task (informer, controller, event writer, server) failed, panicked, or did not end within 3 s after `stop` was
    /// cancelled.
    #[error(transparent)]
    Task(#[from] SupervisorError),
}
