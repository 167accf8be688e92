//! Objects of a list or streaming list that is not complete yet.

use std::{
    collections::{HashMap, HashSet},
    mem,
    sync::Arc,
};

use kube_wire::{DecodeError, Object, ObjectKey, Uid};

/// Objects in order of arrival. Duplicates and deletions are resolved when the list is complete.
#[derive(Debug)]
pub(super) struct Gathered<T> {
    objects: Vec<Arc<T>>,
    /// For each deleted object, how many objects had arrived before its deletion. Deletions within a list are rare, so
    /// they are applied at the end.
    deleted: HashMap<ObjectKey, usize>,
    /// Uids of objects whose newest state cannot be decoded, and whether they are to be skipped.
    undecodable: HashMap<ObjectKey, (Uid, bool)>,
    /// Decode error of the last object without a readable name.
    skipped: Option<DecodeError>,
}

/// A complete list without its objects.
#[derive(Debug)]
pub(super) struct Complete {
    /// Number of objects.
    pub(super) listed: usize,
    /// Names of objects whose newest state cannot be decoded. The list has an earlier state, if there is one.
    pub(super) undecodable: HashSet<ObjectKey>,
    /// Names of those of them that are to be removed after the list is stored.
    pub(super) to_skip: HashSet<ObjectKey>,
    /// Decode error of the last object without a readable name.
    pub(super) skipped: Option<DecodeError>,
}

impl<T: Object> Gathered<T> {
    pub(super) fn new() -> Self {
        Self { objects: Vec::new(), deleted: HashMap::new(), undecodable: HashMap::new(), skipped: None }
    }

    pub(super) fn push(&mut self, object: Arc<T>) {
        if !self.undecodable.is_empty() {
            self.undecodable.remove(&object.key());
        }
        self.objects.push(object);
    }

    /// Records that the newest state of an object cannot be decoded, and whether it is to be skipped.
    pub(super) fn mark_undecodable(&mut self, key: ObjectKey, uid: Uid, skip: bool) {
        self.undecodable.insert(key, (uid, skip));
    }

    /// Records an object that cannot be decoded and has no readable name.
    pub(super) fn skip(&mut self, error: DecodeError) {
        self.skipped = Some(error);
    }

    pub(super) fn remove(&mut self, key: ObjectKey) {
        self.undecodable.remove(&key);
        self.deleted.insert(key, self.objects.len());
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }

    /// Returns the complete list and frees the memory. The objects are in order of arrival: of several states of one
    /// object, the last is the newest.
    ///
    /// An object that cannot be decoded is represented by its last gathered state, or else by the one that `stored`
    /// returns. A state for which `same_uid` returns `false` belongs to an earlier object of that name and is left out.
    /// An object to skip is represented only by the state that `stored` returns, so that storing the list does not
    /// remove it.
    pub(super) fn take(
        &mut self,
        stored: impl Fn(&ObjectKey) -> Option<Arc<T>>,
        same_uid: impl Fn(&T, &Uid) -> bool,
    ) -> (Vec<Arc<T>>, Complete) {
        let Self { mut objects, deleted, undecodable, skipped } = mem::replace(self, Self::new());
        if !deleted.is_empty() {
            let mut at = 0;
            objects.retain(|object| {
                at += 1;
                deleted.get(&object.key()).is_none_or(|until| at > *until)
            });
        }
        if !undecodable.is_empty() {
            let mut missing: HashSet<&ObjectKey> = undecodable.keys().collect();
            objects.retain(|object| {
                let key = object.key();
                let same = undecodable.get(&key).is_none_or(|(uid, skip)| !skip && same_uid(object, uid));
                if same {
                    missing.remove(&key);
                }
                same
            });
            let of_uid = |(key, (uid, skip)): (&ObjectKey, &(Uid, bool))| {
                if missing.contains(key) { stored(key).filter(|object| *skip || same_uid(object, uid)) } else { None }
            };
            objects.extend(undecodable.iter().filter_map(of_uid));
        }
        let to_skip = undecodable.iter().filter(|(_, (_, skip))| *skip).map(|(key, _)| key.clone()).collect();
        let (listed, undecodable) = (objects.len(), undecodable.into_keys().collect());
        (objects, Complete { listed, undecodable, to_skip, skipped })
    }
}
