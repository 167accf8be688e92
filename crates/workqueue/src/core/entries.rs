//! Where the entries live: one growing array, whose free places are a list through themselves.
//!
//! An entry never moves and is never copied as a whole: its fields are written one by one, and reading them back in one
//! wide load soon after would stall the processor on every operation.

use std::{
    mem,
    ops::{Index as At, IndexMut as AtMut},
};

use super::{Index, NIL};

/// What the ready lists and the workers know of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Neither queued nor processed: only a deadline keeps the entry.
    Waiting,
    /// In a lane, for the next free worker.
    Queued,
    /// With a worker.
    Processing,
    /// With a worker, and added again since: queued once more when the worker is done.
    ProcessingDirty,
}

#[derive(Debug)]
pub(super) struct Entry<K> {
    /// `None` in a free place.
    pub(super) key: Option<K>,
    pub(super) hash: u32,
    /// Links of the list the entry is in: a lane when queued, the keys in process when processing, the free places.
    pub(super) next: Index,
    pub(super) prev: Index,
    /// Position in the heap of deadlines, or `NIL`.
    pub(super) deadline: u32,
    /// The latest hand-out; a guard with another ticket is out of date.
    pub(super) ticket: u32,
    pub(super) state: State,
    /// The lane of the queued (or dirty) key.
    pub(super) lane: u8,
    /// The lane it will join when its deadline passes.
    pub(super) deadline_lane: u8,
}

// A million of these may wait.
const _: () = assert!(size_of::<Entry<std::sync::Arc<str>>>() == 40);

#[derive(Debug)]
pub(super) struct Entries<K> {
    places: Vec<Entry<K>>,
    /// The first free place.
    free: Index,
}

impl<K> Entries<K> {
    pub(super) const fn new() -> Self {
        Self { places: Vec::new(), free: NIL }
    }

    pub(super) fn get(&self, index: Index) -> Option<&Entry<K>> {
        self.places.get(index as usize).filter(|it| it.key.is_some())
    }

    /// The keys there are.
    #[cfg(test)]
    pub(super) fn iter(&self) -> impl Iterator<Item = &K> {
        self.places.iter().filter_map(|it| it.key.as_ref())
    }

    /// Puts a key that is in no list and has no deadline into a free place.
    ///
    /// # Panics
    ///
    /// With four billion keys.
    #[inline]
    pub(super) fn insert(&mut self, key: K, hash: u32, state: State, lane: u8) -> Index {
        let index = self.free;
        if let Some(entry) = self.places.get_mut(index as usize) {
            self.free = entry.next;
            entry.key = Some(key);
            entry.hash = hash;
            entry.state = state;
            entry.lane = lane;
            return index;
        }
        let index =
            Index::try_from(self.places.len()).ok().filter(|&it| it != NIL).expect("fewer than four billion keys");
        let (next, prev, deadline, ticket) = (NIL, NIL, NIL, 0);
        self.places.push(Entry {
            key: Some(key),
            hash,
            next,
            prev,
            deadline,
            ticket,
            state,
            lane,
            deadline_lane: lane,
        });
        index
    }

    /// Frees the place of a key that is in no list and has no deadline.
    #[inline]
    pub(super) fn remove(&mut self, index: Index) -> Option<K> {
        let free = mem::replace(&mut self.free, index);
        let entry = &mut self[index];
        entry.next = free;
        entry.key.take()
    }
}

impl<K> At<Index> for Entries<K> {
    type Output = Entry<K>;

    #[inline]
    fn index(&self, index: Index) -> &Entry<K> {
        &self.places[index as usize]
    }
}

impl<K> AtMut<Index> for Entries<K> {
    #[inline]
    fn index_mut(&mut self, index: Index) -> &mut Entry<K> {
        &mut self.places[index as usize]
    }
}
