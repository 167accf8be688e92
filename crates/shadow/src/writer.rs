//! Whether the program that writes the compared objects runs, from the renewals of its Lease.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

/// Maximum time between two readings of the Lease.
pub(crate) const LEASE_PERIOD: Duration = Duration::from_secs(10);
/// Minimum time between two readings of the Lease.
const MIN_LEASE_PERIOD: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LeaseReading {
    Lease {
        /// `spec.holderIdentity`; empty if the Lease is released.
        holder: String,
        /// `spec.renewTime`.
        renewed: Option<Timestamp>,
        /// `spec.leaseDurationSeconds`.
        duration: Duration,
    },
    /// The Lease does not exist or may not be read.
    Unavailable,
}

impl LeaseReading {
    /// Returns the time until the next reading: at most half of the duration of the Lease, so that a gap between
    /// renewals is seen.
    pub(crate) fn period(&self) -> Duration {
        match self {
            LeaseReading::Lease { duration, .. } => (*duration / 2).clamp(MIN_LEASE_PERIOD, LEASE_PERIOD),
            LeaseReading::Unavailable => LEASE_PERIOD,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriterState {
    /// There is no Lease to read: time alone decides.
    Unknown,
    /// The Lease is not renewed, or has not been read twice yet.
    Stalled,
    /// The Lease is renewed by one holder.
    Running {
        /// Time of the first reading since which the same holder has renewed it without a gap.
        since: Instant,
        /// Time of the last reading with a new renewal.
        renewed: Instant,
    },
}

/// Follows the renewals of the writer's Lease.
///
/// A writer that stalls while its Lease is renewed cannot be told apart from one that writes something else.
#[derive(Debug)]
pub(crate) struct Writer {
    /// Whether there is a Lease to read.
    is_followed: bool,
    observed: Option<Observed>,
}

#[derive(Debug)]
struct Observed {
    holder: String,
    renewed: Option<Timestamp>,
    duration: Duration,
    /// Time of the last reading.
    read: Instant,
    /// Time of the last reading with a new renewal.
    seen: Instant,
    /// Start of the renewals without a gap; `None` while stalled.
    since: Option<Instant>,
}

impl Writer {
    pub(crate) fn new(is_followed: bool) -> Writer {
        Writer { is_followed, observed: None }
    }

    /// Stores a reading. A failed request is not a reading: without a later one, the writer counts as stalled.
    pub(crate) fn observe(&mut self, now: Instant, reading: LeaseReading) {
        let LeaseReading::Lease { holder, renewed, duration } = reading else {
            self.is_followed = false;
            self.observed = None;
            return;
        };
        self.is_followed = true;
        let Some(last) = &mut self.observed else {
            self.observed = Some(Observed { holder, renewed, duration, read: now, seen: now, since: None });
            return;
        };
        let unread = now.saturating_duration_since(last.read);
        last.read = now;
        if renewed == last.renewed && holder == last.holder {
            if now.saturating_duration_since(last.seen) > duration {
                last.since = None;
            }
            return;
        }
        // Renewals since the last reading are not seen, and writers renew at least twice in the duration: a late reading alone
        // explains no longer time than this.
        let longest = duration.max(unread + duration / 2);
        let has_gap = match (last.renewed, renewed) {
            (Some(before), Some(after)) => {
                Duration::try_from(after.duration_since(before)).is_ok_and(|it| it > longest)
            }
            _ => true,
        };
        let is_same = holder == last.holder && !holder.is_empty() && !has_gap;
        let since = if is_same { last.since.or(Some(now)) } else { Some(now) };
        let since = since.filter(|_| !holder.is_empty());
        *last = Observed { holder, renewed, duration, read: now, seen: now, since };
    }

    pub(crate) fn state(&self, now: Instant) -> WriterState {
        if !self.is_followed {
            return WriterState::Unknown;
        }
        let Some(Observed { duration, seen, since: Some(since), .. }) = &self.observed else {
            return WriterState::Stalled;
        };
        // Two periods or more: one reading may fail.
        if now.saturating_duration_since(*seen) > (*duration).max(2 * LEASE_PERIOD) {
            return WriterState::Stalled;
        }
        WriterState::Running { since: *since, renewed: *seen }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::short(1, 1_000)]
    #[case::of_tests(5, 2_500)]
    #[case::default(15, 7_500)]
    #[case::long(60, 10_000)]
    fn the_lease_is_read_twice_in_its_duration(#[case] seconds: u64, #[case] period: u64) {
        let duration = Duration::from_secs(seconds);
        let reading = LeaseReading::Lease { holder: String::new(), renewed: None, duration };
        assert_eq!(reading.period(), Duration::from_millis(period));
    }
}
