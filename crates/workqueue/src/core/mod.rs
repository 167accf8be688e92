//! The queue as a state machine without lock, clock or runtime.
//!
//! A hash table maps each key to its one [`Entry`](entries::Entry), which records whether the key is queued or in
//! process and whether it is delayed, and is freed when neither holds. The queue, the keys in process and the deadlines
//! refer to entries by index, so a key is stored and hashed once.

mod deadlines;
mod entries;
mod list;
#[cfg(test)]
mod tests;

use std::time::Instant;

use hashbrown::{HashTable, hash_table::Entry};

pub(crate) use self::entries::Index;
use self::{
    deadlines::{Deadline, Deadlines},
    entries::{Entries, KeyState, NIL},
    list::List,
};

/// Hash table bucket. It keeps the hash so that growth and misses do not read the entry.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    hash: u32,
    index: Index,
}

/// Result of an add. An unused key is returned so that the caller can drop it after releasing its lock.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Added<K> {
    /// Queued; a worker can take it.
    Queued(Index),
    /// In process; queued again by `done`.
    Dirty(Index, Option<K>),
    /// Already queued, or already dirty.
    Duplicate(Option<K>),
    /// Refused: the queue is shutting down.
    Refused(K),
}

/// A key handed to a worker.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Taken<K> {
    pub(crate) key: K,
    pub(crate) index: Index,
}

/// Result of ending a key's processing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Finished<K> {
    /// Queued again, since it was added meanwhile.
    Requeued(Index),
    /// Neither queued nor in process; kept for its deadline.
    Kept(Index),
    /// Removed from the queue.
    Removed(Index, Option<K>),
}

/// Result of a delayed add.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Scheduled<K> {
    /// The key, if the queue has one already or refused it.
    pub(crate) spare: Option<K>,
    /// Whether the earliest deadline is now earlier, so that the timer must be woken.
    pub(crate) is_earlier: bool,
}

/// Result of [`Core::fire`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fired {
    /// A deadline passed and the key was added: it is queued, or dirty.
    Added(Index),
    /// A deadline passed for a key that was queued or dirty already.
    Duplicate,
    /// The earliest deadline; nothing is due before it.
    NotBefore(Instant),
    /// There are no deadlines.
    Idle,
}

#[derive(Debug)]
pub(crate) struct Core<K> {
    table: HashTable<Bucket>,
    entries: Entries<K>,
    ready: List,
    processing: List,
    deadlines: Deadlines,
    shutting_down: bool,
}

impl<K> Core<K> {
    pub(crate) fn new() -> Self {
        Self {
            table: HashTable::new(),
            entries: Entries::new(),
            ready: List::new(),
            processing: List::new(),
            deadlines: Deadlines::default(),
            shutting_down: false,
        }
    }

    /// Returns the number of queued keys, without those in process and those delayed.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.ready.len()
    }

    pub(crate) fn delayed(&self) -> usize {
        self.deadlines.len()
    }

    /// Returns the number of keys that are queued, delayed or in process.
    pub(crate) fn pending(&self) -> usize {
        self.table.len()
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        self.shutting_down
    }

    /// Returns the entries in process, in the order in which they were handed out.
    pub(crate) fn processing(&self) -> impl Iterator<Item = Index> {
        self.processing.iter(&self.entries)
    }
}

impl<K: Eq> Core<K> {
    #[inline]
    pub(crate) fn add(&mut self, hash: u32, key: K) -> Added<K> {
        if self.shutting_down {
            return Added::Refused(key);
        }
        let (index, spare) = self.find_or_insert(hash, key, KeyState::Queued);
        if spare.is_none() {
            self.ready.push_back(&mut self.entries, index);
            return Added::Queued(index);
        }
        match self.mark(index) {
            Marked::Queued => Added::Queued(index),
            Marked::Dirty => Added::Dirty(index, spare),
            Marked::Already => Added::Duplicate(spare),
        }
    }

    /// Schedules an add of `key` at `due`, or at the deadline that it has if that is earlier.
    pub(crate) fn schedule(&mut self, hash: u32, key: K, due: Instant) -> Scheduled<K> {
        if self.shutting_down {
            return Scheduled { spare: Some(key), is_earlier: false };
        }
        let before = self.deadlines.first();
        let (index, spare) = self.find_or_insert(hash, key, KeyState::Waiting);
        let position = self.entries[index].deadline;
        let entries = &mut self.entries;
        let moved = |index: Index, position| entries[index].deadline = position;
        match position {
            NIL => self.deadlines.push(due, index, moved),
            position => self.deadlines.advance(position, due, moved),
        }
        Scheduled { spare, is_earlier: self.deadlines.first() != before }
    }

    /// Returns the entry of a key. A new entry is in no list yet and takes the key; otherwise the key is returned.
    #[inline]
    fn find_or_insert(&mut self, hash: u32, key: K, state: KeyState) -> (Index, Option<K>) {
        let same = |it: &Bucket| it.hash == hash && self.entries[it.index].key.as_ref() == Some(&key);
        match self.table.entry(spread(hash), same, |it| spread(it.hash)) {
            Entry::Occupied(bucket) => (bucket.get().index, Some(key)),
            Entry::Vacant(bucket) => {
                let index = self.entries.insert(key, hash, state);
                bucket.insert(Bucket { hash, index });
                (index, None)
            }
        }
    }
}

impl<K: Clone> Core<K> {
    #[inline]
    pub(crate) fn get(&mut self) -> Option<Taken<K>> {
        let index = self.ready.head()?;
        // `clone` is the caller's code and may panic, so it runs before any change.
        let key = self.entries[index].key.clone()?;
        self.ready.unlink(&mut self.entries, index);
        self.entries[index].state = KeyState::Processing;
        self.processing.push_back(&mut self.entries, index);
        Some(Taken { key, index })
    }
}

impl<K> Core<K> {
    /// Adds the key with the earliest deadline if it is due.
    pub(crate) fn fire(&mut self, now: Instant) -> Fired {
        match self.deadlines.first() {
            None => return Fired::Idle,
            Some((due, _)) if now < due => return Fired::NotBefore(due),
            Some(_) => {}
        }
        let entries = &mut self.entries;
        let Some(index) = self.deadlines.pop(|index, position| entries[index].deadline = position) else {
            return Fired::Idle;
        };
        match self.mark(index) {
            Marked::Queued | Marked::Dirty => Fired::Added(index),
            Marked::Already => Fired::Duplicate,
        }
    }

    /// Refuses further adds and removes all deadlines; queued keys are still handed out. Returns the keys that were only
    /// delayed.
    pub(crate) fn shut_down(&mut self) -> Vec<K> {
        self.shutting_down = true;
        let mut dropped = Vec::new();
        for Deadline { index, .. } in self.deadlines.drain() {
            let entry = &mut self.entries[index];
            entry.deadline = NIL;
            if entry.state == KeyState::Waiting {
                dropped.extend(self.remove(index));
            }
        }
        dropped
    }

    /// Marks the key of an existing entry as added.
    #[inline]
    fn mark(&mut self, index: Index) -> Marked {
        let entry = &mut self.entries[index];
        match entry.state {
            KeyState::Waiting => {
                entry.state = KeyState::Queued;
                self.ready.push_back(&mut self.entries, index);
                Marked::Queued
            }
            KeyState::Processing => {
                entry.state = KeyState::ProcessingDirty;
                Marked::Dirty
            }
            KeyState::ProcessingDirty | KeyState::Queued => Marked::Already,
        }
    }

    /// Ends the processing of a key. Called once for each [`Taken`].
    #[inline]
    pub(crate) fn done(&mut self, index: Index) -> Finished<K> {
        let entry = &mut self.entries[index];
        debug_assert!(matches!(entry.state, KeyState::Processing | KeyState::ProcessingDirty), "{:?}", entry.state);
        let (dirty, waits) = (entry.state == KeyState::ProcessingDirty, entry.deadline != NIL);
        self.processing.unlink(&mut self.entries, index);
        if dirty {
            self.entries[index].state = KeyState::Queued;
            self.ready.push_back(&mut self.entries, index);
            Finished::Requeued(index)
        } else if waits {
            self.entries[index].state = KeyState::Waiting;
            Finished::Kept(index)
        } else {
            Finished::Removed(index, self.remove(index))
        }
    }

    /// Removes an entry that is in no list and has no deadline.
    #[inline]
    fn remove(&mut self, index: Index) -> Option<K> {
        let hash = self.entries[index].hash;
        if let Ok(bucket) = self.table.find_entry(spread(hash), |it| it.index == index) {
            bucket.remove();
        }
        self.entries.remove(index)
    }
}

/// Result of [`Core::mark`].
enum Marked {
    Queued,
    Dirty,
    Already,
}

/// Repeats the hash in both halves: the table takes buckets from the low bits of a hash and tags from the high bits.
#[inline]
fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}
