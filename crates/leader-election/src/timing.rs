//! How long a lease is held, and how often it is renewed.

use std::time::Duration;

use kube_controller_client::Timeouts;

/// How long a Lease is held and how often it is renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    lease_duration: Duration,
    renew_deadline: Duration,
    retry_period: Duration,
}

/// Why a timing makes no election (CM-22).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimingError {
    /// The leader might still believe to lead when others already may.
    #[error("the lease duration must be greater than the renew deadline")]
    RenewDeadline,
    /// The leader might not get to try again before its deadline.
    #[error("the renew deadline must be greater than the retry period times 1.2")]
    RetryPeriod,
    /// Nothing happens in no time.
    #[error("lease duration, renew deadline and retry period must be greater than zero")]
    Zero,
}

/// Retries are spread by up to this factor, in tenths.
const JITTER_TENTHS: u32 = 12;

impl Timing {
    /// A timing that holds the rules of client-go.
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

    /// How long others wait after the last renewal they saw before they take over.
    pub fn lease_duration(&self) -> Duration {
        self.lease_duration
    }

    /// How long the leader goes on after its last successful renewal.
    pub fn renew_deadline(&self) -> Duration {
        self.renew_deadline
    }

    /// How long everyone waits between two tries; candidates add up to 1.2 times as much.
    pub fn retry_period(&self) -> Duration {
        self.retry_period
    }

    /// How long an answer to one request is waited for: half the renew deadline, and at least a second (CM-21).
    pub fn request_timeout(&self) -> Duration {
        (self.renew_deadline / 2).max(Duration::from_secs(1))
    }

    /// Timeouts for the client that renews the Lease, so that a connection which dies without a word does not cost the lease.
    ///
    /// A dead connection fails a renewal within half of what lies between the retry period and the renew deadline, which
    /// leaves the other half to renew on a new one. client-go bounds the request alone, and its connections keep HTTP/2
    /// pings of 30 and 15 s.
    pub fn timeouts(&self) -> Timeouts {
        let request = self.request_timeout();
        let ping = (self.renew_deadline.saturating_sub(self.retry_period) / 4).min(self.renew_deadline / 5);
        Timeouts { request, connect: request, ping_interval: ping, ping_timeout: ping }
    }

    /// The lease duration as it stands in the Lease: whole seconds, rounded up. Upstream rounds down, and others would
    /// then take over before the duration is over.
    pub(crate) fn lease_seconds(&self) -> i32 {
        let up = u64::from(self.lease_duration.subsec_nanos() > 0);
        i32::try_from(self.lease_duration.as_secs().saturating_add(up)).unwrap_or(i32::MAX)
    }
}

impl Default for Timing {
    /// 15 s, 10 s and 2 s, as upstream.
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
    fn rules(#[case] lease: u64, #[case] renew: u64, #[case] retry: u64, #[case] expected: Result<(), TimingError>) {
        let [lease, renew, retry] = [lease, renew, retry].map(Duration::from_millis);
        assert_eq!(Timing::new(lease, renew, retry).map(drop), expected);
    }

    #[test]
    fn the_default_notices_a_dead_connection_within_four_seconds() {
        let [two, five] = [2, 5].map(Duration::from_secs);
        let expect = Timeouts { request: five, connect: five, ping_interval: two, ping_timeout: two };
        assert_eq!(Timing::default().timeouts(), expect);
    }

    proptest! {
        /// A renewal is sent up to one retry period after the last; its connection may have died just before.
        #[test]
        fn a_dead_connection_leaves_time_to_renew(lease in 2..60_000_u64, renew in 2..60_000_u64, retry in 1..60_000_u64) {
            let [lease, renew, retry] = [lease, renew, retry].map(Duration::from_millis);
            let Ok(timing) = Timing::new(lease, renew, retry) else { return Ok(()) };
            let Timeouts { ping_interval, ping_timeout, .. } = timing.timeouts();
            prop_assert!(!ping_interval.is_zero() && !ping_timeout.is_zero());
            prop_assert!(retry + ping_interval + ping_timeout < renew);
        }
    }

    #[test]
    fn the_default_holds_the_rules() {
        let timing = Timing::default();
        assert_eq!(Timing::new(timing.lease_duration, timing.renew_deadline, timing.retry_period), Ok(timing));
    }
}
