//! Refusals that faults make, in upstream's words.

use super::StatusError;

impl StatusError {
    /// 410 as a fault makes it, of no version in particular.
    pub(crate) fn expired_by_fault() -> Self {
        Self::new(410, "Expired", "The resourceVersion for the provided watch is too old.")
    }

    /// 504 for a request that took too long, carried out or not.
    pub(crate) fn timed_out() -> Self {
        let message = "Timeout: request did not complete within the allotted timeout";
        let mut error = Self::new(504, "Timeout", message);
        error.details = Some(Box::default());
        error
    }

    /// What a fault refuses a request with, in upstream's words for the code.
    pub(crate) fn by_fault(code: u16, retry_after: Option<u32>) -> Self {
        let mut error = match code {
            410 => Self::expired_by_fault(),
            429 => Self::new(429, "TooManyRequests", "Too many requests, please try again later."),
            500 => Self::internal("a fault was injected"),
            503 => Self::new(503, "ServiceUnavailable", "the server is currently unable to handle the request"),
            504 => Self::timed_out(),
            _ => Self::new(code, "Unknown", "a fault was injected"),
        };
        if retry_after.is_some() {
            error.details.get_or_insert_default().retry_after_seconds = retry_after;
        }
        error
    }
}
