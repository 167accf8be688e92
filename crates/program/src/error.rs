//! Errors of a controller.

use kube_controller::SupervisorError;
use kube_controller_client::ConfigError;

/// Error of [`Controller::run`](crate::Controller::run).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControllerError {
    /// A task failed or panicked, or did not end in time.
    #[error(transparent)]
    Supervisor(#[from] SupervisorError),
    /// Another instance leads, or the lease could not be renewed in time. The process should exit.
    #[error("the lease is lost")]
    LeaseLost,
    /// The client of the leader election cannot be created.
    #[error("cannot create the client of the leader election")]
    Elections(#[source] ConfigError),
    /// The writer that was passed to [`Controller::owns_slices`](crate::Controller::owns_slices) was built without an
    /// informer of its objects.
    #[error("the writer of owned objects has no informer of them")]
    OwnsWithoutInformer,
    /// With leader election, the writer that was passed to
    /// [`Controller::owns_slices`](crate::Controller::owns_slices) has another client than that of
    /// [`Controller::client`](crate::Controller::client), so that it could write after the lease is lost.
    #[error("the writer of owned objects has a client without a gate; build it with that of the controller")]
    OwnsWithoutGate,
}
