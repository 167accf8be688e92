//! Guard against lists that lack objects which exist.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use kube_wire::{Object, ObjectKey, Uid};

use crate::Event;

/// Minimum number of missing objects that are read before a list is believed, if there are as many.
const MIN_SAMPLES: usize = 5;
/// Maximum number of missing objects that are read for one list.
const MAX_SAMPLES: usize = 50;

/// Guard against lists that lack objects which exist.
///
/// An answer of an API server with status 200 may be wrong: an empty or truncated list, an older state, an authorizer
/// or a proxy that hides namespaces. Controllers that act on it remove what they have built for the objects that it lacks.
///
/// The objects *missing* from a list are those of the store that it lacks, and the objects of
/// [`check_references`](crate::Informer::check_references) that neither it nor the store has. If there are more than
/// [`free`](Self::free), some of them are read one by one: at least five, and one of each namespace up to 50. A read that
/// the server forbids is replaced by a list of one name.
///
/// - If none is found, or only with other uids, the list is right, and is stored like any other.
/// - If one is found, or a read fails, the list is *held*: its objects are stored, so that additions and changes go on,
///   the missing objects remain, and watch events continue from its version. Missing objects that are not in the store
///   are *withheld*, see [`Lister::is_withheld`](crate::Lister::is_withheld).
///
/// While a list is held, a list of the most recent state is requested after 1 s, and again after intervals that double up
/// to 10 s. Its missing objects are read, however few there are. The first list that lacks none, or whose missing objects
/// are not found, ends the hold.
///
/// Events of a watch are not checked: a `DELETED` event is about one object, and was caused by its deletion.
///
/// Only for informers without selectors: an object that is no longer selected exists, and would contradict every list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// Number of missing objects up to which a list is stored unchecked. Default: 50.
    pub free: usize,
}

impl Default for Guard {
    fn default() -> Self {
        Self { free: 50 }
    }
}

/// A list that is held, see [`Guard`]. Returned by [`Informer::held_list`](crate::Informer::held_list).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldList {
    /// Number of missing objects.
    pub missing: usize,
    /// One of the missing objects: the one that was found, or whose read failed.
    pub example: ObjectKey,
    /// Whether the example was found. Otherwise its read failed.
    pub found: bool,
}

/// An object that a list lacks: its name, and its uid unless that is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) key: ObjectKey,
    pub(crate) uid: Uid,
}

impl Reference {
    pub(crate) fn to(object: &impl Object) -> Self {
        Self { key: object.key(), uid: object.uid() }
    }

    /// Returns whether an object of this name is the one that is referred to.
    pub(crate) fn is_to(&self, object: &impl Object) -> bool {
        self.uid.is_empty() || self.uid == object.uid()
    }
}

/// Interval at which a controller syncs a key again that depends on a [withheld](crate::Lister::is_withheld) object.
pub const WITHHELD_INTERVAL: Duration = Duration::from_secs(2);

/// Objects that no list has and no event has shown, but that references name and that may exist, with their uids.
pub(crate) type Withheld = BTreeMap<ObjectKey, Uid>;

/// Treatment of the objects that a list lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// They are removed if there are no more than this, otherwise the list is not stored.
    AtMost(usize),
    /// They are removed.
    Remove,
    /// They stay in the store, or withheld.
    Keep,
}

/// Returns the objects that a list lacks, in order, given the changes that it would cause and a test whether it has an
/// object of a name.
pub(crate) fn missing<T: Object>(
    changes: &[Event<T>],
    withheld: &Withheld,
    has: impl Fn(&ObjectKey) -> bool,
) -> Vec<Reference> {
    let removed = changes.iter().filter_map(|change| match change.states() {
        (Some(old), None) => Some(Reference::to(&**old)),
        _ => None,
    });
    let unknown = withheld.iter().filter(|(key, _)| !has(key));
    let unknown = unknown.map(|(key, uid)| Reference { key: key.clone(), uid: uid.clone() });
    let mut missing: Vec<Reference> = removed.chain(unknown).collect();
    missing.sort_by(|a, b| a.key.cmp(&b.key));
    missing
}

/// Returns the stored objects of the changes that remove one.
pub(crate) fn removed<T>(changes: &[Event<T>]) -> impl Iterator<Item = &Arc<T>> {
    changes.iter().filter_map(|change| match change.states() {
        (Some(old), None) => Some(old),
        _ => None,
    })
}

/// Returns the objects to read out of the missing ones, which are in order: one of each namespace, and
/// [`MIN_SAMPLES`] at equal distances. Of more than [`MAX_SAMPLES`] namespaces, as many at equal distances.
pub(crate) fn samples(missing: &[Reference]) -> Vec<Reference> {
    let begins_namespace = |at: &usize| *at == 0 || missing[at - 1].key.namespace != missing[*at].key.namespace;
    let firsts: Vec<usize> = (0..missing.len()).filter(begins_namespace).collect();
    let chosen: BTreeSet<usize> =
        spread(firsts.len(), MAX_SAMPLES).map(|at| firsts[at]).chain(spread(missing.len(), MIN_SAMPLES)).collect();
    chosen.into_iter().take(MAX_SAMPLES).map(|at| missing[at].clone()).collect()
}

/// Returns up to `most` positions out of `count` at equal distances, the first and the last included.
fn spread(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let samples = count.min(most);
    (0..samples).map(move |at| if samples > 1 { at * (count - 1) / (samples - 1) } else { 0 })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::item::Item;

    fn item(name: &str) -> Arc<Item> {
        Arc::new(Item::new(name, name, 0))
    }

    fn deleted(name: &str) -> Event<Item> {
        Event::Deleted { object: item(name), tombstone: true }
    }

    fn updated(name: &str) -> Event<Item> {
        Event::Updated { old: item(name), new: item(name), relisted: true }
    }

    #[rstest]
    #[case::nothing(vec![], &[], &[])]
    #[case::changed(vec![updated("a")], &[], &[])]
    #[case::removed(vec![deleted("b"), deleted("a"), updated("c")], &[], &["a", "b"])]
    #[case::withheld(vec![deleted("b")], &["a", "c"], &["a", "b", "c"])]
    #[case::listed(vec![], &["a", "listed"], &["a"])]
    fn missing_objects_are_in_order(
        #[case] changes: Vec<Event<Item>>,
        #[case] withheld: &[&str],
        #[case] expected: &[&str],
    ) {
        let withheld = withheld.iter().map(|name| (item(name).key(), item(name).uid())).collect();
        let missing = missing(&changes, &withheld, |key| &*key.name == "listed");
        let names: Vec<&str> = missing.iter().map(|it| &*it.key.name).collect();
        assert_eq!(names, expected);
    }

    #[rstest]
    #[case::none(&[], 0, 0)]
    #[case::few(&[3], 3, 1)]
    #[case::one_namespace(&[100], 5, 1)]
    #[case::five_are_in_the_largest(&[1, 1, 1000, 1], 5, 4)]
    #[case::each_namespace(&[2; 20], 20, 20)]
    #[case::one_small_among_large(&[1000, 1, 1000], 6, 3)]
    #[case::many_namespaces(&[3; 200], 50, 50)]
    fn samples_are_spread_over_namespaces(
        #[case] sizes: &[usize],
        #[case] min_samples: usize,
        #[case] namespaces: usize,
    ) {
        let of_namespace = |(at, size): (usize, &usize)| {
            (0..*size).map(move |name| ObjectKey::new(format!("ns-{at:03}").as_str(), format!("{name:04}").as_str()))
        };
        let keys = sizes.iter().enumerate().flat_map(of_namespace);
        let missing: Vec<_> = keys.map(|key| Reference { key, uid: Uid::default() }).collect();
        let samples = samples(&missing);
        assert!((min_samples..=MAX_SAMPLES).contains(&samples.len()), "{} samples", samples.len());
        let distinct: BTreeSet<_> = samples.iter().map(|it| &it.key.namespace).collect();
        assert_eq!(distinct.len(), namespaces);
        let keys: BTreeSet<_> = samples.iter().map(|it| &it.key).collect();
        assert_eq!(keys.len(), samples.len(), "each is read once");
    }
}
