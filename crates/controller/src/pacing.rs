//! Growing intervals between the syncs of keys that keep changing.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

use crate::{Batching, Urgency};

/// Time without a change after which the interval has its first value again, and nothing is stored for the key.
const QUIET_AFTER: Duration = Duration::from_secs(2);
/// Capacity above which the map is shrunk when few keys are left.
const MAX_SPARE_CAPACITY: usize = 64;

/// How the intervals grow.
#[derive(Clone, Copy, Debug)]
struct Growth {
    /// Interval after the first sync of a quiet key, unless [`Pacing::set_interval`] set a longer one.
    first: Duration,
    /// Limit of that interval.
    first_limit: Duration,
    /// Longest interval, unless [`Pacing::set_interval`] set another one.
    longest: Duration,
    /// Factor by which an interval grows with each sync.
    factor: u32,
    /// Limit of the intervals that are set.
    limit: Duration,
    /// Longest delay of an urgent change.
    urgent: Duration,
    /// Time without a change that halves the interval. With changes further apart, the longest interval would combine
    /// fewer than two of them: it would delay them and save nothing.
    gap: Duration,
}

/// As far apart as the syncs of upstream, which take about 20 ms with their write if the Service is small. Removals are not
/// written sooner than upstream could.
const NONE: Growth = Growth {
    first: Duration::from_millis(20),
    first_limit: Duration::from_millis(100),
    longest: Duration::from_millis(20),
    // Up to the longest at once: each sync of a large Service in a burst writes all of its slices.
    factor: 25,
    limit: Duration::from_millis(500),
    urgent: Duration::from_millis(500),
    gap: Duration::from_millis(100),
};

const ADAPTIVE: Growth = Growth {
    first: Duration::from_millis(100),
    first_limit: Duration::from_millis(100),
    longest: Duration::from_secs(1),
    factor: 2,
    limit: Duration::from_secs(1),
    // Shared timers add up to a tenth, and the sync and its write take time: together they stay below 250 ms.
    urgent: Duration::from_millis(200),
    gap: Duration::from_millis(500),
};

impl Batching {
    const fn growth(self) -> Growth {
        match self {
            Batching::None => NONE,
            Batching::Adaptive => ADAPTIVE,
        }
    }
}

/// Times of the syncs of keys that keep changing, so that one sync combines many changes.
///
/// The sync of a quiet key is due at once. While its changes are less than the gap apart, the interval between two syncs
/// grows with each sync, from the first to the longest. Each gap without a change halves it. Memory is bounded by the
/// number of keys that changed within the last 4 s before the last change of any key, and that of keys with a long interval.
#[derive(Debug)]
pub(crate) struct Pacing<K> {
    keys: HashMap<K, Paced>,
    /// Intervals that were set and are longer than the longest of all keys. They outlast quiet times, so that the first
    /// syncs of a burst are as far apart as all others.
    intervals: HashMap<K, Duration>,
    growth: Growth,
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
        Pacing {
            keys: HashMap::new(),
            intervals: HashMap::new(),
            growth: Batching::default().growth(),
            next_sweep: None,
        }
    }
}

impl<K: Clone + Eq + Hash> Pacing<K> {
    /// Sets how the intervals grow, before the first change.
    pub(crate) fn set_batching(&mut self, batching: Batching) {
        self.growth = batching.growth();
    }

    /// Sets the longest interval of a key, if it is longer than that of all keys; otherwise forgets the one that was set.
    pub(crate) fn set_interval(&mut self, key: &K, interval: Duration) {
        if interval > self.growth.longest {
            self.intervals.insert(key.clone(), interval.min(self.growth.limit));
        } else {
            self.intervals.remove(key);
        }
    }

    /// Records a change, and returns the delay of the sync of `key` that it needs.
    ///
    /// `min_delay` is the delay of the sync of a quiet key. The sync of a change is due at the same time as one that is
    /// due already, or `min_delay` after the change, but at least one interval after the previous sync; for an urgent
    /// change with adaptive batching, at least 200 ms after it if that is earlier. An urgent change brings a later sync forward.
    pub(crate) fn record_change(&mut self, key: K, urgency: Urgency, min_delay: Duration, now: Instant) -> Duration {
        self.remove_quiet(now);
        let growth = self.growth.up_to(self.intervals.get(&key).copied());
        match self.keys.entry(key) {
            Entry::Vacant(entry) => {
                let due = now + min_delay;
                entry.insert(Paced { last_change: now, last: due, due, interval: growth.first });
                min_delay
            }
            Entry::Occupied(entry) => entry.into_mut().record_change(growth, urgency, min_delay, now),
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
    fn record_change(&mut self, growth: Growth, urgency: Urgency, min_delay: Duration, now: Instant) -> Duration {
        let gap = now.saturating_duration_since(self.last_change);
        self.last_change = now;
        self.interval = growth.halved(self.interval.min(growth.longest), gap.as_millis() / growth.gap.as_millis());
        let is_pending = now < self.due;
        if !is_pending {
            self.last = self.due;
        }
        let wait = match urgency {
            Urgency::High => self.interval.min(growth.urgent),
            Urgency::Normal => self.interval,
        };
        let due = (now + min_delay).max(self.last + wait);
        if !is_pending {
            self.due = due;
            if gap < growth.gap {
                self.interval = growth.grown(self.interval).min(growth.longest);
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

impl Growth {
    /// Returns the growth of a key for which a longest interval is set.
    fn up_to(self, interval: Option<Duration>) -> Growth {
        let longest = interval.unwrap_or(self.longest);
        Growth { first: longest.clamp(self.first, self.first_limit), longest, ..self }
    }

    /// Returns the interval after another sync, before its limit.
    fn grown(&self, interval: Duration) -> Duration {
        interval.saturating_mul(self.factor)
    }

    /// Returns the interval after halving it this number of times, but at least the first one.
    fn halved(&self, interval: Duration, times: u128) -> Duration {
        // Four times lead from the longest to the first.
        (interval / (1 << times.min(4))).max(self.first)
    }
}

#[cfg(test)]
mod tests;
