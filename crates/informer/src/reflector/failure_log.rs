//! Which failures of an informer are logged as warnings: the first, and one a minute.

use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use tokio::time::Instant;

use super::{Reflector, error::ReflectorError};

/// Minimum time between two warnings. A server that does not answer fails every request.
const INTERVAL: Duration = Duration::from_secs(60);

/// Failures since the last warning.
#[derive(Debug, Default)]
pub(crate) struct FailureLog {
    warned_at: Option<Instant>,
    failures: u64,
}

impl FailureLog {
    /// Counts a failure. Returns the number of failures since the last warning, this one included, if a warning is due.
    pub(crate) fn count(&mut self, now: Instant) -> Option<u64> {
        self.failures += 1;
        if self.warned_at.is_some_and(|at| now.saturating_duration_since(at) < INTERVAL) {
            return None;
        }
        self.warned_at = Some(now);
        Some(std::mem::take(&mut self.failures))
    }
}

impl Reflector {
    /// Logs a failed request: the first, and then one a minute as a warning, the others for debugging.
    pub(super) fn log_failure(&mut self, message: &str, error: &ReflectorError) {
        let (resource, err) = (&self.informer.resource, error.display_full());
        match self.failures.count(Instant::now()) {
            Some(1) => tracing::warn!(%resource, %err, "{message}"),
            Some(failures) => tracing::warn!(%resource, %err, failures, "{message}"),
            None => tracing::debug!(%resource, %err, "{message}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_warning_a_minute_counts_the_failures() {
        let (mut log, start) = (FailureLog::default(), Instant::now());
        let warnings: Vec<_> =
            (0..150).filter_map(|second| Some((second, log.count(start + Duration::from_secs(second))?))).collect();
        assert_eq!(warnings, [(0, 1), (60, 60), (120, 60)]);
    }
}
