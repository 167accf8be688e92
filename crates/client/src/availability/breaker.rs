//! State of the circuit breaker, without clock, timer or client.

use std::time::Duration;

use tokio::time::Instant;

/// Consecutive requests without a useful response after which the server counts as unavailable. A single failure is
/// often that of one connection or of one webhook.
const FAILURES: u32 = 3;
/// Minimum time between two retries while the server is available: some requests fail, others succeed.
const SPACING: Duration = Duration::from_millis(500);
/// Time of a round, in which all waiting callers have their turn while the server is available: with more than five,
/// retries are closer than [`SPACING`].
const ROUND: Duration = Duration::from_millis(2_500);
/// Maximum random addition to [`SPACING`] while the server is unavailable.
const UNAVAILABLE_SPACING: Duration = Duration::from_secs(1);
/// Minimum time between two reports of outages, so that a server that fails now and then does not flood the log.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// Result of one attempt of a request, as far as it says something about the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// A response with a status below 500.
    Answered,
    /// No response, or one with a status of 500 or above.
    Failed,
}

/// Change of the availability that is to be reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// The server has become unavailable.
    Lost,
    /// The server answers again, after a reported outage of this duration.
    Recovered(Duration),
}

/// Consecutive failures of the requests to one server, and the time of the last retry.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    failures: u32,
    /// Time of the first of the consecutive failures.
    failing_since: Option<Instant>,
    /// When the server became available after it had been unavailable.
    pub(super) recovered_at: Option<Instant>,
    /// Number of changes from unavailable to available.
    pub(super) recoveries: u64,
    /// Number of callers that wait for a retry.
    pub(super) waiting: u32,
    last_retry: Option<Instant>,
    /// Start of the round, and the largest number of callers that have waited in it.
    round: Option<(Instant, u32)>,
    /// Time of the last report of an outage.
    reported_at: Option<Instant>,
    /// Whether the current outage was reported.
    is_reported: bool,
}

impl Breaker {
    pub(super) fn is_available(&self) -> bool {
        self.failures < FAILURES
    }

    pub(super) fn record(&mut self, attempt: Attempt, now: Instant) -> Option<Change> {
        match attempt {
            Attempt::Answered => {
                let (was_available, since) = (self.is_available(), self.failing_since.take());
                self.failures = 0;
                if was_available {
                    return None;
                }
                self.recoveries += 1;
                self.recovered_at = Some(now);
                let outage = since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
                std::mem::take(&mut self.is_reported).then_some(Change::Recovered(outage))
            }
            Attempt::Failed => {
                self.failing_since.get_or_insert(now);
                self.failures = self.failures.saturating_add(1);
                let was_reported_recently =
                    self.reported_at.is_some_and(|at| now.saturating_duration_since(at) < REPORT_INTERVAL);
                if self.is_available() || self.is_reported || was_reported_recently {
                    return None;
                }
                (self.reported_at, self.is_reported) = (Some(now), true);
                Some(Change::Lost)
            }
        }
    }

    /// Returns the earliest time of the next retry; `None` before the first. `jitter` is a random number in `0.0..1.0`.
    pub(super) fn next_retry(&self, jitter: f64) -> Option<Instant> {
        let spacing = if self.is_available() {
            let largest = self.round.map_or(1, |(_, largest)| largest);
            SPACING.min(ROUND / largest.max(self.waiting).max(1))
        } else {
            SPACING + UNAVAILABLE_SPACING.mul_f64(jitter)
        };
        self.last_retry.map(|last| last + spacing)
    }

    pub(super) fn retried(&mut self, now: Instant) {
        self.last_retry = Some(now);
        let (start, largest) = self.round.filter(|(start, _)| now < *start + ROUND).unwrap_or((now, 0));
        self.round = Some((start, largest.max(self.waiting)));
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "an arbitrary point in time to count from")]
    fn epoch() -> Instant {
        Instant::from_std(std::time::Instant::now())
    }

    /// Results of attempts, one a second: `.` is an answer, `x` a failure. Expected: the state after each, and the
    /// reports.
    #[rstest]
    #[case::answers("...", "aaa", "")]
    #[case::single_failures("x.xx.x", "aaaaaa", "")]
    #[case::outage("xxxxx.", "aauuua", "2 lost, 5 recovered after 5 s")]
    #[case::two_outages("xxx.xxx.", "aauaaaua", "2 lost, 3 recovered after 3 s")]
    fn state_after_each_attempt(#[case] attempts: &str, #[case] states: &str, #[case] reports: &str) {
        let (mut breaker, start) = (Breaker::default(), epoch());
        let (mut seen, mut reported) = (String::new(), Vec::new());
        for (second, attempt) in (0..).zip(attempts.chars()) {
            let attempt = if attempt == '.' { Attempt::Answered } else { Attempt::Failed };
            match breaker.record(attempt, start + Duration::from_secs(second)) {
                Some(Change::Lost) => reported.push(format!("{second} lost")),
                Some(Change::Recovered(after)) => {
                    reported.push(format!("{second} recovered after {} s", after.as_secs()));
                }
                None => {}
            }
            seen.push(if breaker.is_available() { 'a' } else { 'u' });
        }
        assert_eq!((seen.as_str(), reported.join(", ").as_str()), (states, reports));
    }

    #[test]
    fn outages_are_reported_once_a_minute() {
        let (mut breaker, start) = (Breaker::default(), epoch());
        let mut lost = Vec::new();
        for second in (0..180).step_by(2) {
            let now = start + Duration::from_secs(second);
            for _ in 0..FAILURES {
                if breaker.record(Attempt::Failed, now).is_some() {
                    lost.push(second);
                }
            }
            breaker.record(Attempt::Answered, now);
        }
        assert_eq!(lost, [0, 60, 120]);
    }

    #[test]
    fn an_outage_soon_after_a_reported_one_is_reported_after_a_minute() {
        let (mut breaker, start) = (Breaker::default(), epoch());
        let mut reports = Vec::new();
        for second in 0..100 {
            let attempt = if second == 3 || second == 90 { Attempt::Answered } else { Attempt::Failed };
            if let Some(change) = breaker.record(attempt, start + Duration::from_secs(second)) {
                reports.push((second, change));
            }
        }
        let recovered = |seconds| Change::Recovered(Duration::from_secs(seconds));
        assert_eq!(reports, [(2, Change::Lost), (3, recovered(3)), (62, Change::Lost), (90, recovered(86))]);
    }

    #[rstest]
    #[case::available(0, 5, 0.9, 500)]
    #[case::available_and_many_wait(0, 50, 0.9, 50)]
    #[case::unavailable(3, 5, 0.0, 500)]
    #[case::unavailable_with_jitter(3, 50, 0.9, 1_400)]
    fn time_of_the_next_retry(#[case] failures: u32, #[case] waiting: u32, #[case] jitter: f64, #[case] expect: u64) {
        let (mut breaker, now) = (Breaker { waiting, ..Breaker::default() }, epoch());
        assert_eq!(breaker.next_retry(jitter), None);
        for _ in 0..failures {
            breaker.record(Attempt::Failed, now);
        }
        breaker.retried(now);
        assert_eq!(breaker.next_retry(jitter), Some(now + Duration::from_millis(expect)));
    }
}
