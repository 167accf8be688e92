//! Choice of the encoding to request. The current time is an argument.

use std::time::Duration;

use kube_wire::Encoding;
use tokio::time::Instant;

/// Time for which JSON is requested after the first failure of protobuf. Each further failure doubles it.
const FIRST_FALLBACK: Duration = Duration::from_secs(600);
/// Maximum time for which JSON is requested before protobuf is tried again.
const MAX_FALLBACK: Duration = Duration::from_secs(24 * 60 * 60);

/// Choice between the preferred encoding and a temporary fallback to JSON.
///
/// The fallback is temporary because a server may be upgraded, and because one response that was damaged in transit
/// says little about the next. It lasts 10 min at first and twice as long after each further failure, up to 24 h. A
/// failure after the preferred encoding has worked for as long as the last fallback counts as the first.
#[derive(Debug)]
pub(super) struct Negotiation {
    preferred: Encoding,
    /// When to try the preferred encoding again; `None` while it is requested.
    retry: Option<Instant>,
    /// When the last fallback ended.
    since: Option<Instant>,
    /// Duration of the last fallback.
    fallback: Duration,
}

impl Negotiation {
    pub(super) fn new(preferred: Encoding) -> Self {
        Self { preferred, retry: None, since: None, fallback: Duration::ZERO }
    }

    pub(super) fn requested(&self) -> Encoding {
        if self.retry.is_some() { Encoding::Json } else { self.preferred }
    }

    /// Starts a fallback to JSON. Returns `false` if JSON is requested already.
    pub(super) fn fall_back(&mut self, now: Instant) -> bool {
        if self.requested() == Encoding::Json {
            return false;
        }
        let worked = self.since.is_none_or(|since| now.saturating_duration_since(since) >= self.fallback);
        self.fallback = if worked { FIRST_FALLBACK } else { (self.fallback * 2).min(MAX_FALLBACK) };
        self.retry = Some(now + self.fallback);
        true
    }

    /// Ends a fallback whose time is over. Called between lists and watches.
    pub(super) fn retry(&mut self, now: Instant) {
        if self.retry.is_some_and(|retry| now >= retry) {
            self.retry = None;
            self.since = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "an arbitrary point in time to count from")]
    fn epoch() -> Instant {
        Instant::from_std(std::time::Instant::now())
    }

    /// Simulates failures at the given minutes; returns the minutes in which a fallback ended, at one check per minute.
    fn retries(failures: impl IntoIterator<Item = u64>, minutes: u64) -> Vec<u64> {
        let failures: BTreeSet<_> = failures.into_iter().collect();
        let (mut negotiation, epoch, mut retries) = (Negotiation::new(Encoding::Protobuf), epoch(), Vec::new());
        for minute in 0..minutes {
            let now = epoch + Duration::from_secs(minute * 60);
            let before = negotiation.requested();
            negotiation.retry(now);
            if negotiation.requested() != before {
                retries.push(minute);
            }
            if failures.contains(&minute) {
                negotiation.fall_back(now);
            }
        }
        retries
    }

    #[rstest]
    #[case::once(&[5], &[15])]
    #[case::at_each_retry(&[0, 10, 30, 70], &[10, 30, 70, 150])]
    #[case::soon_after_each_retry(&[0, 11, 35], &[10, 31, 75])]
    #[case::after_it_worked(&[0, 20, 40], &[10, 30, 50])]
    #[case::never(&[], &[])]
    fn protobuf_is_requested_again_after_the_fallback(#[case] failures: &[u64], #[case] expect: &[u64]) {
        assert_eq!(retries(failures.iter().copied(), 200), expect);
    }

    #[test]
    fn protobuf_is_requested_again_at_least_daily() {
        let retries = retries(0..20_000, 20_000);
        assert_eq!(retries[..4], [10, 30, 70, 150]);
        assert_eq!(retries.windows(2).map(|pair| pair[1] - pair[0]).max(), Some(24 * 60));
    }

    #[test]
    fn preferred_json_has_no_fallback() {
        let mut negotiation = Negotiation::new(Encoding::Json);
        assert!(!negotiation.fall_back(epoch()));
        assert_eq!(negotiation.requested(), Encoding::Json);
    }

    proptest! {
        #[test]
        fn fallbacks_last_at_least_ten_minutes(failures in prop::collection::vec(0..2_000u64, 0..500)) {
            let retries = retries(failures, 2_000);
            for pair in retries.windows(2) {
                prop_assert!(pair[1] - pair[0] >= 10, "{retries:?}");
            }
        }
    }
}
