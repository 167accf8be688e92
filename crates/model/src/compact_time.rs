//! Times in half the memory of a [`Timestamp`].

use std::fmt;
use std::num::NonZeroI64;

use jiff::Timestamp;

/// A time in microseconds. It takes 8 bytes, also in an [`Option`]; a [`Timestamp`] takes 16 and 24.
///
/// Fractions of a microsecond are dropped: the API server serves `metav1.Time` in whole seconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CompactTime(NonZeroI64);

const _: () = assert!(size_of::<Option<CompactTime>>() == 8);

/// Added to the microseconds since 1970. All years of a [`Timestamp`], -9999 to 9999, are less than 2^59 microseconds
/// from 1970, so that the sum is positive.
const OFFSET: i64 = 1 << 60;

impl CompactTime {
    /// Returns the time as a [`Timestamp`].
    pub fn timestamp(self) -> Timestamp {
        Timestamp::from_microsecond(self.0.get() - OFFSET).unwrap_or(Timestamp::MAX)
    }
}

impl Default for CompactTime {
    /// Returns the beginning of 1970.
    fn default() -> Self {
        Timestamp::UNIX_EPOCH.into()
    }
}

impl From<Timestamp> for CompactTime {
    fn from(time: Timestamp) -> Self {
        Self(NonZeroI64::new(OFFSET + time.as_microsecond()).unwrap_or(NonZeroI64::MAX))
    }
}

impl fmt::Debug for CompactTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.timestamp().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::first(Timestamp::MIN)]
    #[case::epoch(Timestamp::UNIX_EPOCH)]
    #[case::before_the_epoch("1969-12-31T23:59:59.5Z".parse().unwrap())]
    #[case::zero_of_go("0001-01-01T00:00:00Z".parse().unwrap())]
    #[case::microseconds("2026-02-03T04:00:00.123456Z".parse().unwrap())]
    fn times_are_kept_in_their_order(#[case] time: Timestamp) {
        let compact = CompactTime::from(time);
        assert_eq!((compact.timestamp(), format!("{compact:?}")), (time, time.to_string()));
        assert!(compact < CompactTime::from(time + jiff::SignedDuration::from_micros(1)));
    }

    #[test]
    fn nanoseconds_are_dropped() {
        let time: Timestamp = "2026-02-03T04:00:00.123456789Z".parse().unwrap();
        assert_eq!(CompactTime::from(time).timestamp().to_string(), "2026-02-03T04:00:00.123456Z");
        assert!(CompactTime::from(Timestamp::MAX) > CompactTime::from(time));
    }
}
