//! Delays of keys whose writes other clients keep undoing.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

/// Number of changes without a delay, so that a few objects deleted by hand are created again at once.
const FREE: u32 = 5;
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);
/// Time without such a change after which a key is treated as new.
const QUIET: Duration = Duration::from_secs(60);

/// Back-off for keys that another client contests, after the route flap damping of RFC 2439.
///
/// Two clients that undo each other's writes would otherwise do so at the rate limit of the faster one, since each write triggers
/// a sync of the other. The garbage collector is such a client while a cache still has an owner that is deleted.
#[derive(Debug)]
pub(crate) struct Damping<K> {
    contested: HashMap<K, Contested>,
    /// Time of the next removal of keys that were not contested for a minute.
    sweep: Option<Instant>,
}

#[derive(Debug)]
struct Contested {
    times: u32,
    due: Instant,
}

impl<K> Default for Damping<K> {
    fn default() -> Self {
        Damping { contested: HashMap::new(), sweep: None }
    }
}

impl<K: Eq + Hash> Damping<K> {
    /// Counts a change by another client, and returns the delay until the next sync of `key`, at least `delay`.
    ///
    /// The delay of the first five changes is `delay`. It doubles with each further one, from 1 s to 30 s. Changes before the
    /// delay has passed are not counted.
    pub(crate) fn delay(&mut self, key: K, delay: Duration, now: Instant) -> Duration {
        self.forget_quiet(now);
        let contested = self.contested.entry(key).or_insert(Contested { times: 0, due: now });
        if now < contested.due {
            return contested.due - now;
        }
        if now >= contested.due + QUIET {
            contested.times = 0;
        }
        contested.times += 1;
        let wait = wait(contested.times, delay);
        contested.due = now + wait;
        wait
    }

    /// Returns the delay that a change by another client would cause now.
    pub(crate) fn next(&self, key: &K, delay: Duration, now: Instant) -> Duration {
        match self.contested.get(key) {
            Some(contested) if self.is_contested(key, now) => wait(contested.times + 1, delay),
            _ => delay,
        }
    }

    /// Returns whether another client changed the key within the last minute.
    pub(crate) fn is_contested(&self, key: &K, now: Instant) -> bool {
        self.contested.get(key).is_some_and(|contested| now < contested.due + QUIET)
    }

    fn forget_quiet(&mut self, now: Instant) {
        if self.sweep.is_none_or(|sweep| now >= sweep) {
            self.contested.retain(|_, it| now < it.due + QUIET);
            self.sweep = Some(now + QUIET);
        }
    }
}

/// Returns the delay after this number of changes.
fn wait(times: u32, delay: Duration) -> Duration {
    match times.checked_sub(FREE + 1) {
        Some(further) => FIRST.saturating_mul(1 << further.min(5)).min(LONGEST).max(delay),
        None => delay,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// When a key is synced whose writes are undone at once, in milliseconds.
    fn syncs(delay: Duration, within: Duration) -> Vec<u128> {
        let start = Instant::now();
        let (mut damping, mut now, mut syncs) = (Damping::default(), start, Vec::new());
        while now < start + within {
            now += damping.delay("web", delay, now) + Duration::from_millis(1);
            syncs.push((now - start).as_millis());
        }
        syncs
    }

    #[test]
    fn a_fight_slows_down() {
        let syncs = syncs(Duration::ZERO, 100 * SECOND);
        assert_eq!(syncs[..5], [1, 2, 3, 4, 5]);
        assert_eq!(syncs[5..], [1_006, 3_007, 7_008, 15_009, 31_010, 61_011, 91_012, 121_013]);
    }

    #[test]
    fn a_longer_delay_stays() {
        assert_eq!(syncs(2 * SECOND, 32 * SECOND).len(), 10);
    }

    #[test]
    fn what_comes_while_a_key_waits_does_not_count() {
        let (mut damping, now) = (Damping::default(), Instant::now());
        for _ in 0..100 {
            assert_eq!(damping.delay("web", SECOND, now), SECOND);
        }
        assert_eq!(damping.delay("web", SECOND, now + SECOND / 4), 3 * SECOND / 4);
    }

    #[test]
    fn a_key_that_was_left_alone_starts_anew_and_takes_no_memory() {
        let (mut damping, now) = (Damping::default(), Instant::now());
        let waits: Vec<_> = (0..7).map(|_| damping.delay("web", Duration::ZERO, now)).collect();
        assert_eq!(waits[4..], [Duration::ZERO, SECOND, SECOND]);
        assert_eq!(damping.next(&"web", Duration::ZERO, now), 2 * SECOND);
        assert_eq!(damping.next(&"web", SECOND, now + SECOND + QUIET), SECOND);
        assert_eq!(damping.next(&"other", SECOND, now), SECOND);
        assert!(damping.is_contested(&"web", now) && !damping.is_contested(&"other", now));
        assert!(!damping.is_contested(&"web", now + SECOND + QUIET));
        assert_eq!(damping.delay("web", Duration::ZERO, now + SECOND + QUIET), Duration::ZERO);
        damping.delay("other", Duration::ZERO, now + 3 * QUIET);
        assert_eq!(damping.contested.len(), 1);
    }

    #[test]
    fn keys_do_not_wait_for_each_other() {
        let (mut damping, now) = (Damping::default(), Instant::now());
        for _ in 0..20 {
            damping.delay("web", Duration::ZERO, now);
        }
        assert_eq!(damping.delay("shop", Duration::ZERO, now), Duration::ZERO);
    }
}
