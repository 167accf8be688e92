//! When failed keys are synced again.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

/// Shortest time between two syncs that events cause while their key waits for a retry.
const EVENT_INTERVAL: Duration = Duration::from_secs(1);

/// Waits of the keys whose last sync failed.
///
/// An event does not wait for the retry of its key: the key is synced at once. If that fails, nothing is counted, and
/// the retry stays due when it was. While events keep coming, they cause one sync per second.
#[derive(Debug)]
pub(crate) struct BackOffs<K>(HashMap<K, BackOff>);

#[derive(Clone, Copy, Debug)]
struct BackOff {
    /// Time of the next retry.
    due: Instant,
    /// Whether the key used up its retries, so that `due` is a slow retry.
    exhausted: bool,
    /// Time of the last failure before `due`.
    early: Option<Instant>,
}

/// What a failure means for the back-off of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It counts.
    Counts,
    /// It was a slow retry, so the key stays out of retries.
    Slow,
    /// An event caused the sync before the retry was due, so it does not count. The retry is due after this time.
    Early(Duration),
}

impl<K> Default for BackOffs<K> {
    fn default() -> Self {
        BackOffs(HashMap::new())
    }
}

impl<K: Eq + Hash> BackOffs<K> {
    /// Returns for how long a key is not synced: a sync that an earlier event caused failed within the last second.
    pub(crate) fn hold(&self, key: &K, now: Instant) -> Option<Duration> {
        let back_off = self.0.get(key)?;
        let until = (back_off.early? + EVENT_INTERVAL).min(back_off.due);
        until.checked_duration_since(now).filter(|wait| !wait.is_zero())
    }

    /// Records a failed sync. Unless the failure is [`Failure::Early`], [`wait`](Self::wait) must follow.
    pub(crate) fn failed(&mut self, key: &K, now: Instant) -> Failure {
        let Some(back_off) = self.0.get_mut(key) else { return Failure::Counts };
        match back_off.due.checked_duration_since(now).filter(|wait| !wait.is_zero()) {
            None if back_off.exhausted => Failure::Slow,
            None => Failure::Counts,
            Some(wait) => {
                back_off.early = Some(now);
                // The event may have removed the cause of the failures, so an exhausted key gets new retries, as
                // upstream.
                if back_off.exhausted { Failure::Counts } else { Failure::Early(wait) }
            }
        }
    }

    /// Sets the time of the next retry of a key, and whether its retries are used up.
    pub(crate) fn wait(&mut self, key: K, due: Instant, exhausted: bool) {
        let back_off = self.0.entry(key).or_insert(BackOff { due, exhausted, early: None });
        (back_off.due, back_off.exhausted) = (due, exhausted);
    }

    /// Removes a key whose sync succeeded.
    pub(crate) fn forget(&mut self, key: &K) {
        self.0.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(start: Instant, millis: u64) -> Instant {
        start + Duration::from_millis(millis)
    }

    #[test]
    fn only_failures_of_due_retries_count() {
        let (mut back_offs, start) = (BackOffs::default(), Instant::now());
        assert_eq!(back_offs.failed(&"web", start), Failure::Counts);
        back_offs.wait("web", after(start, 8_000), false);
        for at in [0, 100, 7_999] {
            let left = Duration::from_millis(8_000 - at);
            assert_eq!(back_offs.failed(&"web", after(start, at)), Failure::Early(left));
        }
        assert_eq!(back_offs.failed(&"web", after(start, 8_000)), Failure::Counts);
        assert_eq!(back_offs.failed(&"shop", start), Failure::Counts, "keys are independent");
        back_offs.forget(&"web");
        assert!(back_offs.0.is_empty());
    }

    #[test]
    fn events_cause_one_failure_per_second() {
        let (mut back_offs, start) = (BackOffs::default(), Instant::now());
        back_offs.wait("web", after(start, 8_000), false);
        assert_eq!(back_offs.hold(&"web", start), None, "the first event is not delayed");
        back_offs.failed(&"web", after(start, 500));
        assert_eq!(back_offs.hold(&"web", after(start, 600)), Some(Duration::from_millis(900)));
        assert_eq!(back_offs.hold(&"web", after(start, 1_500)), None);
        back_offs.failed(&"web", after(start, 7_500));
        assert_eq!(back_offs.hold(&"web", after(start, 7_900)), Some(Duration::from_millis(100)), "until the retry");
        assert_eq!(back_offs.hold(&"web", after(start, 8_000)), None);
        assert_eq!(back_offs.hold(&"shop", start), None);
    }

    #[test]
    fn an_event_gives_an_exhausted_key_new_retries() {
        let (mut back_offs, start) = (BackOffs::default(), Instant::now());
        back_offs.wait("web", after(start, 8_000), true);
        assert_eq!(back_offs.failed(&"web", after(start, 8_000)), Failure::Slow);
        assert_eq!(back_offs.failed(&"web", after(start, 4_000)), Failure::Counts);
    }
}
