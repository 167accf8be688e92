//! The queued keys: one list per lane, and the selection of the next lane.

use super::{Index, entries::Entries, list::List};
use crate::Lanes;

#[derive(Debug)]
struct ReadyLane {
    keys: List,
    /// Number of keys handed out from other lanes since this lane was served; counted while this lane is not empty.
    passed_over: u32,
}

/// The queued keys by lane, most urgent lane first.
///
/// A lane that was passed over `patience` times is overdue; the lane passed over most often is served first. All counts
/// grow together and serving a lane resets its count, so each other lane is served at most once after a lane becomes
/// overdue. At most `patience + lanes - 1` other keys are therefore handed out before the key at the head of a lane.
#[derive(Debug)]
pub(super) struct Ready {
    lanes: Box<[ReadyLane]>,
    patience: u32,
    len: usize,
}

impl Ready {
    pub(super) fn new(lanes: Lanes) -> Self {
        let count = usize::from(lanes.count());
        let lane = || ReadyLane { keys: List::new(), passed_over: 0 };
        Self { lanes: std::iter::repeat_with(lane).take(count).collect(), patience: lanes.allowed_skips(), len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends an entry to its lane.
    #[inline]
    pub(super) fn push<K>(&mut self, entries: &mut Entries<K>, index: Index) {
        let lane = usize::from(entries[index].lane);
        self.lanes[lane].keys.push_back(entries, index);
        self.len += 1;
    }

    /// Moves a queued entry to the end of a more urgent lane.
    pub(super) fn promote<K>(&mut self, entries: &mut Entries<K>, index: Index, lane: u8) {
        let entry = &mut entries[index];
        let from = usize::from(std::mem::replace(&mut entry.lane, lane));
        let left = &mut self.lanes[from];
        left.keys.unlink(entries, index);
        if left.keys.is_empty() {
            left.passed_over = 0;
        }
        self.lanes[usize::from(lane)].keys.push_back(entries, index);
    }

    /// Returns the next entry to hand out, without removing it.
    #[inline]
    pub(super) fn peek(&self) -> Option<Index> {
        self.lanes[self.next_lane()].keys.head()
    }

    /// Removes the entry that [`Ready::peek`] returned.
    #[inline]
    pub(super) fn take<K>(&mut self, entries: &mut Entries<K>, index: Index) {
        let served = usize::from(entries[index].lane);
        self.lanes[served].keys.unlink(entries, index);
        self.lanes[served].passed_over = 0;
        self.len -= 1;
        for (at, lane) in self.lanes.iter_mut().enumerate() {
            if at != served && !lane.keys.is_empty() {
                lane.passed_over = lane.passed_over.saturating_add(1);
            }
        }
    }

    #[inline]
    fn next_lane(&self) -> usize {
        let mut next = 0;
        let mut longest = None;
        for (at, lane) in self.lanes.iter().enumerate().rev() {
            if lane.keys.is_empty() {
                continue;
            }
            let overdue = (lane.passed_over >= self.patience).then_some(lane.passed_over);
            // From the least to the most urgent lane: the more urgent wins unless the other is overdue for longer.
            if overdue >= longest {
                next = at;
                longest = overdue;
            }
        }
        next
    }
}
