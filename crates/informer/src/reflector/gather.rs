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
    gone: HashMap<ObjectKey, usize>,
    /// Uids of objects whose newest state cannot be decoded.
    kept: HashMap<ObjectKey, Uid>,
    /// Decode error of the last object without a readable name.
    skipped: Option<DecodeError>,
}

/// Contents of a complete list.
#[derive(Debug)]
pub(super) struct Complete<T> {
    /// Objects in order of arrival. Of several states of one object, the last is the newest.
    pub(super) objects: Vec<Arc<T>>,
    /// Names of objects whose newest state cannot be decoded. `objects` contains an earlier state, if there is one.
    pub(super) kept: HashSet<ObjectKey>,
    /// Decode error of the last object without a readable name.
    pub(super) skipped: Option<DecodeError>,
}

impl<T: Object> Gathered<T> {
    pub(super) fn new() -> Self {
        Self { objects: Vec::new(), gone: HashMap::new(), kept: HashMap::new(), skipped: None }
    }

    /// Adds the newest state of an object.
    pub(super) fn push(&mut self, object: Arc<T>) {
        if !self.kept.is_empty() {
            self.kept.remove(&object.key());
        }
        self.objects.push(object);
    }

    /// Records that the newest state of an object cannot be decoded.
    pub(super) fn keep(&mut self, key: ObjectKey, uid: Uid) {
        self.kept.insert(key, uid);
    }

    /// Records an object that cannot be decoded and has no readable name.
    pub(super) fn skip(&mut self, error: DecodeError) {
        self.skipped = Some(error);
    }

    /// Records the deletion of an object.
    pub(super) fn remove(&mut self, key: ObjectKey) {
        self.kept.remove(&key);
        self.gone.insert(key, self.objects.len());
    }

    /// Drops everything and frees the memory.
    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }

    /// Returns the complete list and frees the memory.
    ///
    /// An object that cannot be decoded is represented by its last gathered state, or else by the one that `stored`
    /// returns. A state for which `is` returns `false` belongs to an earlier object of that name and is left out.
    pub(super) fn take(
        &mut self,
        stored: impl Fn(&ObjectKey) -> Option<Arc<T>>,
        is: impl Fn(&T, &Uid) -> bool,
    ) -> Complete<T> {
        let Self { mut objects, gone, kept, skipped } = mem::replace(self, Self::new());
        if !gone.is_empty() {
            let mut at = 0;
            objects.retain(|object| {
                at += 1;
                gone.get(&object.key()).is_none_or(|until| at > *until)
            });
        }
        if !kept.is_empty() {
            let mut missing: HashSet<&ObjectKey> = kept.keys().collect();
            objects.retain(|object| {
                let key = object.key();
                let same = kept.get(&key).is_none_or(|uid| is(object, uid));
                if same {
                    missing.remove(&key);
                }
                same
            });
            let of_uid = |(key, uid): (&ObjectKey, &Uid)| {
                if missing.contains(key) { stored(key).filter(|object| is(object, uid)) } else { None }
            };
            objects.extend(kept.iter().filter_map(of_uid));
        }
        Complete { objects, kept: kept.into_keys().collect(), skipped }
    }
}
