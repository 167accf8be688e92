//! Storage of the entries: one growing array with a free list through its unused slots.
//!
//! An entry never moves and is never copied as a whole: its fields are written one by one, and reading them in one wide
//! load soon afterwards would cause a store-forwarding stall in every operation.

use std::{
    mem,
    ops::{Index as At, IndexMut as AtMut},
};

use super::{Index, NIL};

/// State of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Neither queued nor in process; the entry exists only for its deadline.
    Waiting,
    /// Queued in a lane.
    Queued,
    /// In process.
    Processing,
    /// In process and added again: queued when the worker is done.
    ProcessingDirty,
}

#[derive(Debug)]
pub(super) struct Entry<K> {
    /// `None` if the slot is free.
    pub(super) key: Option<K>,
    pub(super) hash: u32,
    /// Links of the list that the entry is in: its lane, the keys in process, or the free list.
    pub(super) next: Index,
    pub(super) prev: Index,
    /// Position in the heap of deadlines; `NIL` if the key is not delayed.
    pub(super) deadline: u32,
    /// Ticket of the latest `get`; a guard with another ticket is stale.
    pub(super) ticket: u32,
    pub(super) state: State,
    /// Lane of the queued or dirty key.
    pub(super) lane: u8,
    /// Lane that the key joins at its deadline.
    pub(super) deadline_lane: u8,
}

// Queues of a million keys are supported, so the entry's size matters.
const _: () = assert!(size_of::<Entry<std::sync::Arc<str>>>() == 40);

#[derive(Debug)]
pub(super) struct Entries<K> {
    places: Vec<Entry<K>>,
    /// Head of the free list.
    free: Index,
}

impl<K> Entries<K> {
    pub(super) const fn new() -> Self {
        Self { places: Vec::new(), free: NIL }
    }

    pub(super) fn get(&self, index: Index) -> Option<&Entry<K>> {
        self.places.get(index as usize).filter(|it| it.key.is_some())
    }

    /// Returns all keys.
    #[cfg(test)]
    pub(super) fn iter(&self) -> impl Iterator<Item = &K> {
        self.places.iter().filter_map(|it| it.key.as_ref())
    }

    /// Stores a new key that is in no list and has no deadline.
    ///
    /// # Panics
    ///
    /// At 2^32 - 1 keys.
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

    /// Frees the slot of a key that is in no list and has no deadline, and returns the key.
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
