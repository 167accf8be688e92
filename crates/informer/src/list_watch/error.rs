//! Errors of a source.

use std::{error::Error, fmt, time::Duration};

use kube_wire::Status;

type BoxError = Box<dyn Error + Send + Sync>;

/// Error of a [`ListWatch`](crate::ListWatch), classified by what the informer does next.
///
/// Its message and its sources are those of the error that it was made of.
#[derive(Debug)]
pub struct ListWatchError {
    class: Class,
    error: BoxError,
}

#[derive(Debug, Clone)]
pub(crate) enum Class {
    /// The server answered with this error status.
    Status(Box<Status>),
    /// No response, or a response that broke off.
    Unreachable,
    Other,
}

impl ListWatchError {
    /// Returns the error of a response with an error status. The informer relists after status 410, falls back to JSON
    /// after 406 and 415, and [retries](crate::ListWatch::wait_to_retry) 429 after
    /// [`retry_after_seconds`](kube_wire::Details::retry_after_seconds), up to 30 s, and 500 and above within 2 s.
    pub fn status(status: Status, error: impl Into<BoxError>) -> Self {
        Self { class: Class::Status(Box::new(status)), error: error.into() }
    }

    /// Returns the error of a connection that cannot be opened, or that was lost or timed out. The informer resumes a
    /// watch without a relist.
    pub fn unreachable(error: impl Into<BoxError>) -> Self {
        Self { class: Class::Unreachable, error: error.into() }
    }

    /// Returns any other error, such as a response with an unknown content type.
    pub fn other(error: impl Into<BoxError>) -> Self {
        Self { class: Class::Other, error: error.into() }
    }

    pub(crate) fn class(&self) -> &Class {
        &self.class
    }

    pub(crate) fn is_not_found(&self) -> bool {
        matches!(&self.class, Class::Status(status) if status.is_not_found())
    }

    pub(crate) fn is_forbidden(&self) -> bool {
        matches!(&self.class, Class::Status(status) if status.is_forbidden())
    }
}

/// Returns the delay that a server requests in a status; `None` if it requests none.
pub(crate) fn retry_after(status: &Status) -> Option<Duration> {
    let seconds = status.details.as_ref()?.retry_after_seconds;
    (seconds > 0).then(|| Duration::from_secs(u64::from(seconds)))
}

impl fmt::Display for ListWatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for ListWatchError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
