//! Errors returned by faults, with upstream's messages.

use super::{Details, StatusError};

impl StatusError {
    /// Returns 410 without naming a version.
    pub(crate) fn expired_by_fault() -> Self {
        Self::new(410, "Expired", "The resourceVersion for the provided watch is too old.")
    }

    /// Returns 504 for a request that timed out; it may have been applied.
    pub(crate) fn timed_out() -> Self {
        let message = "Timeout: request did not complete within the allotted timeout";
        Self::new(504, "Timeout", message).detailed(Details::default())
    }

    /// Returns the error of a fault, with upstream's message for the code where there is one.
    pub(crate) fn by_fault(code: u16, retry_after: Option<u32>) -> Self {
        let mut error = match code {
            404 => Self::new(404, "NotFound", "the object was not found, by a fault"),
            410 => Self::expired_by_fault(),
            429 => Self::new(429, "TooManyRequests", "Too many requests, please try again later."),
            500 => Self::internal("error injected by a fault"),
            503 => Self::new(503, "ServiceUnavailable", "the server is currently unable to handle the request"),
            504 => Self::timed_out(),
            _ => Self::new(code, "Unknown", "error injected by a fault"),
        };
        if retry_after.is_some() {
            error.details.get_or_insert_default().retry_after_seconds = retry_after;
        }
        error
    }
}
