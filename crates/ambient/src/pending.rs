//! Counts of pending work, which have to be zero at the end of a simulation.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::simulation::{self, Count};

/// Registers `count`, a function that returns the number of pending work items, with the simulation of this thread.
///
/// It stays registered until the returned guard is dropped. Without a simulation, this does nothing.
#[must_use = "the count ends when the guard is dropped"]
pub fn count_pending(name: &str, count: impl Fn() -> usize + Send + Sync + 'static) -> CountedWork {
    let Some(counts) = simulation::counts() else { return CountedWork(None) };
    let count: Arc<Count> = Arc::new(count);
    counts.borrow_mut().push((name.into(), Arc::downgrade(&count)));
    CountedWork(Some(count))
}

/// Guard of [`count_pending`]: unregisters the count when dropped.
pub struct CountedWork(Option<Arc<Count>>);

impl fmt::Debug for CountedWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CountedWork").field(&self.0.as_ref().map(|count| count())).finish()
    }
}

/// Returns the pending work items of the simulation of this thread: per name the sum of its counts, if it is not zero.
///
/// Empty without a simulation.
pub fn pending() -> BTreeMap<Arc<str>, usize> {
    let Some(counts) = simulation::counts() else { return BTreeMap::new() };
    let mut pending = BTreeMap::new();
    counts.borrow_mut().retain(|(name, count)| {
        let Some(count) = count.upgrade() else { return false };
        *pending.entry(Arc::clone(name)).or_default() += count();
        true
    });
    pending.retain(|_, count| *count > 0);
    pending
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;

    use super::*;
    use crate::{Clock, simulate};

    fn clock() -> Clock {
        Clock { now: Box::new(|| Timestamp::UNIX_EPOCH), since_boot: Box::new(|| Duration::ZERO) }
    }

    #[test]
    fn pending_work_counts_until_the_guard_is_dropped() {
        let _simulated = simulate(1, clock());
        let [two, three, _none] =
            [("pods", 2), ("pods", 3), ("nodes", 0)].map(|(name, n)| count_pending(name, move || n));
        assert_eq!(pending(), BTreeMap::from([("pods".into(), 5)]));
        drop(three);
        assert_eq!(pending(), BTreeMap::from([("pods".into(), 2)]));
        drop(two);
        assert_eq!(pending(), BTreeMap::new());
    }

    #[test]
    fn counts_of_another_simulation_are_not_visible() {
        let outside = count_pending("pods", || 1);
        let _simulated = simulate(1, clock());
        assert_eq!(pending(), BTreeMap::new());
        drop(outside);
    }
}
