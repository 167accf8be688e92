//! The present state of all objects, by number.

use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};
use kube_endpoint_model::ObjectKey;

use crate::object::{Kind, Recorded};

/// The objects that exist, by number. Numbers of deleted objects are used again.
#[derive(Default)]
pub(super) struct Objects {
    slots: Vec<Option<Slot>>,
    free: Vec<u32>,
    by_key: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

/// What is kept of each object: 24 bytes, and 5 in the table.
pub(super) struct Slot {
    pub(super) object: Recorded,
    /// Number of its group in the segment, if one has begun.
    pub(super) group: u32,
}

impl Objects {
    pub(super) fn find(&self, kind: Kind, key: &ObjectKey) -> Option<u32> {
        self.by_key.find(self.hash(kind, key), |number| self.is(*number, kind, key)).copied()
    }

    pub(super) fn get(&self, number: u32) -> Option<&Slot> {
        self.slots[number as usize].as_ref()
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut Slot> {
        self.slots[number as usize].as_mut()
    }

    /// Returns the number of objects.
    #[cfg(feature = "recorder")]
    pub(super) fn len(&self) -> usize {
        self.by_key.len()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.slots.iter_mut().flatten()
    }

    /// Returns the numbers of the objects that exist.
    pub(super) fn numbers(&self) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(self.by_key.len());
        numbers.extend(self.by_key.iter());
        numbers
    }

    fn is(&self, number: u32, kind: Kind, key: &ObjectKey) -> bool {
        self.get(number).is_some_and(|slot| slot.object.is(kind, key))
    }

    fn hash(&self, kind: Kind, key: &ObjectKey) -> u64 {
        self.hasher.hash_one((kind, key))
    }

    pub(super) fn insert(&mut self, object: Recorded, group: u32) -> u32 {
        let hash = self.hash(object.kind(), &object.key());
        let slot = Some(Slot { object, group });
        let number = if let Some(free) = self.free.pop() {
            self.slots[free as usize] = slot;
            free
        } else {
            self.slots.push(slot);
            u32::try_from(self.slots.len() - 1).expect("as many objects take more memory than there is")
        };
        let Objects { slots, by_key, hasher, .. } = self;
        // The hash is not kept: a table that grows is rare.
        let hash_of = |number: &u32| {
            let object = slots[*number as usize].as_ref().map(|slot| &slot.object);
            object.map_or(0, |object| hasher.hash_one((object.kind(), &object.key())))
        };
        by_key.insert_unique(hash, number, hash_of);
        number
    }

    pub(super) fn remove(&mut self, kind: Kind, key: &ObjectKey) -> Option<(u32, Slot)> {
        let number = self.find(kind, key)?;
        if let Ok(entry) = self.by_key.find_entry(self.hash(kind, key), |it| *it == number) {
            entry.remove();
        }
        self.free.push(number);
        Some((number, self.slots[number as usize].take()?))
    }
}
