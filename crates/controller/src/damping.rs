//! Back-off for keys whose writes another client keeps undoing.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use educe::Educe;
use tokio::time::Instant;

/// Number of changes that are not delayed, so that a few objects deleted by hand are created again at once.
const UNDELAYED_CHANGES: u32 = 5;
/// Delay of the first delayed change.
const MIN_DELAY: Duration = Duration::from_secs(1);
const MAX_DELAY: Duration = Duration::from_secs(30);
/// Time without a change after which the count of a key is reset.
const RESET_AFTER: Duration = Duration::from_secs(60);

/// Back-off for keys that another client contests, after the route flap damping of RFC 2439.
///
/// Each write of one client triggers a sync of the other, so two clients that undo each other's writes would do so at
/// their rate limits. The garbage collector is such a client while a cache still contains a deleted owner.
#[derive(Debug, Educe)]
#[educe(Default(bound(false)))]
pub(crate) struct Damping<K> {
    contested: HashMap<K, Contested>,
    /// Time of the next removal of expired keys.
    next_sweep: Option<Instant>,
}

#[derive(Debug)]
struct Contested {
    /// Number of counted changes.
    changes: u32,
    /// End of the delay of the last counted change.
    due: Instant,
}

impl<K: Eq + Hash> Damping<K> {
    /// Counts a change by another client, and returns the delay of the sync of `key` that it causes.
    ///
    /// The delay of the first five changes is `delay`. It doubles with each further one, from 1 s to 30 s, but is at
    /// least `delay`. A change before the delay of the previous one has passed is not counted; the rest of that delay
    /// is returned.
    pub(crate) fn record_change(&mut self, key: K, delay: Duration, now: Instant) -> Duration {
        self.remove_expired(now);
        let contested = self.contested.entry(key).or_insert(Contested { changes: 0, due: now });
        if now < contested.due {
            return contested.due - now;
        }
        if now >= contested.due + RESET_AFTER {
            contested.changes = 0;
        }
        contested.changes += 1;
        let delay = delay_of_change(contested.changes, delay);
        contested.due = now + delay;
        delay
    }

    /// Returns the delay that a further change by another client would have, without counting one.
    pub(crate) fn next_delay(&self, key: &K, delay: Duration, now: Instant) -> Duration {
        match self.contested.get(key) {
            Some(contested) if self.is_contested(key, now) => delay_of_change(contested.changes + 1, delay),
            _ => delay,
        }
    }

    /// Returns whether the last change of the key by another client has not expired yet.
    pub(crate) fn is_contested(&self, key: &K, now: Instant) -> bool {
        self.contested.get(key).is_some_and(|contested| now < contested.due + RESET_AFTER)
    }

    fn remove_expired(&mut self, now: Instant) {
        if self.next_sweep.is_none_or(|time| now >= time) {
            self.contested.retain(|_, it| now < it.due + RESET_AFTER);
            self.next_sweep = Some(now + RESET_AFTER);
        }
    }
}

/// Returns the delay of the change with this number, counted from 1.
fn delay_of_change(number: u32, delay: Duration) -> Duration {
    match number.checked_sub(UNDELAYED_CHANGES + 1) {
        Some(doublings) => MIN_DELAY.saturating_mul(1 << doublings.min(5)).min(MAX_DELAY).max(delay),
        None => delay,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Returns the times in milliseconds at which a key is synced whose writes are undone after 1 ms.
    fn syncs(delay: Duration, within: Duration) -> Vec<u128> {
        let start = Instant::now();
        let (mut damping, mut now, mut syncs) = (Damping::default(), start, Vec::new());
        while now < start + within {
            now += damping.record_change("web", delay, now) + Duration::from_millis(1);
            syncs.push((now - start).as_millis());
        }
        syncs
    }

    #[test]
    fn the_delay_of_undone_writes_grows_to_the_maximum() {
        let syncs = syncs(Duration::ZERO, 100 * SECOND);
        assert_eq!(syncs[..5], [1, 2, 3, 4, 5]);
        assert_eq!(syncs[5..], [1_006, 3_007, 7_008, 15_009, 31_010, 61_011, 91_012, 121_013]);
    }

    #[test]
    fn a_longer_requested_delay_is_used() {
        assert_eq!(syncs(2 * SECOND, 32 * SECOND).len(), 10);
    }

    #[test]
    fn a_change_during_the_delay_is_not_counted() {
        let (mut damping, now) = (Damping::default(), Instant::now());
        for _ in 0..100 {
            assert_eq!(damping.record_change("web", SECOND, now), SECOND);
        }
        assert_eq!(damping.record_change("web", SECOND, now + SECOND / 4), 3 * SECOND / 4);
    }

    #[test]
    fn an_expired_key_is_reset_and_removed() {
        let (mut damping, now) = (Damping::default(), Instant::now());
        let waits: Vec<_> = (0..7).map(|_| damping.record_change("web", Duration::ZERO, now)).collect();
        assert_eq!(waits[4..], [Duration::ZERO, SECOND, SECOND]);
        assert_eq!(damping.next_delay(&"web", Duration::ZERO, now), 2 * SECOND);
        assert_eq!(damping.next_delay(&"web", SECOND, now + SECOND + RESET_AFTER), SECOND);
        assert_eq!(damping.next_delay(&"other", SECOND, now), SECOND);
        assert!(damping.is_contested(&"web", now) && !damping.is_contested(&"other", now));
        assert!(!damping.is_contested(&"web", now + SECOND + RESET_AFTER));
        assert_eq!(damping.record_change("web", Duration::ZERO, now + SECOND + RESET_AFTER), Duration::ZERO);
        damping.record_change("other", Duration::ZERO, now + 3 * RESET_AFTER);
        assert_eq!(damping.contested.len(), 1);
    }

    #[test]
    fn keys_are_delayed_independently() {
        let (mut damping, now) = (Damping::default(), Instant::now());
        for _ in 0..20 {
            damping.record_change("web", Duration::ZERO, now);
        }
        assert_eq!(damping.record_change("shop", Duration::ZERO, now), Duration::ZERO);
    }
}
