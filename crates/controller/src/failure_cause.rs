//! What a sync failed because of.

/// What a failed sync failed because of, which decides how its key is retried.
///
/// [`ControllerBuilder::failure_cause`](crate::ControllerBuilder::failure_cause) sets the function that returns it. If writes
/// of one sync fail because of several causes, the greatest counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureCause {
    /// The object, or a write of it that the server refused: an invalid object, a quota, a webhook that denies, a
    /// conflict. Retried according to the [`RetryPolicy`](crate::RetryPolicy).
    #[default]
    Key,
    /// A server that did not do its work, or rejects the credentials: a status of 500 or above, 401, 429, a timeout, an
    /// answer that was lost or cannot be decoded. Retried without end, after 1 s, doubling to 60 s, and at once after an
    /// outage of the server. It does not count for the [`RetryPolicy`](crate::RetryPolicy).
    Server,
    /// No connection to the server. Retried as [`Server`](Self::Server).
    Unreachable,
}

/// The cause of a sync that fails because of this error of a request.
#[cfg(feature = "client")]
impl From<&kube_controller_client::Error> for FailureCause {
    fn from(error: &kube_controller_client::Error) -> Self {
        if error.is_unreachable() {
            Self::Unreachable
        } else if error.is_server_failure() {
            Self::Server
        } else {
            Self::Key
        }
    }
}
