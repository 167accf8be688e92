//! Doubly linked lists threaded through the entries, so that moving a key costs no allocation and no search.

use slab::Slab;

use super::{Entry, Index, NIL};

/// A first-in, first-out list of entries. An entry is in one list at most.
#[derive(Debug)]
pub(super) struct List {
    head: Index,
    tail: Index,
}

impl List {
    pub(super) const fn new() -> Self {
        Self { head: NIL, tail: NIL }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.head == NIL
    }

    pub(super) fn head(&self) -> Option<Index> {
        (self.head != NIL).then_some(self.head)
    }

    pub(super) fn push_back<K>(&mut self, entries: &mut Slab<Entry<K>>, index: Index) {
        let entry = &mut entries[index as usize];
        entry.prev = self.tail;
        entry.next = NIL;
        match self.tail {
            NIL => self.head = index,
            tail => entries[tail as usize].next = index,
        }
        self.tail = index;
    }

    pub(super) fn unlink<K>(&mut self, entries: &mut Slab<Entry<K>>, index: Index) {
        let entry = &mut entries[index as usize];
        let (prev, next) = (entry.prev, entry.next);
        entry.prev = NIL;
        entry.next = NIL;
        match prev {
            NIL => self.head = next,
            prev => entries[prev as usize].next = next,
        }
        match next {
            NIL => self.tail = prev,
            next => entries[next as usize].prev = prev,
        }
    }

    /// The entries from the oldest to the newest.
    pub(super) fn iter<'a, K>(&self, entries: &'a Slab<Entry<K>>) -> impl Iterator<Item = Index> + use<'a, K> {
        std::iter::successors(self.head(), |&at| Some(entries[at as usize].next).filter(|&next| next != NIL))
    }
}
