//! Errors of own writes.

/// Error of a write, for [`OwnWrite::failed`](crate::OwnWrite::failed).
///
/// Implemented for `kube_controller_client::Error` with the feature `client`, the default.
pub trait WriteError {
    /// Returns whether the server may have applied the write despite the error, for example because the response was
    /// lost.
    fn may_have_been_applied(&self) -> bool;
}

#[cfg(feature = "client")]
impl WriteError for kube_controller_client::Error {
    fn may_have_been_applied(&self) -> bool {
        Self::may_have_been_applied(self)
    }
}
