//! The tasks that sleep until the queue has something for them.
//!
//! A wake-up is a promise: whoever was woken either comes back and looks, or says that it never will (it was dropped),
//! so that the promise can be handed to the next. The number of promises in flight is known, so no more tasks are
//! woken than there are keys, and none too few.

use std::{collections::VecDeque, task::Waker};

/// The place of a sleeping task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(u64);

/// Sleeping tasks, the longest asleep first.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    /// Ordered by place, since places only grow.
    asleep: VecDeque<(Place, Waker)>,
    /// Woken, but not yet back.
    woken: usize,
    places: u64,
}

impl Waiters {
    pub(crate) fn is_empty(&self) -> bool {
        self.asleep.is_empty()
    }

    pub(crate) fn woken(&self) -> usize {
        self.woken
    }

    /// Puts a task to sleep, or keeps it asleep at its place with its newest waker. The caller drops the old one
    /// outside its lock: a waker can be the last owner of a task.
    pub(crate) fn sleep(&mut self, place: &mut Option<Place>, waker: &Waker) -> Option<Waker> {
        if let Some(at) = place.and_then(|place| self.position(place)) {
            let kept = &mut self.asleep[at].1;
            return (!kept.will_wake(waker)).then(|| std::mem::replace(kept, waker.clone()));
        }
        self.acknowledge(place.take());
        self.places += 1;
        let new = Place(self.places);
        self.asleep.push_back((new, waker.clone()));
        *place = Some(new);
        None
    }

    /// The task is up, woken or not, and wants nothing any more. The caller drops its waker outside its lock.
    pub(crate) fn leave(&mut self, place: &mut Option<Place>) -> Option<Waker> {
        let place = place.take()?;
        let at = self.position(place);
        if at.is_none() {
            self.acknowledge(Some(place));
        }
        self.asleep.remove(at?).map(|(_, waker)| waker)
    }

    /// The longest asleep, to be woken by the caller outside its lock.
    pub(crate) fn wake_one(&mut self) -> Option<Waker> {
        let (_, waker) = self.asleep.pop_front()?;
        self.woken += 1;
        Some(waker)
    }

    /// All that sleep, to be woken by the caller outside its lock.
    pub(crate) fn wake_all(&mut self) -> impl Iterator<Item = Waker> + use<> {
        self.woken += self.asleep.len();
        std::mem::take(&mut self.asleep).into_iter().map(|(_, waker)| waker)
    }

    fn acknowledge(&mut self, place: Option<Place>) {
        if place.is_some() {
            self.woken -= 1;
        }
    }

    fn position(&self, place: Place) -> Option<usize> {
        self.asleep.binary_search_by_key(&place, |&(it, _)| it).ok()
    }
}
