//! When failed keys are synced again.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use educe::Educe;
use tokio::time::Instant;

/// Delay of the first retry after a failure of the server.
const MIN_SERVER_DELAY: Duration = Duration::from_secs(1);
/// Longest delay of retries after failures of the server.
const MAX_SERVER_DELAY: Duration = Duration::from_secs(60);
/// Shortest time between two syncs that events cause while their key waits for a retry.
const EVENT_INTERVAL: Duration = Duration::from_secs(1);

/// Waits of the keys whose last sync failed.
///
/// An event does not wait for the retry of its key: the key is synced at once. If that fails, nothing is counted, and
/// the retry stays due when it was. While events keep coming, they cause one sync per second.
#[derive(Debug, Educe)]
#[educe(Default(bound(false)))]
pub(crate) struct BackOffs<K> {
    keys: HashMap<K, BackOff>,
    /// Number of keys that were added.
    added: u64,
}

#[derive(Clone, Copy, Debug)]
struct BackOff {
    /// Orders the keys by the time of their first failure.
    number: u64,
    /// Time of the next retry.
    due: Instant,
    /// Whether the key used up its retries, so that `due` is a slow retry.
    exhausted: bool,
    /// Time of the last failure before `due`.
    early: Option<Instant>,
    /// Failures of the server since the last failure of the key itself.
    server: Option<ServerFailures>,
}

#[derive(Clone, Copy, Debug)]
struct ServerFailures {
    count: u32,
    last: Instant,
    suspect: bool,
}

/// What a failure of the server means for the back-off of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ServerFailure {
    /// Whether the key failed before and other keys were written since, so that the failure may be its own.
    pub(crate) suspect: bool,
    /// Time until the retry.
    pub(crate) wait: Duration,
}

/// What a failure means for the back-off of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    Counts,
    /// It was a slow retry, so the key stays out of retries.
    Slow,
    /// An event caused the sync before the retry was due, so it does not count. The retry is due after this time.
    Early(Duration),
}

impl<K: Eq + Hash> BackOffs<K> {
    /// Returns for how long a key is not synced: a sync that an earlier event caused failed within the last second.
    pub(crate) fn hold(&self, key: &K, now: Instant) -> Option<Duration> {
        let back_off = self.keys.get(key)?;
        let until = (back_off.early? + EVENT_INTERVAL).min(back_off.due);
        until.checked_duration_since(now).filter(|wait| !wait.is_zero())
    }

    /// Records a failed sync. Unless the failure is [`Failure::Early`], [`wait`](Self::wait) must follow.
    pub(crate) fn failed(&mut self, key: &K, now: Instant) -> Failure {
        let Some(back_off) = self.keys.get_mut(key) else { return Failure::Counts };
        if back_off.server.take().is_some() {
            return Failure::Counts;
        }
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

    /// Records a sync that the server failed. `last_success` is the time of the last successful write of any key.
    pub(crate) fn server_failed(&mut self, key: K, last_success: Option<Instant>, now: Instant) -> ServerFailure {
        let back_off = self.entry(key, now);
        let waits = now < back_off.due;
        if waits {
            back_off.early = Some(now);
        }
        let (count, suspect) = match back_off.server {
            Some(before) => {
                let suspect = before.suspect || last_success.is_some_and(|success| success > before.last);
                (before.count + u32::from(!waits), suspect)
            }
            None => (0, false),
        };
        if !waits || back_off.server.is_none() {
            let due = now + MIN_SERVER_DELAY.saturating_mul(1 << count.min(8)).min(MAX_SERVER_DELAY);
            back_off.due = if waits { back_off.due.min(due) } else { due };
        }
        back_off.server = Some(ServerFailures { count, last: now, suspect });
        ServerFailure { suspect, wait: back_off.due - now }
    }

    /// Returns the keys that the server failed, which are due now that it works, in the order of their first failures. Suspect keys keep their back-off.
    pub(crate) fn release(&mut self, now: Instant) -> Vec<K>
    where
        K: Clone,
    {
        let failed = self.keys.iter_mut().filter(|(_, it)| it.server.is_some_and(|failures| !failures.suspect));
        let mut failed: Vec<(&K, &mut BackOff)> = failed.collect();
        failed.sort_by_key(|(_, back_off)| back_off.number);
        let due_now = |(key, back_off): (&K, &mut BackOff)| {
            back_off.due = now;
            key.clone()
        };
        failed.into_iter().map(due_now).collect()
    }

    /// Sets the time of the next retry of a key, and whether its retries are used up.
    pub(crate) fn wait(&mut self, key: K, due: Instant, exhausted: bool) {
        let back_off = self.entry(key, due);
        (back_off.due, back_off.exhausted) = (due, exhausted);
    }

    fn entry(&mut self, key: K, due: Instant) -> &mut BackOff {
        self.added += 1;
        let new = BackOff { number: self.added, due, exhausted: false, early: None, server: None };
        self.keys.entry(key).or_insert(new)
    }

    pub(crate) fn forget(&mut self, key: &K) {
        self.keys.remove(key);
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
        assert!(back_offs.keys.is_empty());
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
    fn retries_after_failures_of_the_server_never_end() {
        let (mut back_offs, mut now, mut waits) = (BackOffs::default(), Instant::now(), Vec::new());
        for _ in 0..100 {
            let ServerFailure { suspect, wait } = back_offs.server_failed("web", None, now);
            assert!(!suspect, "no other key was written");
            waits.push(wait.as_secs());
            let early = back_offs.server_failed("web", None, after(now, 400)).wait;
            assert_eq!(early + Duration::from_millis(400), wait);
            now += wait;
        }
        assert_eq!(waits[..8], [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(waits[99], 60);
        assert_eq!(back_offs.release(now), ["web"]);
        assert_eq!(back_offs.failed(&"web", now), Failure::Counts, "the retries of the key begin");
    }

    #[test]
    fn a_key_that_fails_while_others_succeed_is_suspect() {
        let (mut back_offs, now) = (BackOffs::default(), Instant::now());
        let success = Some(after(now, 500));
        assert!(!back_offs.server_failed("web", Some(now), now).suspect, "the success was before");
        assert!(back_offs.server_failed("web", success, after(now, 1_000)).suspect);
        assert!(back_offs.server_failed("web", success, after(now, 3_000)).suspect);
        assert!(!back_offs.server_failed("shop", success, after(now, 3_000)).suspect);
        assert_eq!(back_offs.release(after(now, 3_000)), ["shop"]);
    }

    #[test]
    fn a_key_in_a_long_back_off_is_retried_soon_after_a_failure_of_the_server() {
        let (mut back_offs, now) = (BackOffs::default(), Instant::now());
        back_offs.wait("web", after(now, 900_000), true);
        assert_eq!(back_offs.server_failed("web", None, now).wait, MIN_SERVER_DELAY);
    }

    #[test]
    fn an_event_gives_an_exhausted_key_new_retries() {
        let (mut back_offs, start) = (BackOffs::default(), Instant::now());
        back_offs.wait("web", after(start, 8_000), true);
        assert_eq!(back_offs.failed(&"web", after(start, 8_000)), Failure::Slow);
        assert_eq!(back_offs.failed(&"web", after(start, 4_000)), Failure::Counts);
    }
}
