//! Changes in the order in which they were made.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::hash::Hash;

use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::ObjectKey;

use super::pending::version_of;
use crate::{Change, Kind, ReadError, Replay, What};

/// Longest time by which a change is seen before an earlier one: each kind has a watch of its own.
pub(super) const REORDERED: SignedDuration = SignedDuration::from_secs(10);

/// A change, with the kinds that the recorder cannot read from then on if they are others than before.
type Next = (Change, Option<Vec<Kind>>);

/// The changes until a time, by the versions of their objects.
///
/// A deletion has no version, and stays after the changes that were seen before it. A change that was seen after it comes
/// first if one of those has a higher version, unless it is of the deleted object. A gap stays where it was seen.
pub(crate) struct Ordered<'r, 'a> {
    replay: &'r mut Replay<'a>,
    until: Timestamp,
    window: Window<Next>,
    has_ended: bool,
    /// Kinds that the recorder could not read when it saw the last change of the window.
    unknown: Vec<Kind>,
}

impl<'r, 'a> Ordered<'r, 'a> {
    pub(crate) fn new(replay: &'r mut Replay<'a>, until: Timestamp) -> Self {
        let unknown = unknown_of(replay).to_vec();
        Ordered { replay, until, window: Window::default(), has_ended: false, unknown }
    }

    /// Returns the next change; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Next>, ReadError> {
        while !self.has_ended && !self.window.is_full() {
            match self.replay.next_change()?.filter(|change| change.seen <= self.until) {
                Some(change) => {
                    let unknown = Some(unknown_of(self.replay)).filter(|unknown| **unknown != self.unknown);
                    let unknown = unknown.map(<[Kind]>::to_vec);
                    if let Some(unknown) = &unknown {
                        self.unknown.clone_from(unknown);
                    }
                    self.window.push(change.seen, (change, unknown));
                }
                None => self.has_ended = true,
            }
        }
        Ok(self.window.pop())
    }
}

/// Returns the kinds that the recorder could not read.
pub(crate) fn unknown_of<'r>(replay: &'r Replay<'_>) -> &'r [Kind] {
    replay.header().map(|header| &*header.unknown).unwrap_or_default()
}

/// What decides about the place of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Version(u64),
    Deletion,
    /// That where it was seen.
    Seen,
}

/// A change that has a place in a [`Window`].
trait Placed {
    type Object: Eq + Hash;
    fn place(&self) -> Place;
    /// Returns the object of a change; `None` for one that stays where it was seen.
    fn object(&self) -> Option<Self::Object>;
}

impl Placed for Next {
    type Object = (Kind, ObjectKey);

    fn place(&self) -> Place {
        match (&self.0.what, version_of(&self.0)) {
            (What::Removed(_), _) => Place::Deletion,
            (_, version @ 1..) => Place::Version(version),
            _ => Place::Seen,
        }
    }

    fn object(&self) -> Option<Self::Object> {
        match &self.0.what {
            What::Put { after: object, .. } | What::Removed(object) => Some((object.kind(), object.key())),
            What::Gap(_) | What::Unknown(_) => None,
        }
    }
}

/// Changes that were seen within [`REORDERED`] after the first. Adding and removing one takes logarithmic time.
struct Window<T: Placed> {
    /// Time and content of each change, as they were seen; `None` for those that were removed.
    changes: VecDeque<Option<(Timestamp, T)>>,
    /// Number of the first change, counted from the beginning.
    first: usize,
    /// Versions and numbers of the changes that may be the next one.
    versions: BinaryHeap<Reverse<(u64, usize)>>,
    /// Number of the last deletion of each object.
    deleted: HashMap<T::Object, usize>,
    /// Versions and numbers of the changes of an object that follow its deletion, by the number of that.
    recreated: HashMap<usize, Vec<Reverse<(u64, usize)>>>,
    /// Number of the first change that is in none of these yet.
    next: usize,
}

impl<T: Placed> Default for Window<T> {
    fn default() -> Self {
        Window {
            changes: VecDeque::new(),
            first: 0,
            versions: BinaryHeap::new(),
            deleted: HashMap::new(),
            recreated: HashMap::new(),
            next: 0,
        }
    }
}

impl<T: Placed> Window<T> {
    fn is_full(&self) -> bool {
        let ends = self.changes.front().zip(self.changes.back());
        let ends = ends.and_then(|(first, last)| first.as_ref().zip(last.as_ref()));
        ends.is_some_and(|((first, _), (last, _))| last.duration_since(*first) > REORDERED)
    }

    fn push(&mut self, seen: Timestamp, change: T) {
        self.changes.push_back(Some((seen, change)));
    }

    /// Removes the first change if it has no version, otherwise that with the lowest version.
    fn pop(&mut self) -> Option<T> {
        self.sort();
        let (_, first) = self.changes.front()?.as_ref()?;
        let number = match first.place() {
            Place::Version(_) => self.versions.pop()?.0.1,
            Place::Deletion => {
                self.versions.extend(self.recreated.remove(&self.first).unwrap_or_default());
                let object = first.object().filter(|object| self.deleted.get(object) == Some(&self.first));
                object.and_then(|object| self.deleted.remove(&object));
                self.first
            }
            Place::Seen => {
                self.next += 1;
                self.first
            }
        };
        let (_, change) = self.changes.get_mut(number - self.first)?.take()?;
        while let Some(None) = self.changes.front() {
            self.changes.pop_front();
            self.first += 1;
        }
        while let Some(None) = self.changes.back() {
            self.changes.pop_back();
        }
        self.next = self.next.min(self.first + self.changes.len());
        Some(change)
    }

    /// Sorts the changes up to one that stays where it was seen.
    fn sort(&mut self) {
        while let Some(Some((_, change))) = self.changes.get(self.next - self.first) {
            match change.place() {
                Place::Version(version) => {
                    let item = Reverse((version, self.next));
                    let deletion = if self.deleted.is_empty() { None } else { change.object() };
                    match deletion.and_then(|object| self.deleted.get(&object)) {
                        Some(deletion) => self.recreated.entry(*deletion).or_default().push(item),
                        None => self.versions.push(item),
                    }
                }
                Place::Deletion => self.deleted.extend(change.object().map(|object| (object, self.next))),
                Place::Seen => break,
            }
            self.next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Number, place and object of a change.
    type Numbered = (usize, Place, u8);

    impl Placed for Numbered {
        type Object = u8;

        fn place(&self) -> Place {
            self.1
        }

        fn object(&self) -> Option<u8> {
            Some(self.2).filter(|_| self.1 != Place::Seen)
        }
    }

    /// Returns the number of the next change of a window in its order: the law.
    fn next_of(window: &VecDeque<&(Timestamp, Numbered)>) -> usize {
        let changes: Vec<Numbered> = window.iter().map(|(_, it)| *it).take_while(|it| it.1 != Place::Seen).collect();
        if !matches!(changes.first(), Some((_, Place::Version(_), _))) {
            return 0;
        }
        let is_recreated = |at: usize| changes[..at].iter().any(|it| (it.1, it.2) == (Place::Deletion, changes[at].2));
        let version = |(at, change): (usize, &Numbered)| match change.1 {
            Place::Version(version) if !is_recreated(at) => Some((version, at)),
            _ => None,
        };
        changes.iter().enumerate().filter_map(version).min().map_or(0, |(_, at)| at)
    }

    /// Returns the changes in their order, found by search.
    fn by_search(changes: &[(Timestamp, Numbered)]) -> Vec<usize> {
        let (mut rest, mut window, mut order) = (changes.iter(), VecDeque::new(), Vec::new());
        loop {
            let is_full = |window: &VecDeque<&(Timestamp, Numbered)>| {
                let ends = window.front().zip(window.back());
                ends.is_some_and(|((first, _), (last, _))| last.duration_since(*first) > REORDERED)
            };
            while !is_full(&window) {
                let Some(next) = rest.next() else { break };
                window.push_back(next);
            }
            let Some((_, (number, ..))) = window.remove(next_of(&window)) else { return order };
            order.push(*number);
        }
    }

    fn by_window(changes: &[(Timestamp, Numbered)]) -> Vec<usize> {
        let (mut rest, mut window, mut order) = (changes.iter(), Window::default(), Vec::new());
        loop {
            while !window.is_full() {
                let Some((seen, change)) = rest.next() else { break };
                window.push(*seen, *change);
            }
            let Some((number, ..)) = window.pop() else { return order };
            order.push(number);
        }
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_the_lowest_version_in_the_window(
            changes in vec((0..4_i64, prop_oneof![
                6 => (1..20_u64).prop_map(Place::Version),
                3 => Just(Place::Deletion),
                1 => Just(Place::Seen),
            ], 0..3_u8), 0..60),
        ) {
            let mut now = Timestamp::UNIX_EPOCH;
            let mut seen = |passed| {
                now += SignedDuration::from_secs(passed);
                now
            };
            let numbered = changes.into_iter().enumerate();
            let changes: Vec<_> =
                numbered.map(|(number, (passed, place, object))| (seen(passed), (number, place, object))).collect();
            prop_assert_eq!(by_window(&changes), by_search(&changes));
        }
    }

    #[test]
    fn an_earlier_change_passes_deletions_of_other_objects() {
        let version = |number, version, object| (Timestamp::UNIX_EPOCH, (number, Place::Version(version), object));
        let deletion = |number, object| (Timestamp::UNIX_EPOCH, (number, Place::Deletion, object));
        assert_eq!(by_window(&[version(0, 2, 1), deletion(1, 2), version(2, 1, 3)]), [2, 0, 1]);
        assert_eq!(by_window(&[version(0, 2, 1), deletion(1, 3), version(2, 1, 3)]), [0, 1, 2], "it was created again");
        assert_eq!(by_window(&[deletion(0, 2), version(1, 2, 1), version(2, 1, 3)]), [0, 2, 1]);
    }

    /// A search through the window would compare 400 million pairs.
    #[test]
    fn a_window_of_many_changes_takes_no_search() {
        let mut window = Window::default();
        for number in 0..20_000_u64 {
            window.push(Timestamp::UNIX_EPOCH, (0, Place::Version(20_000 - number), 0));
        }
        let order: Vec<u64> = std::iter::from_fn(|| match window.pop()?.1 {
            Place::Version(version) => Some(version),
            place => panic!("{place:?}"),
        })
        .collect();
        assert!(order.iter().copied().eq(1..=20_000));
    }
}
