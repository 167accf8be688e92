//! Guard against lists that would remove many objects of a store.

use std::{sync::Arc, time::Duration};

use kube_wire::{Object, ObjectKey, Uid};

use crate::{Event, Objects};

/// Maximum number of missing objects that are read to confirm a list.
const MAX_SAMPLES: usize = 5;

/// Limits above which a list is not stored before it is confirmed, because it would remove many objects of a store.
///
/// An answer of an API server with status 200 may be wrong: an empty or truncated list, an older state, an authorizer
/// or a proxy that hides namespaces. Controllers that act on it remove what they have built for the objects that it lacks.
///
/// A list exceeds the guard if it would remove more than [`fraction`](Self::fraction) of the counted objects in the
/// store and more than [`minimum`](Self::minimum) of them. It is then *held*: the store keeps the previous state, and
/// the informer requests a list of the most recent state after [`confirm_after`](Self::confirm_after).
///
/// - If that list does not exceed the guard, it is stored like any other.
/// - If it exceeds the guard as well, up to five of the missing objects are read one by one. If each is answered with
///   404 or is an object with another uid, the list is stored. Otherwise it stays held, and the next list is requested
///   after a longer interval: each is twice as long as the last, up to 2 min, plus a random part of up to 10 %. It is
///   requested earlier, but not before [`confirm_after`](Self::confirm_after), if
///   [`Informer::catch_up`](crate::Informer::catch_up) needs a list or etcd was restored from a backup.
/// - Objects that the list has, but in a state that does not count, are confirmed by the second list alone.
///
/// A list that does not exceed the guard, but lacks more than [`minimum`](Self::minimum) counted objects, is not held at
/// once: up to five of them are read, and the list is stored if they are gone. Otherwise it is held, too, since it may
/// lack all objects of some namespaces.
///
/// Reading the objects requires the right to `get` the resource: without it, a list that lacks objects stays held. The
/// first list of a store and the events of a watch are not checked: a `DELETED` event is about one object, and was
/// caused by its deletion.
///
/// Only for informers without selectors: an object that is no longer selected exists, and would contradict every list.
#[derive(Debug)]
pub struct Guard<T> {
    /// Fraction of the counted objects that a list may remove. Default: 0.5. With 1 or more, no list is held.
    pub fraction: f64,
    /// Number of counted objects that a list may remove unchecked. Default: 50.
    pub minimum: usize,
    /// Time between a held list and the list that confirms it. Default: 15 s.
    pub confirm_after: Duration,
    /// Returns whether an object counts. Default: every object does.
    pub counts: fn(&T) -> bool,
}

/// A list that is held, see [`Guard`]. Returned by [`Informer::held_list`](crate::Informer::held_list).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldList {
    /// Number of counted objects in the store.
    pub stored: usize,
    /// Number of these that the list lacks.
    pub missing: usize,
    /// Number of these that the list has in a state that does not count.
    pub changed: usize,
}

/// Number of objects that a list would remove, and some of those that it lacks.
#[derive(Debug)]
pub(crate) struct Removal {
    pub(crate) counts: HeldList,
    /// Whether the list exceeds the guard. Otherwise it only has to agree with reads of the missing objects.
    pub(crate) is_exceeded: bool,
    /// Up to [`MAX_SAMPLES`] of the missing objects, spread evenly over them.
    pub(crate) samples: Vec<Sample>,
}

/// Name and uid of a stored object that a held list lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) key: ObjectKey,
    pub(crate) uid: Uid,
}

impl<T> Guard<T> {
    /// Returns a guard with the default limits that counts the objects for which `counts` returns `true`.
    pub fn counting(counts: fn(&T) -> bool) -> Self {
        Self { fraction: 0.5, minimum: 50, confirm_after: Duration::from_secs(15), counts }
    }

    /// Returns whether a list exceeds the guard if it removes this many of the counted objects in a store.
    pub fn is_exceeded(&self, removed: usize, stored: usize) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "no store has 2^52 objects")]
        let (removed_of, limit) = (removed as f64, self.fraction * stored as f64);
        removed > self.minimum && removed_of > limit
    }
}

impl<T: Object> Guard<T> {
    /// Returns what a list would remove, given the changes that it would cause; `None` if it may be stored unchecked.
    ///
    /// The stored objects are counted only if the list removes more than [`minimum`](Self::minimum).
    pub(crate) fn check(&self, stored: &Objects<T>, changes: &[Event<T>]) -> Option<Removal> {
        let counts = |object: &Arc<T>| (self.counts)(object);
        let (mut missing, mut changed) = (Vec::new(), 0);
        for change in changes {
            match change.states() {
                (Some(old), None) if counts(old) => missing.push(old),
                (Some(old), Some(new)) if counts(old) && !counts(new) => changed += 1,
                _ => {}
            }
        }
        let removed = missing.len() + changed;
        if removed <= self.minimum {
            return None;
        }
        let stored = stored.unordered().filter(|object| counts(object)).count();
        let is_exceeded = self.is_exceeded(removed, stored);
        let is_checked = is_exceeded || (missing.len() > self.minimum && self.fraction < 1.0);
        is_checked.then(|| Removal {
            counts: HeldList { stored, missing: missing.len(), changed },
            is_exceeded,
            samples: spread(&missing).map(|object| Sample { key: object.key(), uid: object.uid() }).collect(),
        })
    }
}

/// Returns up to [`MAX_SAMPLES`] of the items at equal distances, the first and the last included.
fn spread<T>(items: &[T]) -> impl Iterator<Item = &T> {
    let samples = items.len().min(MAX_SAMPLES);
    (0..samples).map(move |at| &items[if samples > 1 { at * (items.len() - 1) / (samples - 1) } else { 0 }])
}

impl<T> Default for Guard<T> {
    fn default() -> Self {
        Self::counting(|_| true)
    }
}

// Not derived: a derived impl would require `T: Clone`.
impl<T> Clone for Guard<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Guard<T> {}

#[cfg(test)]
mod tests {
    use kube_wire::ResourceVersion;
    use rstest::rstest;

    use super::*;

    #[derive(Debug)]
    struct Item {
        name: String,
        counts: bool,
    }

    impl Object for Item {
        fn namespace(&self) -> &'static str {
            "shop"
        }
        fn name(&self) -> &str {
            &self.name
        }
        fn uid(&self) -> Uid {
            self.name.as_str().into()
        }
        fn resource_version(&self) -> ResourceVersion {
            ResourceVersion::default()
        }
    }

    fn item(name: usize, counts: bool) -> Arc<Item> {
        Arc::new(Item { name: format!("{name:03}"), counts })
    }

    fn deleted(object: Arc<Item>) -> Event<Item> {
        Event::Deleted { object, tombstone: true }
    }

    fn updated(name: usize, before: bool, after: bool) -> Event<Item> {
        Event::Updated { old: item(name, before), new: item(name, after), relisted: true }
    }

    #[rstest]
    #[case::nothing(0, 0, false)]
    #[case::the_minimum(50, 50, false)]
    #[case::more_than_the_minimum(51, 51, true)]
    #[case::half(100, 200, false)]
    #[case::more_than_half(101, 200, true)]
    #[case::few_of_many(1_000, 100_000, false)]
    fn limits(#[case] removed: usize, #[case] stored: usize, #[case] exceeded: bool) {
        assert_eq!(Guard::<Item>::default().is_exceeded(removed, stored), exceeded);
    }

    #[rstest]
    #[case::one(1.0)]
    #[case::more(2.0)]
    fn fraction_of_one_or_more_disables(#[case] fraction: f64) {
        let guard = Guard::<Item> { fraction, minimum: 0, ..Guard::default() };
        assert!(!guard.is_exceeded(100, 100));
    }

    // The store has 20 objects that count, 000 to 019, and 80 that do not.
    #[rstest]
    #[case::none((0..0).map(|_| unreachable!()).collect(), None)]
    #[case::at_the_minimum((0..5).map(|name| deleted(item(name, true))).collect(), None)]
    #[case::above_the_minimum((0..6).map(|name| deleted(item(name, true))).collect(), Some((6, 0, false)))]
    #[case::half((0..10).map(|name| deleted(item(name, true))).collect(), Some((10, 0, false)))]
    #[case::more_than_half((0..11).map(|name| deleted(item(name, true))).collect(), Some((11, 0, true)))]
    #[case::others_do_not_count((20..100).map(|name| deleted(item(name, false))).collect(), None)]
    #[case::changed((0..11).map(|name| updated(name, true, false)).collect(), Some((0, 11, true)))]
    #[case::half_changed((0..10).map(|name| updated(name, true, false)).collect(), None)]
    #[case::still_counting((0..20).map(|name| updated(name, true, true)).collect(), None)]
    #[case::now_counting((20..40).map(|name| updated(name, false, true)).collect(), None)]
    #[case::both(
        (0..6).map(|name| deleted(item(name, true))).chain((6..11).map(|name| updated(name, true, false))).collect(),
        Some((6, 5, true))
    )]
    fn removals(#[case] changes: Vec<Event<Item>>, #[case] expected: Option<(usize, usize, bool)>) {
        let stored: Objects<Item> = (0..100).map(|name| item(name, name < 20)).collect();
        let guard = Guard { minimum: 5, ..Guard::counting(|item: &Item| item.counts) };
        let removal = guard.check(&stored, &changes).map(|removal| (removal.counts, removal.is_exceeded));
        let expected =
            expected.map(|(missing, changed, is_exceeded)| (HeldList { stored: 20, missing, changed }, is_exceeded));
        assert_eq!(removal, expected);
    }

    #[rstest]
    #[case(0, &[])]
    #[case(1, &[0])]
    #[case(3, &[0, 1, 2])]
    #[case(5, &[0, 1, 2, 3, 4])]
    #[case(6, &[0, 1, 2, 3, 5])]
    #[case(101, &[0, 25, 50, 75, 100])]
    fn samples_are_spread(#[case] items: usize, #[case] expected: &[usize]) {
        let items: Vec<_> = (0..items).collect();
        assert_eq!(spread(&items).copied().collect::<Vec<_>>(), expected);
    }
}
