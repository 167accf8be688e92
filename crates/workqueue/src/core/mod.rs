//! The queue as a state machine without lock, clock or runtime.
//!
//! A hash table maps each key to its one [`Entry`](entries::Entry), which records whether the key is queued or in
//! process and whether it is delayed, and is freed when neither holds. The lanes, the keys in process and the deadlines
//! refer to entries by index, so a key is stored and hashed once.

mod deadlines;
mod entries;
mod list;
mod ready;
#[cfg(test)]
mod tests;

use std::time::Instant;

use hashbrown::{HashTable, hash_table::Entry};

use self::{
    deadlines::Deadlines,
    entries::{Entries, State},
    list::List,
    ready::Ready,
};
use crate::Lanes;

/// Index of an entry. Reused once the entry is freed; tickets are not reused until they wrap after 2^32 calls of `get`.
pub(crate) type Index = u32;

/// No entry, or no position.
const NIL: u32 = u32::MAX;

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
    Dirty(Index, K),
    /// Already queued, or already dirty.
    Duplicate(K),
    /// Refused: the queue is shutting down.
    Refused(K),
}

/// A key handed to a worker.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lease<K> {
    pub(crate) key: K,
    pub(crate) index: Index,
    pub(crate) ticket: u32,
    pub(crate) lane: u8,
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
    /// No effect: the key was not in process, or under another ticket.
    Stale,
}

/// Result of a delayed add.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Scheduled<K> {
    /// The key, if the queue has one already or refused it.
    pub(crate) spare: Option<K>,
    /// Whether the earliest deadline changed, so that the timer must be woken.
    pub(crate) first_changed: bool,
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
    ready: Ready,
    processing: List,
    deadlines: Deadlines,
    tickets: u32,
    shutting_down: bool,
}

impl<K> Core<K> {
    pub(crate) fn new(lanes: Lanes) -> Self {
        Self {
            table: HashTable::new(),
            entries: Entries::new(),
            ready: Ready::new(lanes),
            processing: List::new(),
            deadlines: Deadlines::default(),
            tickets: 0,
            shutting_down: false,
        }
    }

    /// Returns the number of queued keys, without those in process and those delayed.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.ready.len()
    }

    /// Returns the number of delayed keys.
    pub(crate) fn waiting(&self) -> usize {
        self.deadlines.len()
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        self.shutting_down
    }

    /// Returns whether no key is queued or in process.
    #[inline]
    pub(crate) fn is_drained(&self) -> bool {
        self.ready.is_empty() && self.processing.is_empty()
    }

    /// Returns the number of keys handed out so far, modulo 2^32.
    pub(crate) fn handed_out(&self) -> u32 {
        self.tickets
    }

    /// Returns the entries in process, in the order in which they were handed out.
    pub(crate) fn processing(&self) -> impl Iterator<Item = Index> {
        self.processing.iter(&self.entries)
    }
}

impl<K: Eq> Core<K> {
    #[inline]
    pub(crate) fn add(&mut self, hash: u32, key: K, lane: u8) -> Added<K> {
        if self.shutting_down {
            return Added::Refused(key);
        }
        match self.find_or_insert(hash, key, State::Queued, lane) {
            (index, None) => {
                self.ready.push(&mut self.entries, index);
                Added::Queued(index)
            }
            (index, Some(key)) => match self.mark(index, lane) {
                Marked::Queued => Added::Queued(index),
                Marked::Dirty => Added::Dirty(index, key),
                Marked::Already => Added::Duplicate(key),
            },
        }
    }

    /// Ends the processing of `key`, whatever its ticket.
    #[inline]
    pub(crate) fn done_key(&mut self, hash: u32, key: &K) -> Finished<K> {
        let same = |it: &Bucket| it.hash == hash && self.entries[it.index].key.as_ref() == Some(key);
        match self.table.find(spread(hash), same).map(|it| it.index) {
            Some(index) => self.finish(index),
            None => Finished::Stale,
        }
    }

    /// Schedules an add of `key` at `due`; if it is scheduled already, the earlier deadline is kept.
    pub(crate) fn schedule(&mut self, hash: u32, key: K, due: Instant, lane: u8) -> Scheduled<K> {
        if self.shutting_down {
            return Scheduled { spare: Some(key), first_changed: false };
        }
        let before = self.deadlines.first();
        let (index, spare) = self.find_or_insert(hash, key, State::Waiting, lane);
        let entry = &mut self.entries[index];
        let position = entry.deadline;
        entry.deadline_lane = if position == NIL { lane } else { entry.deadline_lane.min(lane) };
        let entries = &mut self.entries;
        let moved = |index: Index, position| entries[index].deadline = position;
        match position {
            NIL => self.deadlines.push(due, index, moved),
            position => self.deadlines.bring_forward(position, due, moved),
        }
        Scheduled { spare, first_changed: self.deadlines.first() != before }
    }

    /// Returns the entry of a key. A new entry is in no list yet and takes the key; otherwise the key is returned.
    #[inline]
    fn find_or_insert(&mut self, hash: u32, key: K, state: State, lane: u8) -> (Index, Option<K>) {
        let same = |it: &Bucket| it.hash == hash && self.entries[it.index].key.as_ref() == Some(&key);
        match self.table.entry(spread(hash), same, |it| spread(it.hash)) {
            Entry::Occupied(bucket) => (bucket.get().index, Some(key)),
            Entry::Vacant(bucket) => {
                let index = self.entries.insert(key, hash, state, lane);
                bucket.insert(Bucket { hash, index });
                (index, None)
            }
        }
    }
}

impl<K: Clone> Core<K> {
    #[inline]
    pub(crate) fn get(&mut self) -> Option<Lease<K>> {
        let index = self.ready.peek()?;
        // `clone` is the caller's code and may panic, so it runs before any change.
        let key = self.entries[index].key.clone()?;
        self.ready.take(&mut self.entries, index);
        self.tickets = self.tickets.wrapping_add(1);
        let entry = &mut self.entries[index];
        entry.state = State::Processing;
        entry.ticket = self.tickets;
        let lane = entry.lane;
        self.processing.push_back(&mut self.entries, index);
        Some(Lease { key, index, ticket: self.tickets, lane })
    }
}

impl<K> Core<K> {
    /// Ends the processing that began with `ticket`.
    #[inline]
    pub(crate) fn done(&mut self, index: Index, ticket: u32) -> Finished<K> {
        match self.entries.get(index) {
            Some(entry) if entry.ticket == ticket => self.finish(index),
            _ => Finished::Stale,
        }
    }

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
        let lane = self.entries[index].deadline_lane;
        match self.mark(index, lane) {
            Marked::Queued | Marked::Dirty => Fired::Added(index),
            Marked::Already => Fired::Duplicate,
        }
    }

    /// Refuses further adds and removes all deadlines; queued keys are still handed out. Returns the keys that were
    /// only delayed.
    pub(crate) fn shut_down(&mut self) -> Vec<K> {
        self.shutting_down = true;
        let mut dropped = Vec::new();
        for index in self.deadlines.drain() {
            let entry = &mut self.entries[index];
            entry.deadline = NIL;
            if entry.state == State::Waiting {
                dropped.extend(self.remove(index));
            }
        }
        dropped
    }

    /// Marks the key of an existing entry as added.
    #[inline]
    fn mark(&mut self, index: Index, lane: u8) -> Marked {
        let entry = &mut self.entries[index];
        match entry.state {
            State::Waiting => {
                entry.state = State::Queued;
                entry.lane = lane;
                self.ready.push(&mut self.entries, index);
                Marked::Queued
            }
            State::Processing => {
                entry.state = State::ProcessingDirty;
                entry.lane = lane;
                Marked::Dirty
            }
            State::ProcessingDirty => {
                entry.lane = entry.lane.min(lane);
                Marked::Already
            }
            State::Queued => {
                if lane < entry.lane {
                    self.ready.promote(&mut self.entries, index, lane);
                }
                Marked::Already
            }
        }
    }

    #[inline]
    fn finish(&mut self, index: Index) -> Finished<K> {
        let entry = &mut self.entries[index];
        let dirty = match entry.state {
            State::Waiting | State::Queued => return Finished::Stale,
            State::Processing => false,
            State::ProcessingDirty => true,
        };
        let waits = entry.deadline != NIL;
        self.processing.unlink(&mut self.entries, index);
        if dirty {
            self.entries[index].state = State::Queued;
            self.ready.push(&mut self.entries, index);
            Finished::Requeued(index)
        } else if waits {
            self.entries[index].state = State::Waiting;
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
