//! A binary heap of deadlines that reports positions, so that a deadline can be moved in place.
//!
//! Each delayed entry has exactly one deadline, so memory is bounded by the number of keys.

use std::time::Instant;

use super::entries::{Index, NIL};

/// Deadline of one entry. Equal deadlines fire in the order of the calls, which `call` numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Deadline {
    due: Instant,
    call: u64,
    pub(super) index: Index,
}

/// The deadlines as a min-heap. Methods call `moved` with each entry that changes position; `NIL` means removed.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    heap: Vec<Deadline>,
    /// Number of deadlines set so far.
    calls: u64,
}

impl Deadlines {
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    pub(super) fn first(&self) -> Option<(Instant, Index)> {
        self.heap.first().map(|it| (it.due, it.index))
    }

    pub(super) fn push(&mut self, due: Instant, index: Index, moved: impl FnMut(Index, u32)) {
        let at = self.heap.len();
        self.heap.push(Deadline { due, call: self.calls, index });
        self.calls += 1;
        self.rise(at, moved);
    }

    /// Moves the deadline at `position` forward to `due`, unless it is earlier already.
    pub(super) fn advance(&mut self, position: u32, due: Instant, moved: impl FnMut(Index, u32)) {
        let at = position as usize;
        let deadline = &mut self.heap[at];
        if due < deadline.due {
            (deadline.due, deadline.call) = (due, self.calls);
            self.calls += 1;
            self.rise(at, moved);
        }
    }

    pub(super) fn pop(&mut self, mut moved: impl FnMut(Index, u32)) -> Option<Index> {
        if self.heap.is_empty() {
            return None;
        }
        let Deadline { index, .. } = self.heap.swap_remove(0);
        moved(index, NIL);
        if !self.heap.is_empty() {
            self.sink(0, moved);
        }
        Some(index)
    }

    /// Removes all deadlines, releases the memory and returns the deadlines, in no order.
    pub(super) fn drain(&mut self) -> Vec<Deadline> {
        std::mem::take(&mut self.heap)
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
