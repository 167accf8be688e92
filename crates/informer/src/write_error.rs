//! Errors of own writes.

/// Error of a write, for [`OwnWrite::failed`](crate::OwnWrite::failed).
///
/// Implemented for `kube_controller_client::Error` with the feature `client`, the default, and for `kube::Error` with the
/// feature `kube`.
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

/// Of errors without a response, `kube` does not say whether the request was sent: they count as lost responses.
#[cfg(feature = "kube")]
impl WriteError for kube::Error {
    fn may_have_been_applied(&self) -> bool {
        match self {
            Self::Api(status) => status.code >= 500,
            Self::BuildRequest(_) | Self::Auth(_) => false,
            _ => true,
        }
    }
}
