//! Tasks that wait for the queue.
//!
//! Every wake-up is accounted for: a woken task either polls again or is dropped, and then its wake-up passes to the
//! next task. With the number of wake-ups in flight, the queue wakes exactly as many tasks as there are keys.

use std::{collections::VecDeque, task::Waker};

/// Registration of a waiting task. Numbers only grow and are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WaiterId(u64);

/// Waiting tasks, the longest waiting first.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    /// Sorted by `WaiterId`.
    asleep: VecDeque<(WaiterId, Waker)>,
    /// Number of tasks that were woken and have not polled again yet.
    woken: usize,
    next: u64,
}

impl Waiters {
    pub(crate) fn woken(&self) -> usize {
        self.woken
    }

    /// Registers a task, or replaces the waker of a registered one. The caller drops the returned old waker after it
    /// released the lock: a waker can be the last owner of a task.
    pub(crate) fn sleep(&mut self, id: &mut Option<WaiterId>, waker: &Waker) -> Option<Waker> {
        if let Some(at) = id.and_then(|id| self.position(id)) {
            let kept = &mut self.asleep[at].1;
            return (!kept.will_wake(waker)).then(|| std::mem::replace(kept, waker.clone()));
        }
        self.acknowledge(id.take());
        self.next += 1;
        let new = WaiterId(self.next);
        self.asleep.push_back((new, waker.clone()));
        *id = Some(new);
        None
    }

    /// Ends the registration of a task, whether it was woken or not. The caller drops the waker after it released the
    /// lock.
    pub(crate) fn leave(&mut self, id: &mut Option<WaiterId>) -> Option<Waker> {
        let id = id.take()?;
        let at = self.position(id);
        if at.is_none() {
            self.acknowledge(Some(id));
        }
        self.asleep.remove(at?).map(|(_, waker)| waker)
    }

    /// Removes the longest waiting task; the caller wakes it after it released the lock.
    pub(crate) fn wake_one(&mut self) -> Option<Waker> {
        let (_, waker) = self.asleep.pop_front()?;
        self.woken += 1;
        Some(waker)
    }

    /// Removes all tasks; the caller wakes them after it released the lock.
    pub(crate) fn wake_all(&mut self) -> impl Iterator<Item = Waker> + use<> {
        self.woken += self.asleep.len();
        std::mem::take(&mut self.asleep).into_iter().map(|(_, waker)| waker)
    }

    fn acknowledge(&mut self, id: Option<WaiterId>) {
        if id.is_some() {
            self.woken -= 1;
        }
    }

    fn position(&self, id: WaiterId) -> Option<usize> {
        self.asleep.binary_search_by_key(&id, |&(it, _)| it).ok()
    }
}
