//! Changes of the slices of one Service, and the times from a change of an object to its slice.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use kube_endpoint_model::{Pod, Text};

use super::counts::Counts;

/// Period over which the rate is counted.
const RATE_WINDOW: Duration = Duration::from_secs(60);

/// Number of samples in the median; older ones are dropped.
const SAMPLES: usize = 128;

/// Number of changes in the log; older ones are dropped.
const LOGGED: usize = 50;

/// Time after which a slice event is no longer attributed to a change of the Service. Not every change of a Service
/// changes its slices, and the slices do not show which one did.
const SERVICE_WAIT: Duration = Duration::from_secs(30);

/// What happened to a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Created, or given to this Service by its label.
    Created,
    /// Updated.
    Updated,
    /// Deleted, or taken from this Service by its label.
    Deleted,
}

impl Operation {
    /// Returns the word of the log.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Operation::Created => "created",
            Operation::Updated => "updated",
            Operation::Deleted => "deleted",
        }
    }
}

/// Change of a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SliceChange {
    /// Time of the event.
    pub(crate) time: Timestamp,
    /// What happened.
    pub(crate) operation: Operation,
    /// Name of the slice.
    pub(crate) slice: Text,
    /// Endpoints before the change; zero for a created slice.
    pub(crate) before: Counts,
    /// Endpoints after the change; zero for a deleted slice.
    pub(crate) after: Counts,
    /// Time since the event of the change that it shows; `None` if that was not observed.
    pub(crate) latency: Option<Duration>,
}

/// Times from a change to its slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Latency {
    /// Median of the last 128 samples.
    pub(crate) p50: Duration,
    /// Last sample.
    pub(crate) last: Duration,
}

/// Change of a Pod that the slices do not show yet.
#[derive(Debug)]
struct Waiting {
    /// Time of the first event.
    since: Duration,
    /// Last state of the Pod; `None` if the Service does not select it any more.
    pod: Option<Arc<Pod>>,
}

/// Changes of the slices of one Service. Times are durations since the start of the program.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    changes: u64,
    recent: VecDeque<Duration>,
    service_changed: Option<Duration>,
    pods: BTreeMap<Text, Waiting>,
    samples: VecDeque<Duration>,
    log: VecDeque<SliceChange>,
}

impl Activity {
    /// Starts the measurement for a change of the Service, unless one is under way.
    pub(crate) fn service_changed(&mut self, at: Duration) {
        self.service_changed.get_or_insert(at);
    }

    /// Starts the measurement for a change of a Pod, or updates the state that the slices have to show. `pod` is `None`
    /// if the Service does not select it any more.
    pub(crate) fn pod_changed(&mut self, name: Text, pod: Option<Arc<Pod>>, at: Duration) {
        let since = self.pods.get(&name).map_or(at, |waiting| waiting.since);
        self.pods.insert(name, Waiting { since, pod });
    }

    /// Ends the measurement for a Pod without a sample.
    pub(crate) fn forget_pod(&mut self, name: &str) {
        self.pods.remove(name);
    }

    /// Returns whether a change of a Pod is not in the slices yet.
    pub(crate) fn waits_for_pods(&self) -> bool {
        !self.pods.is_empty()
    }

    /// Returns the number of Pods whose change is not in the slices yet, and the time of the oldest one; `None` if there
    /// is no such Pod.
    pub(crate) fn oldest_waiting(&self) -> Option<(usize, Duration)> {
        self.pods.values().map(|waiting| waiting.since).min().map(|since| (self.pods.len(), since))
    }

    /// Ends the measurements of the changes that the slices show at `at`, and returns the time of the earliest one. That
    /// is a change of the Service in the last 30 s, or of a Pod for which `shown` returns true.
    pub(crate) fn settle(&mut self, at: Duration, shown: impl Fn(&Text, Option<&Pod>) -> bool) -> Option<Duration> {
        let mut first = self.service_changed.take().filter(|since| at.saturating_sub(*since) <= SERVICE_WAIT);
        self.pods.retain(|name, waiting| {
            let shown = shown(name, waiting.pod.as_deref());
            if shown {
                first = Some(first.map_or(waiting.since, |first| first.min(waiting.since)));
            }
            !shown
        });
        first
    }

    /// Records a change of a slice.
    pub(crate) fn record(&mut self, change: SliceChange, at: Duration) {
        self.changes += 1;
        while self.recent.front().is_some_and(|time| !is_recent(*time, at)) {
            self.recent.pop_front();
        }
        self.recent.push_back(at);
        if let Some(latency) = change.latency {
            push(&mut self.samples, latency, SAMPLES);
        }
        push(&mut self.log, change, LOGGED);
    }

    /// Returns the number of changes since the start.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns the number of changes in the minute before `now`.
    pub(crate) fn per_minute(&self, now: Duration) -> usize {
        self.recent.iter().rev().take_while(|time| is_recent(**time, now)).count()
    }

    /// Returns the times from a change to its slice; `None` without a sample.
    pub(crate) fn latency(&self) -> Option<Latency> {
        let last = *self.samples.back()?;
        let mut sorted: Vec<_> = self.samples.iter().copied().collect();
        let (_, p50, _) = sorted.select_nth_unstable((self.samples.len() - 1) / 2);
        Some(Latency { p50: *p50, last })
    }

    /// Returns the last changes, the newest first.
    pub(crate) fn log(&self) -> impl Iterator<Item = &SliceChange> {
        self.log.iter().rev()
    }
}

fn is_recent(time: Duration, now: Duration) -> bool {
    now.saturating_sub(time) < RATE_WINDOW
}

/// Appends an item; drops the first one if there are more than `limit`.
fn push<T>(items: &mut VecDeque<T>, item: T, limit: usize) {
    items.push_back(item);
    if items.len() > limit {
        items.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const S: fn(u64) -> Duration = Duration::from_secs;

    fn change(latency: Option<u64>) -> SliceChange {
        SliceChange {
            time: Timestamp::UNIX_EPOCH,
            operation: Operation::Updated,
            slice: "web-1".into(),
            before: Counts::default(),
            after: Counts::default(),
            latency: latency.map(Duration::from_millis),
        }
    }

    #[rstest]
    #[case::all(&[1, 2, 3], 10, 3)]
    #[case::those_of_the_last_minute(&[1, 2, 30], 61, 2)]
    #[case::none_any_more(&[1, 2, 30], 90, 0)]
    #[case::old_ones_are_dropped(&[1, 2, 61, 62], 62, 2)]
    fn rate_is_that_of_the_last_minute(#[case] times: &[u64], #[case] now: u64, #[case] expected: usize) {
        let mut activity = Activity::default();
        for time in times {
            activity.record(change(None), S(*time));
        }
        assert_eq!(activity.per_minute(S(now)), expected);
        assert_eq!(activity.changes(), times.len() as u64);
    }

    #[rstest]
    #[case(&[], None)]
    #[case(&[7], Some((7, 7)))]
    #[case(&[9, 1], Some((1, 1)))]
    #[case(&[9, 1, 5], Some((5, 5)))]
    #[case(&[9, 1, 5, 2], Some((2, 2)))]
    #[case(&[1, 2, 3, 100], Some((2, 100)))]
    fn latency_is_the_median_and_the_last(#[case] samples: &[u64], #[case] expected: Option<(u64, u64)>) {
        let mut activity = Activity::default();
        for sample in samples {
            activity.record(change(Some(*sample)), S(1));
        }
        let seen = activity.latency().map(|it| (it.p50, it.last));
        assert_eq!(seen, expected.map(|(p50, last)| (Duration::from_millis(p50), Duration::from_millis(last))));
    }

    #[test]
    fn log_and_samples_are_bounded() {
        let mut activity = Activity::default();
        (0..200).for_each(|at| activity.record(change(Some(at)), S(at)));
        assert_eq!((activity.changes(), activity.log().count()), (200, LOGGED));
        assert_eq!(activity.log().next(), Some(&change(Some(199))));
        let p50 = activity.latency().map(|it| it.p50);
        assert_eq!(p50, Some(Duration::from_millis(135)), "of the samples 72 to 199");
    }

    #[test]
    fn the_earliest_change_that_is_shown_counts() {
        let mut activity = Activity::default();
        activity.pod_changed("b".into(), None, S(2));
        activity.pod_changed("a".into(), None, S(3));
        activity.pod_changed("late".into(), None, S(1));
        activity.pod_changed("b".into(), None, S(4));
        assert_eq!(activity.settle(S(5), |name, _| name != "late"), Some(S(2)));
        assert_eq!(activity.oldest_waiting(), Some((1, S(1))));
        assert_eq!(activity.settle(S(6), |_, _| false), None);
        activity.forget_pod("late");
        assert!(!activity.waits_for_pods());
    }

    #[rstest]
    #[case::soon(31, Some(1))]
    #[case::too_late(32, None)]
    fn changes_of_a_service_count_for_a_while(#[case] at: u64, #[case] expected: Option<u64>) {
        let mut activity = Activity::default();
        activity.service_changed(S(1));
        activity.service_changed(S(20));
        assert_eq!(activity.settle(S(at), |_, _| false), expected.map(S));
        assert_eq!(activity.settle(S(at), |_, _| false), None, "only once");
    }
}
