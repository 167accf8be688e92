//! Growing intervals between the syncs of keys that keep changing.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

use crate::Urgency;

/// Interval after the first sync of a quiet key.
const MIN_INTERVAL: Duration = Duration::from_millis(100);
const MAX_INTERVAL: Duration = Duration::from_secs(1);
/// Time without a change that halves the interval. With changes further apart, the longest interval would combine
/// fewer than two of them: it would delay them and save nothing.
const GAP: Duration = Duration::from_millis(500);
/// Longest delay of an urgent change. Shared timers add up to a tenth, and the sync and its write take time: together
/// they stay below 250 ms.
const MAX_URGENT_DELAY: Duration = Duration::from_millis(200);
/// Time without a change after which the interval has its first value again, and nothing is stored for the key.
const QUIET_AFTER: Duration = Duration::from_secs(2);
/// Capacity above which the map is shrunk when few keys are left.
const MAX_SPARE_CAPACITY: usize = 64;

/// Times of the syncs of keys that keep changing, so that one sync combines many changes.
///
/// The sync of a quiet key is due at once. While its changes are less than 500 ms apart, the interval between two syncs
/// doubles with each sync, from 100 ms to 1 s. Each 500 ms without a change halve it. Memory is bounded by the number
/// of keys that changed within the last 4 s before the last change of any key.
#[derive(Debug)]
pub(crate) struct Pacing<K> {
    keys: HashMap<K, Paced>,
    /// Time of the next removal of quiet keys.
    next_sweep: Option<Instant>,
}

#[derive(Debug)]
struct Paced {
    last_change: Instant,
    /// Time at which the sync before `due` was due.
    last: Instant,
    /// Time at which the sync of the last change is due. Changes until then need no other sync.
    due: Instant,
    /// Minimum time between `due` and the next sync, except for urgent changes.
    interval: Duration,
}

impl<K> Default for Pacing<K> {
    fn default() -> Self {
        Pacing { keys: HashMap::new(), next_sweep: None }
    }
}

impl<K: Eq + Hash> Pacing<K> {
    /// Records a change, and returns the delay of the sync of `key` that it needs.
    ///
    /// `min_delay` is the delay of the sync of a quiet key. The sync of a change is due at the same time as one that is
    /// due already, or `min_delay` after the change, but at least one interval after the previous sync; for an urgent
    /// change, at least 200 ms after it if that is earlier. An urgent change brings a later sync forward.
    pub(crate) fn record_change(&mut self, key: K, urgency: Urgency, min_delay: Duration, now: Instant) -> Duration {
        self.remove_quiet(now);
        match self.keys.entry(key) {
            Entry::Vacant(entry) => {
                let due = now + min_delay;
                entry.insert(Paced { last_change: now, last: due, due, interval: MIN_INTERVAL });
                min_delay
            }
            Entry::Occupied(entry) => entry.into_mut().record_change(urgency, min_delay, now),
        }
    }

    fn remove_quiet(&mut self, now: Instant) {
        if self.next_sweep.is_none_or(|time| now >= time) {
            self.keys.retain(|_, it| !it.is_quiet(now));
            if self.keys.capacity() > MAX_SPARE_CAPACITY.max(self.keys.len() * 4) {
                self.keys.shrink_to(self.keys.len() * 2);
            }
            self.next_sweep = Some(now + QUIET_AFTER);
        }
    }
}

impl Paced {
    fn record_change(&mut self, urgency: Urgency, min_delay: Duration, now: Instant) -> Duration {
        let gap = now.saturating_duration_since(self.last_change);
        self.last_change = now;
        self.interval = halved(self.interval, gap.as_millis() / GAP.as_millis());
        let is_pending = now < self.due;
        if !is_pending {
            self.last = self.due;
        }
        let wait = match urgency {
            Urgency::High => self.interval.min(MAX_URGENT_DELAY),
            Urgency::Normal => self.interval,
        };
        let due = (now + min_delay).max(self.last + wait);
        if !is_pending {
            self.due = due;
            if gap < GAP {
                self.interval = (self.interval * 2).min(MAX_INTERVAL);
            }
        } else if urgency == Urgency::High {
            self.due = self.due.min(due);
        }
        self.due.saturating_duration_since(now)
    }

    /// Returns whether the next change is treated like that of an unknown key.
    fn is_quiet(&self, now: Instant) -> bool {
        now >= self.last_change.max(self.due) + QUIET_AFTER
    }
}

/// Returns the interval after halving it this number of times, but at least the minimum.
fn halved(interval: Duration, times: u128) -> Duration {
    // Four times lead from the maximum to the minimum.
    (interval / (1 << times.min(4))).max(MIN_INTERVAL)
}

#[cfg(test)]
mod tests;
