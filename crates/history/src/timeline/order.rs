//! Changes in the order in which they were made.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use jiff::{SignedDuration, Timestamp};

use super::pending::version_of;
use crate::{Change, Kind, ReadError, Replay};

/// Longest time by which a change is seen before an earlier one: each kind has a watch of its own.
pub(super) const REORDERED: SignedDuration = SignedDuration::from_secs(10);

/// A change, with the kinds that the recorder cannot read from then on if they are others than before.
type Next = (Change, Option<Vec<Kind>>);

/// The changes until a time, by the versions of their objects if those are known: a deletion and a gap stay where they were
/// seen, between the others.
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
                    self.window.push(change.seen, version_of(&change), (change, unknown));
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

/// Changes that were seen within [`REORDERED`] after the first. Adding and removing one takes logarithmic time.
struct Window<T> {
    /// Time, version and content of each change, as they were seen; `None` for those that were removed.
    changes: VecDeque<Option<(Timestamp, u64, T)>>,
    /// Number of the first change, counted from the beginning.
    first: usize,
    /// Versions and numbers of the changes up to the next one without a version.
    versions: BinaryHeap<Reverse<(u64, usize)>>,
    /// Number of the first change that was not in `versions` yet.
    next: usize,
}

impl<T> Default for Window<T> {
    fn default() -> Self {
        Window { changes: VecDeque::new(), first: 0, versions: BinaryHeap::new(), next: 0 }
    }
}

impl<T> Window<T> {
    fn is_full(&self) -> bool {
        let ends = self.changes.front().zip(self.changes.back());
        let ends = ends.and_then(|(first, last)| first.as_ref().zip(last.as_ref()));
        ends.is_some_and(|((first, ..), (last, ..))| last.duration_since(*first) > REORDERED)
    }

    fn push(&mut self, seen: Timestamp, version: u64, change: T) {
        self.changes.push_back(Some((seen, version, change)));
    }

    /// Removes the change with the lowest version of those before the next one without a version, or that one.
    fn pop(&mut self) -> Option<T> {
        while let Some(Some((_, version @ 1.., _))) = self.changes.get(self.next - self.first) {
            self.versions.push(Reverse((*version, self.next)));
            self.next += 1;
        }
        let number = if let Some(Reverse((_, number))) = self.versions.pop() {
            number
        } else {
            // Either the change without a version is the first one, or there is none.
            self.next += usize::from(!self.changes.is_empty());
            self.first
        };
        let change = self.changes.get_mut(number - self.first)?.take();
        while let Some(None) = self.changes.front() {
            self.changes.pop_front();
            self.first += 1;
        }
        while let Some(None) = self.changes.back() {
            self.changes.pop_back();
        }
        self.next = self.next.min(self.first + self.changes.len());
        change.map(|(_, _, change)| change)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Returns the changes in their order, found by search: the law.
    fn by_search(changes: &[(Timestamp, u64)]) -> Vec<usize> {
        let (mut rest, mut window, mut order) = (changes.iter().enumerate(), VecDeque::new(), Vec::new());
        loop {
            let is_full = |window: &VecDeque<(usize, &(Timestamp, u64))>| {
                let ends = window.front().zip(window.back());
                ends.is_some_and(|((_, (first, _)), (_, (last, _)))| last.duration_since(*first) > REORDERED)
            };
            while !is_full(&window) {
                let Some(next) = rest.next() else { break };
                window.push_back(next);
            }
            let versions = window.iter().map(|(_, (_, version))| *version).take_while(|it| *it > 0).enumerate();
            let first = versions.min_by_key(|(_, version)| *version).map_or(0, |(at, _)| at);
            let Some((number, _)) = window.remove(first) else { return order };
            order.push(number);
        }
    }

    fn by_window(changes: &[(Timestamp, u64)]) -> Vec<usize> {
        let (mut rest, mut window, mut order) = (changes.iter().enumerate(), Window::default(), Vec::new());
        loop {
            while !window.is_full() {
                let Some((number, (seen, version))) = rest.next() else { break };
                window.push(*seen, *version, number);
            }
            let Some(number) = window.pop() else { return order };
            order.push(number);
        }
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_the_lowest_version_in_the_window(
            changes in vec((0..4_i64, prop_oneof![4 => 1..20_u64, 1 => Just(0)]), 0..60),
        ) {
            let mut now = Timestamp::UNIX_EPOCH;
            let mut seen = |passed| {
                now += SignedDuration::from_secs(passed);
                now
            };
            let changes: Vec<_> = changes.into_iter().map(|(passed, version)| (seen(passed), version)).collect();
            prop_assert_eq!(by_window(&changes), by_search(&changes));
        }
    }

    /// A search through the window would compare 400 million pairs.
    #[test]
    fn a_window_of_many_changes_takes_no_search() {
        let mut window = Window::default();
        for number in (1..=20_000_u64).rev() {
            window.push(Timestamp::UNIX_EPOCH, number, number);
        }
        let order: Vec<u64> = std::iter::from_fn(|| window.pop()).collect();
        assert!(order.iter().copied().eq(1..=20_000));
    }
}
