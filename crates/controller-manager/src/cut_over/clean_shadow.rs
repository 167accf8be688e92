//! `--require-clean-shadow`: a new leader compares before it writes.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;
use kube_wire::ObjectKey;
use tokio::time::Instant;

/// Comparison of the controllers' plans with what another program writes.
pub(super) trait Comparison {
    /// Returns the time for which there has been no mismatch; `None` while there is one, and before the first comparison.
    fn clean_for(&self, now: Instant) -> Option<Duration>;
}

/// Time after which a difference is a mismatch: the other program needs time to write, too.
const SETTLED: Duration = Duration::from_secs(30);

/// The Services whose plans are not empty.
#[derive(Debug, Default)]
pub(super) struct Differences {
    /// Time at which each difference was first seen.
    open: HashMap<(&'static str, ObjectKey), Instant>,
    /// End of the last mismatch; the first comparison if there was none.
    clean_since: Option<Instant>,
}

impl Differences {
    /// Records one comparison.
    pub(super) fn compared(&mut self, now: Instant, controller: &'static str, key: &ObjectKey, differs: bool) {
        self.clean_since.get_or_insert(now);
        if differs {
            self.open.entry((controller, key.clone())).or_insert(now);
        } else if self.open.remove(&(controller, key.clone())).is_some_and(|since| is_mismatch(since, now)) {
            self.clean_since = Some(now);
        }
    }

    /// Returns the number of mismatches.
    pub(super) fn mismatches(&self, now: Instant) -> usize {
        self.open.values().filter(|since| is_mismatch(**since, now)).count()
    }
}

fn is_mismatch(since: Instant, now: Instant) -> bool {
    since + SETTLED <= now
}

impl Comparison for Differences {
    fn clean_for(&self, now: Instant) -> Option<Duration> {
        let since = self.clean_since.filter(|_| self.mismatches(now) == 0)?;
        Some(now.saturating_duration_since(since))
    }
}

/// Annotation of the Lease: version of the program whose comparison was clean, and the time. A later leader of the same
/// version writes at once.
pub(super) const ANNOTATION: &str = "kube-endpoints.github.io/clean-shadow";

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the value of the annotation for this program.
pub(super) fn evidence(now: Timestamp) -> String {
    format!("{VERSION} {now:.0}")
}

/// Returns whether the value of the annotation is evidence for this program.
pub(super) fn is_evidence(value: &str) -> bool {
    value.split_once(' ').is_some_and(|(version, _)| version == VERSION)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// Comparisons of one key at these seconds, and the seconds for which the comparison is clean at second 100.
    #[rstest]
    #[case::none(&[], None)]
    #[case::equal(&[(10, false), (50, false)], Some(90))]
    #[case::writer_is_slower(&[(10, true), (39, false)], Some(90))]
    #[case::mismatch_ended(&[(10, true), (40, false)], Some(60))]
    #[case::not_settled(&[(10, false), (71, true)], Some(90))]
    #[case::open(&[(10, false), (70, true), (80, true)], None)]
    fn a_lasting_difference_is_a_mismatch(#[case] compared: &[(u64, bool)], #[case] expected: Option<u64>) {
        let (mut differences, start) = (Differences::default(), Instant::now());
        for (at, differs) in compared {
            differences.compared(start + seconds(*at), "test", &ObjectKey::new("shop", "web"), *differs);
        }
        assert_eq!(differences.clean_for(start + seconds(100)), expected.map(seconds));
    }

    #[rstest]
    #[case::own(evidence(Timestamp::UNIX_EPOCH), true)]
    #[case::other_version("0.0.1-other 2026-01-01T00:00:00Z".to_owned(), false)]
    #[case::no_time(VERSION.to_owned(), false)]
    #[case::empty(String::new(), false)]
    fn evidence_holds_for_one_version(#[case] value: String, #[case] expected: bool) {
        assert_eq!(is_evidence(&value), expected);
    }
}
