//! The longest time that differences lasted in the last minutes.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// Time for which an observation counts.
pub(crate) const WINDOW: Duration = Duration::from_secs(600);
/// Observations within this time are stored as one.
const BUCKET: Duration = Duration::from_secs(60);

/// How long the plans of Services took to become empty, in the last 10 minutes: the speed of the writer.
#[derive(Debug, Default)]
pub(crate) struct Drains {
    /// Start and longest observation of each minute with one, oldest first.
    buckets: VecDeque<(Instant, Duration)>,
}

impl Drains {
    /// Records that the plan of a Service became empty `time` after its inputs had changed. A longer time than
    /// [`WINDOW`] counts as [`WINDOW`]: it is more likely a mismatch that was repaired than a slow writer.
    pub(crate) fn record(&mut self, now: Instant, time: Duration) {
        let time = time.min(WINDOW);
        match self.buckets.back_mut() {
            Some((start, longest)) if now.saturating_duration_since(*start) < BUCKET => *longest = time.max(*longest),
            _ => self.buckets.push_back((now, time)),
        }
        self.expire(now);
    }

    /// Returns the longest observation of the last 10 to 11 minutes; zero without one.
    pub(crate) fn longest(&mut self, now: Instant) -> Duration {
        self.expire(now);
        self.buckets.iter().map(|(_, longest)| *longest).max().unwrap_or_default()
    }

    fn expire(&mut self, now: Instant) {
        while self.buckets.front().is_some_and(|(start, _)| now.saturating_duration_since(*start) >= WINDOW + BUCKET) {
            self.buckets.pop_front();
        }
    }
}
