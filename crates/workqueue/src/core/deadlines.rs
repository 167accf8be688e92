//! A binary heap of deadlines that reports positions, so that a deadline can be moved or removed in place.
//!
//! Each delayed entry has exactly one deadline, so memory is bounded by the number of keys.

use std::time::Instant;

use super::entries::{Index, NIL};

/// Deadline of one entry. Equal deadlines fire in the order of the calls, which `asked` numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Deadline {
    due: Instant,
    asked: u64,
    pub(super) index: Index,
    /// Limit of postponements.
    latest: Instant,
}

/// When a delayed key is to be queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// At this instant, or earlier if that was asked before.
    By(Instant),
    /// At `due`, even if an earlier instant was asked before with this variant, but not after `latest`.
    Quiet {
        /// End of the quiet time.
        due: Instant,
        /// End of the longest wait. The first call's counts.
        latest: Instant,
    },
}

/// The deadlines as a min-heap. Methods call `moved` with each entry that changes position; `NIL` means removed.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    heap: Vec<Deadline>,
    asked: u64,
}

impl Deadlines {
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Returns the earliest deadline and its entry.
    pub(super) fn first(&self) -> Option<(Instant, Index)> {
        self.heap.first().map(|it| (it.due, it.index))
    }

    pub(super) fn push(&mut self, when: When, index: Index, moved: impl FnMut(Index, u32)) {
        let (due, latest) = match when {
            When::By(due) => (due, due),
            When::Quiet { due, latest } => (due.min(latest), latest),
        };
        let at = self.heap.len();
        self.heap.push(Deadline { due, asked: self.asked, index, latest });
        self.asked += 1;
        self.rise(at, moved);
    }

    /// Combines the deadline at `position` with another call for the same entry.
    pub(super) fn combine(&mut self, position: u32, when: When, moved: impl FnMut(Index, u32)) {
        let at = position as usize;
        let deadline = &mut self.heap[at];
        let before = deadline.due;
        match when {
            When::By(due) => {
                deadline.latest = deadline.latest.min(due);
                deadline.due = before.min(due);
            }
            When::Quiet { due, latest } => {
                deadline.latest = deadline.latest.min(latest);
                deadline.due = due.min(deadline.latest);
            }
        }
        if deadline.due != before {
            deadline.asked = self.asked;
            self.asked += 1;
            self.settle(at, moved);
        }
    }

    pub(super) fn pop(&mut self, moved: impl FnMut(Index, u32)) -> Option<Index> {
        (!self.heap.is_empty()).then(|| self.remove(0, moved))
    }

    /// Removes the deadline at `position` and returns its entry.
    pub(super) fn remove(&mut self, position: u32, mut moved: impl FnMut(Index, u32)) -> Index {
        let at = position as usize;
        let removed = self.heap.swap_remove(at);
        moved(removed.index, NIL);
        if at < self.heap.len() {
            self.settle(at, moved);
        }
        removed.index
    }

    /// Removes all deadlines, releases the memory and returns the deadlines, in no order.
    pub(super) fn drain(&mut self) -> Vec<Deadline> {
        std::mem::take(&mut self.heap)
    }

    /// Moves the deadline at `at` to its place.
    fn settle(&mut self, at: usize, moved: impl FnMut(Index, u32)) {
        if at > 0 && self.heap[at] < self.heap[(at - 1) / 2] {
            self.rise(at, moved);
        } else {
            self.sink(at, moved);
        }
    }

    fn rise(&mut self, mut at: usize, mut moved: impl FnMut(Index, u32)) {
        let rising = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.heap[parent] <= rising {
                break;
            }
            self.place(self.heap[parent], at, &mut moved);
            at = parent;
        }
        self.place(rising, at, &mut moved);
    }

    fn sink(&mut self, mut at: usize, mut moved: impl FnMut(Index, u32)) {
        let sinking = self.heap[at];
        loop {
            let left = 2 * at + 1;
            let Some(child) = (left..self.heap.len().min(left + 2)).min_by_key(|&it| self.heap[it]) else { break };
            if sinking <= self.heap[child] {
                break;
            }
            self.place(self.heap[child], at, &mut moved);
            at = child;
        }
        self.place(sinking, at, &mut moved);
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "there are no more deadlines than entries, whose index is a u32"
    )]
    fn place(&mut self, deadline: Deadline, at: usize, moved: &mut impl FnMut(Index, u32)) {
        self.heap[at] = deadline;
        moved(deadline.index, at as u32);
    }
}
