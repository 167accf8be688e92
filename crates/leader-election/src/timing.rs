//! The [`Timing`] of an election.

use std::time::Duration;

use kube_controller_client::Timeouts;

/// Lease duration, renew deadline and retry period of an election. 15 s, 10 s and 2 s by default, as in client-go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    lease_duration: Duration,
    renew_deadline: Duration,
    retry_period: Duration,
}

/// Error of an invalid [`Timing`] (CM-22).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimingError {
    /// The lease duration is not greater than the renew deadline: a candidate could take over before the leader stops.
    #[error("the lease duration must be greater than the renew deadline")]
    RenewDeadline,
    /// The renew deadline is not greater than 1.2 retry periods: the leader might not retry before its deadline.
    #[error("the renew deadline must be greater than the retry period times 1.2")]
    RetryPeriod,
    /// One of the durations is zero.
    #[error("lease duration, renew deadline and retry period must be greater than zero")]
    Zero,
}

/// `JitterFactor` of client-go, in tenths.
const JITTER_TENTHS: u32 = 12;

impl Timing {
    /// Creates a timing, with the checks of client-go.
    ///
    /// # Errors
    ///
    /// [`TimingError`] if `lease_duration` is not greater than `renew_deadline`, `renew_deadline` not greater than 1.2
    /// times `retry_period`, or one of them zero.
    pub fn new(
        lease_duration: Duration,
        renew_deadline: Duration,
        retry_period: Duration,
    ) -> Result<Timing, TimingError> {
        if lease_duration.is_zero() || renew_deadline.is_zero() || retry_period.is_zero() {
            return Err(TimingError::Zero);
        }
        if lease_duration <= renew_deadline {
            return Err(TimingError::RenewDeadline);
        }
        if renew_deadline.saturating_mul(10) <= retry_period.saturating_mul(JITTER_TENTHS) {
            return Err(TimingError::RetryPeriod);
        }
        Ok(Timing { lease_duration, renew_deadline, retry_period })
    }

    /// Returns the time that candidates wait after the last observed change of the Lease before they take over.
    pub fn lease_duration(&self) -> Duration {
        self.lease_duration
    }

    /// Returns the time after its last successful renewal at which the leader stops.
    pub fn renew_deadline(&self) -> Duration {
        self.renew_deadline
    }

    /// Returns the delay between two attempts. Candidates add a random delay of up to 1.2 times the period: 2 s to 4.4
    /// s by default.
    pub fn retry_period(&self) -> Duration {
        self.retry_period
    }

    /// Returns the timeout of one request: half the renew deadline, at least 1 s (CM-21).
    pub fn request_timeout(&self) -> Duration {
        (self.renew_deadline / 2).max(Duration::from_secs(1))
    }

    /// Returns the timeouts for the client that renews the Lease. They are short enough to detect a silently dropped
    /// connection before the lease is lost: by default 5 s per request and connection, and 2 s each for the interval
    /// and the timeout of HTTP/2 pings.
    ///
    /// A renewal on a dead connection fails within half of the time between retry period and renew deadline, which
    /// leaves the other half for a renewal on a new connection. client-go limits the request only; its HTTP/2 pings
    /// have the general interval of 30 s and timeout of 15 s.
    pub fn timeouts(&self) -> Timeouts {
        let request = self.request_timeout();
        let ping = (self.renew_deadline.saturating_sub(self.retry_period) / 4).min(self.renew_deadline / 5);
        Timeouts { request, connect: request, ping_interval: ping, ping_timeout: ping }
    }

    /// Returns `leaseDurationSeconds` of the Lease, rounded up. client-go rounds down, with which candidates would take
    /// over before the lease duration has passed.
    pub(crate) fn lease_seconds(&self) -> i32 {
        let round_up = u64::from(self.lease_duration.subsec_nanos() > 0);
        i32::try_from(self.lease_duration.as_secs().saturating_add(round_up)).unwrap_or(i32::MAX)
    }
}

impl Default for Timing {
    /// Lease duration 15 s, renew deadline 10 s, retry period 2 s, as in client-go.
    fn default() -> Self {
        Timing {
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case(15_000, 10_000, 2_000, Ok(()))]
    #[case(15_000, 15_000, 2_000, Err(TimingError::RenewDeadline))]
    #[case(15_000, 2_400, 2_000, Err(TimingError::RetryPeriod))]
    #[case(15_000, 2_401, 2_000, Ok(()))]
    #[case(15_000, 10_000, 0, Err(TimingError::Zero))]
    fn timing_is_validated_as_in_client_go(
        #[case] lease: u64,
        #[case] renew: u64,
        #[case] retry: u64,
        #[case] expected: Result<(), TimingError>,
    ) {
        let [lease, renew, retry] = [lease, renew, retry].map(Duration::from_millis);
        assert_eq!(Timing::new(lease, renew, retry).map(drop), expected);
    }

    #[test]
    fn default_timeouts_detect_a_dead_connection_within_4_seconds() {
        let [two, five] = [2, 5].map(Duration::from_secs);
        let expect = Timeouts { request: five, connect: five, ping_interval: two, ping_timeout: two };
        assert_eq!(Timing::default().timeouts(), expect);
    }

    proptest! {
        /// Worst case: the connection dies just before a renewal, which is sent one retry period after the previous
        /// one.
        #[test]
        fn dead_connection_leaves_time_to_renew(lease in 2..60_000_u64, renew in 2..60_000_u64, retry in 1..60_000_u64) {
            let [lease, renew, retry] = [lease, renew, retry].map(Duration::from_millis);
            let Ok(timing) = Timing::new(lease, renew, retry) else { return Ok(()) };
            let Timeouts { ping_interval, ping_timeout, .. } = timing.timeouts();
            prop_assert!(!ping_interval.is_zero() && !ping_timeout.is_zero());
            prop_assert!(retry + ping_interval + ping_timeout < renew);
        }
    }

    #[test]
    fn default_timing_is_valid() {
        let timing = Timing::default();
        assert_eq!(Timing::new(timing.lease_duration, timing.renew_deadline, timing.retry_period), Ok(timing));
    }
}
