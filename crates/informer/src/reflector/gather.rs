//! The objects of a list or stream that is not complete yet.

use std::{
    collections::{HashMap, HashSet},
    mem,
    sync::Arc,
};

use kube_wire::{DecodeError, Object, ObjectKey, Uid};

/// Objects in the order in which they came. They are not looked at before the store takes them all.
#[derive(Debug)]
pub(super) struct Gathered<T> {
    objects: Vec<Arc<T>>,
    /// How many objects had come when one of this name was deleted. Rare, so looking them up is left to the end.
    gone: HashMap<ObjectKey, usize>,
    /// Objects that exist and cannot be decoded.
    kept: HashMap<ObjectKey, Uid>,
    /// Why the last object without a readable name cannot be decoded.
    skipped: Option<DecodeError>,
}

/// All that was gathered.
#[derive(Debug)]
pub(super) struct Complete<T> {
    /// Of several states of one object the last one counts.
    pub(super) objects: Vec<Arc<T>>,
    /// Names of objects whose newest state cannot be decoded. An earlier one is among the objects, if there is one.
    pub(super) kept: HashSet<ObjectKey>,
    /// Why the last object without a readable name cannot be decoded.
    pub(super) skipped: Option<DecodeError>,
}

impl<T: Object> Gathered<T> {
    pub(super) fn new() -> Self {
        Self { objects: Vec::new(), gone: HashMap::new(), kept: HashMap::new(), skipped: None }
    }

    /// The object as it is now.
    pub(super) fn push(&mut self, object: Arc<T>) {
        if !self.kept.is_empty() {
            self.kept.remove(&object.key());
        }
        self.objects.push(object);
    }

    /// The object exists, in a state that cannot be decoded.
    pub(super) fn keep(&mut self, key: ObjectKey, uid: Uid) {
        self.kept.insert(key, uid);
    }

    /// An object that cannot be decoded and has no readable name.
    pub(super) fn skip(&mut self, error: DecodeError) {
        self.skipped = Some(error);
    }

    /// The object was deleted.
    pub(super) fn remove(&mut self, key: ObjectKey) {
        self.kept.remove(&key);
        self.gone.insert(key, self.objects.len());
    }

    /// Forgets everything, memory included.
    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }

    /// Returns everything and keeps nothing, memory included. For an object that cannot be decoded, the last state of it that was
    /// gathered counts, else the one that `stored` returns, each only if it `is` of the same uid.
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
