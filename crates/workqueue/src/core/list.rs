//! Doubly linked lists through the entries: moving a key needs no allocation and no search.

use super::entries::{Entries, Index, NIL};

/// First-in, first-out list of entries. An entry is in at most one list.
#[derive(Debug)]
pub(super) struct List {
    head: Index,
    tail: Index,
    len: usize,
}

impl List {
    pub(super) const fn new() -> Self {
        Self { head: NIL, tail: NIL, len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn head(&self) -> Option<Index> {
        (self.head != NIL).then_some(self.head)
    }

    #[inline]
    pub(super) fn push_back<K>(&mut self, entries: &mut Entries<K>, index: Index) {
        let entry = &mut entries[index];
        entry.prev = self.tail;
        entry.next = NIL;
        match self.tail {
            NIL => self.head = index,
            tail => entries[tail].next = index,
        }
        self.tail = index;
        self.len += 1;
    }

    #[inline]
    pub(super) fn unlink<K>(&mut self, entries: &mut Entries<K>, index: Index) {
        let entry = &mut entries[index];
        let (prev, next) = (entry.prev, entry.next);
        self.len -= 1;
        entry.prev = NIL;
        entry.next = NIL;
        match prev {
            NIL => self.head = next,
            prev => entries[prev].next = next,
        }
        match next {
            NIL => self.tail = prev,
            next => entries[next].prev = prev,
        }
    }

    /// Returns the entries, oldest first.
    pub(super) fn iter<'a, K>(&self, entries: &'a Entries<K>) -> impl Iterator<Item = Index> + use<'a, K> {
        std::iter::successors(self.head(), |&at| Some(entries[at].next).filter(|&next| next != NIL))
    }
}
