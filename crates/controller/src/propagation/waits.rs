//! Which keys wait for a write, since when and for what: asked with the time.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant, SystemTime};

use super::Stages;

/// The causes of keys that no sync has taken yet. A key that waits for nothing takes no memory.
#[derive(Debug)]
pub(super) struct Waits<K, C> {
    waiting: HashMap<K, Causes<C>>,
}

/// Why a key was woken: the first event of each cause. Nearly always one, for which nothing is allocated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Causes<C> {
    first: Wait<C>,
    others: Vec<Wait<C>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wait<C> {
    cause: C,
    lag: Option<Duration>,
    seen: Instant,
}

/// When a sync that wrote something got where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    /// It took the key.
    pub(super) taken: Instant,
    /// It knew what to write.
    pub(super) planned: Instant,
    /// Its last write was acknowledged.
    pub(super) written: Instant,
}

/// Room for this many keys is kept when none waits any more.
const SPARE: usize = 64;

impl<K, C> Default for Waits<K, C> {
    fn default() -> Self {
        Waits { waiting: HashMap::new() }
    }
}

impl<K: Clone + Eq + Hash, C: Copy + Eq> Waits<K, C> {
    /// A handler saw a change that wakes the key. Only the first of each cause counts until the key is taken.
    pub(super) fn woken(&mut self, key: &K, cause: C, lag: Option<Duration>, seen: Instant) {
        let wait = Wait { cause, lag, seen };
        if let Some(causes) = self.waiting.get_mut(key) {
            causes.add(wait);
        } else {
            self.waiting.insert(key.clone(), Causes { first: wait, others: Vec::new() });
        }
    }

    /// A sync begins: what happens from now on is for the next one.
    pub(super) fn take(&mut self, key: &K) -> Option<Causes<C>> {
        let taken = self.waiting.remove(key);
        if self.waiting.is_empty() && self.waiting.capacity() > SPARE {
            self.waiting = HashMap::new();
        }
        taken
    }

    /// A sync came to nothing: its causes go on waiting, and are older than those that have come since.
    pub(super) fn put_back(&mut self, key: K, mut causes: Causes<C>) {
        if let Some(newer) = self.waiting.remove(&key) {
            newer.iter().for_each(|wait| causes.add(*wait));
        }
        self.waiting.insert(key, causes);
    }
}

impl<C: Copy + Eq> Causes<C> {
    fn iter(&self) -> impl Iterator<Item = &Wait<C>> {
        std::iter::once(&self.first).chain(&self.others)
    }

    fn add(&mut self, wait: Wait<C>) {
        if self.iter().all(|known| known.cause != wait.cause) {
            self.others.push(wait);
        }
    }

    /// How long each cause took, once it was written.
    pub(super) fn stages(&self, marks: Marks) -> impl Iterator<Item = (C, Stages)> {
        let Marks { taken, planned, written } = marks;
        self.iter().map(move |wait| {
            let stages = Stages {
                watch: wait.lag,
                queue: taken.saturating_duration_since(wait.seen),
                compute: planned.saturating_duration_since(taken),
                api: written.saturating_duration_since(planned),
            };
            (wait.cause, stages)
        })
    }
}

/// How long a change had been there when it was seen. Clocks differ: one from the future is taken for new.
pub(super) fn lag(since: SystemTime, seen: SystemTime) -> Duration {
    seen.duration_since(since).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Why {
        Ready,
        Deleted,
        Service,
    }
    use Why::{Deleted, Ready, Service};

    /// Any instant will do to count from.
    fn now() -> Instant {
        tokio::time::Instant::now().into_std()
    }

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    /// What happens to one key, each with the time in milliseconds.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        /// A change that had been there for so long, if that is known.
        Woken(u64, Why, Option<u64>),
        /// A sync that writes: taken, planned, written.
        Writes(u64, u64, u64),
        /// A sync that fails or cannot judge.
        Fails,
        /// A sync that fails, while which such a change comes.
        FailsMeanwhile(u64, Why),
        /// A sync that finds nothing to write.
        Rests,
    }
    use Step::{Fails, FailsMeanwhile, Rests, Woken, Writes};

    /// Cause, watch, queue, compute, API.
    type Told = (Why, Option<u64>, u64, u64, u64);

    #[rstest]
    #[case::one(&[Woken(10, Ready, Some(700)), Writes(15, 17, 40)], &[(Ready, Some(700), 5, 2, 23)])]
    #[case::nothing_woke_it(&[Writes(15, 17, 40)], &[])]
    #[case::the_first_of_a_cause_counts(
        &[Woken(10, Ready, Some(700)), Woken(12, Ready, Some(1)), Writes(20, 21, 22)], &[(Ready, Some(700), 10, 1, 1)])]
    #[case::each_cause_counts_once(
        &[Woken(10, Ready, None), Woken(11, Service, None), Woken(12, Deleted, None), Woken(13, Service, None),
          Writes(20, 20, 30)],
        &[(Ready, None, 10, 0, 10), (Service, None, 9, 0, 10), (Deleted, None, 8, 0, 10)])]
    #[case::told_once(&[Woken(10, Ready, None), Writes(20, 20, 30), Writes(40, 40, 50)], &[(Ready, None, 10, 0, 10)])]
    #[case::a_retry_is_waited_for_in_the_queue(
        &[Woken(10, Ready, None), Fails, Writes(1_010, 1_011, 1_013)], &[(Ready, None, 1_000, 1, 2)])]
    #[case::what_failed_is_older_than_what_came_meanwhile(
        &[Woken(10, Ready, None), FailsMeanwhile(50, Ready), FailsMeanwhile(60, Deleted), Writes(100, 100, 100)],
        &[(Ready, None, 90, 0, 0), (Deleted, None, 40, 0, 0)])]
    #[case::nothing_to_write_is_not_told(&[Woken(10, Ready, None), Rests, Writes(40, 40, 50)], &[])]
    #[case::a_clock_that_goes_back_counts_nothing(&[Woken(10, Ready, None), Writes(5, 3, 4)], &[(Ready, None, 0, 0, 1)])]
    fn causes_wait_until_they_are_written(#[case] steps: &[Step], #[case] expected: &[Told]) {
        let start = now();
        let at = |time| start + ms(time);
        let (mut waits, mut told) = (Waits::default(), Vec::new());
        for step in steps {
            match *step {
                Woken(time, why, lag) => waits.woken(&"web", why, lag.map(ms), at(time)),
                Rests => drop(waits.take(&"web")),
                Writes(taken, planned, written) => {
                    let marks = Marks { taken: at(taken), planned: at(planned), written: at(written) };
                    if let Some(causes) = waits.take(&"web") {
                        told.extend(causes.stages(marks));
                    }
                }
                Fails => {
                    let causes = waits.take(&"web").expect("causes");
                    waits.put_back("web", causes);
                }
                FailsMeanwhile(time, why) => {
                    let causes = waits.take(&"web").expect("causes");
                    waits.woken(&"web", why, None, at(time));
                    waits.put_back("web", causes);
                }
            }
        }
        let expected: Vec<(Why, Stages)> = expected
            .iter()
            .map(|(why, watch, queue, compute, api)| {
                (*why, Stages { watch: watch.map(ms), queue: ms(*queue), compute: ms(*compute), api: ms(*api) })
            })
            .collect();
        assert_eq!(told, expected);
        assert_eq!(waits.waiting.len(), 0, "nothing is kept of what was written");
    }

    #[rstest]
    #[case::a_second_and_a_half(0, 1_500, 1_500)]
    #[case::at_once(1_000, 1_000, 0)]
    #[case::from_the_future(2_000, 1_500, 0)]
    fn lags(#[case] since: u64, #[case] seen: u64, #[case] expected: u64) {
        let at = |time| SystemTime::UNIX_EPOCH + ms(time);
        assert_eq!(lag(at(since), at(seen)), ms(expected));
    }

    #[test]
    fn a_burst_leaves_no_memory_behind() {
        let (mut waits, now) = (Waits::default(), now());
        for key in 0..10_000 {
            waits.woken(&key, Ready, None, now);
        }
        for key in 0..10_000 {
            assert!(waits.take(&key).is_some());
        }
        assert_eq!(waits.waiting.capacity(), 0);
    }
}
