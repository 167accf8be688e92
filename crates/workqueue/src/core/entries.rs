//! Storage of the entries: one growing array with a free list through its unused slots.
//!
//! An entry never moves and is never copied as a whole: its fields are written one by one, and reading them in one wide
//! load soon afterwards would cause a store-forwarding stall in every operation.

use std::{mem, ops};

/// Index of an entry. Reused once the entry is freed.
pub(crate) type Index = u32;

/// No entry, or no position.
pub(super) const NIL: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyState {
    /// Neither queued nor in process; the entry exists only for its deadline.
    Waiting,
    Queued,
    Processing,
    /// In process and added again: queued when the worker is done.
    ProcessingDirty,
}

#[derive(Debug)]
pub(super) struct Entry<K> {
    /// `None` if the slot is free.
    pub(super) key: Option<K>,
    pub(super) hash: u32,
    /// Links of the list that the entry is in: the queue, the keys in process, or the free list.
    pub(super) next: Index,
    pub(super) prev: Index,
    /// Position in the heap of deadlines; `NIL` if the key is not delayed.
    pub(super) deadline: u32,
    pub(super) state: KeyState,
}

// Queues of a million keys are supported, so the entry's size matters.
const _: () = assert!(size_of::<Entry<std::sync::Arc<str>>>() == 40);

#[derive(Debug)]
pub(super) struct Entries<K> {
    slots: Vec<Entry<K>>,
    /// Head of the free list.
    free: Index,
}

impl<K> Entries<K> {
    pub(super) const fn new() -> Self {
        Self { slots: Vec::new(), free: NIL }
    }

    #[cfg(test)]
    pub(super) fn iter(&self) -> impl Iterator<Item = &K> {
        self.slots.iter().filter_map(|it| it.key.as_ref())
    }

    /// Stores a new key that is in no list and has no deadline.
    ///
    /// # Panics
    ///
    /// At 2^32 - 1 keys.
    #[inline]
    pub(super) fn insert(&mut self, key: K, hash: u32, state: KeyState) -> Index {
        let index = self.free;
        if let Some(entry) = self.slots.get_mut(index as usize) {
            self.free = entry.next;
            entry.key = Some(key);
            entry.hash = hash;
            entry.state = state;
            return index;
        }
        let index =
            Index::try_from(self.slots.len()).ok().filter(|&it| it != NIL).expect("fewer than four billion keys");
        let (next, prev, deadline) = (NIL, NIL, NIL);
        self.slots.push(Entry { key: Some(key), hash, next, prev, deadline, state });
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

impl<K> ops::Index<Index> for Entries<K> {
    type Output = Entry<K>;

    #[inline]
    fn index(&self, index: Index) -> &Entry<K> {
        &self.slots[index as usize]
    }
}

impl<K> ops::IndexMut<Index> for Entries<K> {
    #[inline]
    fn index_mut(&mut self, index: Index) -> &mut Entry<K> {
        &mut self.slots[index as usize]
    }
}
