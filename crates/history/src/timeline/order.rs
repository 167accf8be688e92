//! Changes in the order in which they were made.

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};

use super::pending::version_of;
use crate::{Change, ReadError, Replay};

/// Longest time by which a change is seen before an earlier one: each kind has a watch of its own.
pub(super) const REORDERED: SignedDuration = SignedDuration::from_secs(10);

/// The changes until a time, by the versions of their objects if those are known: a deletion and a gap stay where they were
/// seen, between the others.
pub(crate) struct Ordered<'r, 'a> {
    replay: &'r mut Replay<'a>,
    until: Timestamp,
    /// Changes that were seen within [`REORDERED`] after the first.
    window: VecDeque<Change>,
    has_ended: bool,
}

impl<'r, 'a> Ordered<'r, 'a> {
    pub(crate) fn new(replay: &'r mut Replay<'a>, until: Timestamp) -> Self {
        Ordered { replay, until, window: VecDeque::new(), has_ended: false }
    }

    pub(crate) fn next(&mut self) -> Result<Option<Change>, ReadError> {
        while !self.has_ended && !self.is_full() {
            match self.replay.next_change()?.filter(|change| change.seen <= self.until) {
                Some(change) => self.window.push_back(change),
                None => self.has_ended = true,
            }
        }
        let versions = self.window.iter().map(version_of).take_while(|version| *version > 0).enumerate();
        let first = versions.min_by_key(|(_, version)| *version).map_or(0, |(at, _)| at);
        Ok(self.window.remove(first))
    }

    fn is_full(&self) -> bool {
        let ends = self.window.front().zip(self.window.back());
        ends.is_some_and(|(first, last)| last.seen.duration_since(first.seen) > REORDERED)
    }
}
