//! The objects of a list or stream that is not complete yet.

use std::{collections::HashMap, mem, sync::Arc};

use kube_wire::{Object, ObjectKey};

/// Objects in the order in which they came. They are not looked at before the store takes them all.
#[derive(Debug)]
pub(super) struct Gathered<T> {
    objects: Vec<Arc<T>>,
    /// How many objects had come when one of this name was deleted. Rare, so looking them up is left to the end.
    gone: HashMap<ObjectKey, usize>,
}

impl<T: Object> Gathered<T> {
    pub(super) fn new() -> Self {
        Self { objects: Vec::new(), gone: HashMap::new() }
    }

    /// The object as it is now.
    pub(super) fn push(&mut self, object: Arc<T>) {
        self.objects.push(object);
    }

    /// The object was deleted.
    pub(super) fn remove(&mut self, object: &T) {
        self.gone.insert(object.key(), self.objects.len());
    }

    /// All that is left; of several states of one object the store takes the last. Nothing stays here, memory included.
    pub(super) fn take(&mut self) -> Vec<Arc<T>> {
        let (mut objects, gone) = (mem::take(&mut self.objects), mem::take(&mut self.gone));
        if !gone.is_empty() {
            let mut at = 0;
            objects.retain(|object| {
                at += 1;
                gone.get(&object.key()).is_none_or(|until| at > *until)
            });
        }
        objects
    }
}
