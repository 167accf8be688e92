//! The store of `kube`, filled by an informer.

use std::{hash::Hash, sync::Arc};

use kube::{
    Resource,
    runtime::{
        reflector::{ObjectRef, Store, store::Writer},
        watcher,
    },
};
use kube_wire::Object as _;

use super::cached::Cached;
use crate::{Event, mirror::Mirror};

/// Fills a [`Store`] with the objects of an informer.
///
/// A writer of `kube` keeps a clone of each object in an `Arc` of its own making. The informer keeps that `Arc`, and drops
/// what it decoded.
pub(super) struct KubeStore<K>
where
    K: Resource + Clone + 'static,
    K::DynamicType: Eq + Hash + Clone,
{
    writer: Writer<K>,
    reader: Store<K>,
    /// Objects of the first list, which the writer shows only when it is complete.
    listing: Option<Vec<Arc<Cached<K>>>>,
}

impl<K> KubeStore<K>
where
    K: Resource<DynamicType = ()> + Clone + Send + Sync + 'static,
{
    pub(super) fn new() -> (Self, Store<K>) {
        let writer = Writer::default();
        let reader = writer.as_reader();
        (Self { writer, reader: reader.clone(), listing: Some(Vec::new()) }, reader)
    }

    /// Applies an event, and returns its object.
    fn write(&mut self, event: watcher::Event<K>) -> Option<K> {
        self.writer.apply_watcher_event(&event);
        match event {
            watcher::Event::Apply(object) | watcher::Event::InitApply(object) | watcher::Event::Delete(object) => {
                Some(object)
            }
            watcher::Event::Init | watcher::Event::InitDone => None,
        }
    }
}

/// Returns the reference by which a [`Store`] finds an object.
pub(super) fn reference<K>(object: &Cached<K>) -> ObjectRef<K>
where
    K: Resource<DynamicType = ()> + Send + Sync + 'static,
{
    let reference = ObjectRef::new(object.name());
    if object.namespace().is_empty() { reference } else { reference.within(object.namespace()) }
}

impl<K> Mirror<Cached<K>> for KubeStore<K>
where
    K: Resource<DynamicType = ()> + Clone + Send + Sync + 'static,
{
    fn apply(&mut self, event: &Event<Cached<K>>) {
        match (event.states(), &mut self.listing) {
            ((_, Some(new)), Some(listing)) => {
                listing.push(new.clone());
                new.place(|object| {
                    self.write(watcher::Event::InitApply(object));
                    None
                });
            }
            ((Some(old), Some(new)), None) if Arc::ptr_eq(old, new) => {}
            ((_, Some(new)), None) => new.place(|object| {
                self.write(watcher::Event::Apply(object));
                self.reader.get(&reference(new))
            }),
            ((Some(last), None), _) => last.place(|object| self.write(watcher::Event::Delete(object)).map(Arc::new)),
            ((None, None), _) => {}
        }
    }

    fn listed(&mut self) {
        self.write(watcher::Event::InitDone);
        for object in self.listing.take().into_iter().flatten() {
            if let Some(contents) = self.reader.get(&reference(&object)) {
                object.placed(contents);
            }
        }
    }
}
