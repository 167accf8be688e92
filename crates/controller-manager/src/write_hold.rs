//! Reasons for which the controllers withhold their writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use kube_controller_client::Verdict;
use prometheus::IntGaugeVec;

/// Reason for which the controllers withhold their writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HoldReason {
    /// Another controller writes the same objects, and `--on-second-writer` is `yield`.
    SecondWriter,
    /// The comparison before the first write has not been clean for long enough.
    NotCleanYet,
    /// A new leader planned too many writes that no change explains.
    UnexplainedWrites,
}

impl HoldReason {
    const ALL: [HoldReason; 3] = [HoldReason::SecondWriter, HoldReason::NotCleanYet, HoldReason::UnexplainedWrites];

    /// Returns the value of the label `reason`.
    pub(crate) fn label(self) -> &'static str {
        match self {
            HoldReason::SecondWriter => "second_writer",
            HoldReason::NotCleanYet => "not_clean_yet",
            HoldReason::UnexplainedWrites => "unexplained_writes",
        }
    }

    fn bit(self) -> u8 {
        match self {
            HoldReason::SecondWriter => 1,
            HoldReason::NotCleanYet => 1 << 1,
            HoldReason::UnexplainedWrites => 1 << 2,
        }
    }

    /// Returns the delay after which a key with withheld writes is synced again; `None` if the reason lasts until the
    /// process ends.
    fn sync_again(self) -> Option<Duration> {
        match self {
            HoldReason::SecondWriter => Some(Duration::from_secs(5)),
            // The end of the comparison enqueues the keys.
            HoldReason::NotCleanYet | HoldReason::UnexplainedWrites => None,
        }
    }
}

/// The set of reasons for which the controllers withhold their writes; empty at first. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteHold {
    reasons: Arc<AtomicU8>,
    /// `endpoint_controllers_writes_withheld`, labelled `reason`.
    gauge: Option<IntGaugeVec>,
}

impl WriteHold {
    /// Returns a hold without reasons. `gauge` is set to 0 for each reason, and then follows the set.
    pub(crate) fn new(gauge: Option<IntGaugeVec>) -> WriteHold {
        for (gauge, reason) in gauge.iter().flat_map(|gauge| HoldReason::ALL.map(|reason| (gauge, reason))) {
            gauge.with_label_values(&[reason.label()]).set(0);
        }
        WriteHold { reasons: Arc::default(), gauge }
    }

    /// Adds a reason, or removes it. Returns whether that changed the set.
    pub(crate) fn set(&self, reason: HoldReason, held: bool) -> bool {
        let before = if held {
            self.reasons.fetch_or(reason.bit(), Ordering::SeqCst)
        } else {
            self.reasons.fetch_and(!reason.bit(), Ordering::SeqCst)
        };
        if let Some(gauge) = &self.gauge {
            gauge.with_label_values(&[reason.label()]).set(held.into());
        }
        (before & reason.bit() != 0) != held
    }

    /// Returns whether this is one of the reasons.
    pub(crate) fn has(&self, reason: HoldReason) -> bool {
        self.reasons.load(Ordering::SeqCst) & reason.bit() != 0
    }

    /// Returns the labels of the reasons.
    pub(crate) fn labels(&self) -> Vec<&'static str> {
        HoldReason::ALL.into_iter().filter(|reason| self.has(*reason)).map(HoldReason::label).collect()
    }

    /// Returns whether there is a reason. Costs one atomic load.
    pub(crate) fn is_held(&self) -> bool {
        self.reasons.load(Ordering::SeqCst) != 0
    }

    /// Returns the verdict about writes: [`Verdict::Withhold`] while there is a reason.
    pub(crate) fn verdict(&self) -> Verdict {
        let reasons = self.reasons.load(Ordering::SeqCst);
        if reasons == 0 {
            return Verdict::Send;
        }
        let held = HoldReason::ALL.into_iter().filter(|reason| reasons & reason.bit() != 0);
        Verdict::Withhold { sync_again: held.filter_map(HoldReason::sync_again).min() }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn withheld(seconds: Option<u64>) -> Verdict {
        Verdict::Withhold { sync_again: seconds.map(Duration::from_secs) }
    }

    #[rstest]
    #[case::none(&[], Verdict::Send)]
    #[case::second_writer(&[HoldReason::SecondWriter], withheld(Some(5)))]
    #[case::for_good(&[HoldReason::NotCleanYet], withheld(None))]
    #[case::several(&[HoldReason::UnexplainedWrites, HoldReason::SecondWriter], withheld(Some(5)))]
    fn writes_are_withheld_while_there_is_a_reason(#[case] reasons: &[HoldReason], #[case] expected: Verdict) {
        let hold = WriteHold::default();
        for reason in reasons {
            assert!(hold.set(*reason, true) && hold.has(*reason));
            assert!(!hold.set(*reason, true), "{reason:?} is set already");
        }
        assert_eq!(hold.is_held(), !reasons.is_empty());
        assert_eq!(hold.verdict(), expected);
        for reason in reasons {
            assert!(hold.clone().set(*reason, false), "clones share the set");
        }
        assert!(!hold.is_held());
    }

    #[test]
    fn the_gauge_has_each_reason() {
        let gauge = IntGaugeVec::new(prometheus::Opts::new("withheld", "help"), &["reason"]).unwrap();
        let hold = WriteHold::new(Some(gauge.clone()));
        hold.set(HoldReason::SecondWriter, true);
        let values = HoldReason::ALL.map(|reason| gauge.with_label_values(&[reason.label()]).get());
        assert_eq!(values, [1, 0, 0]);
    }
}
