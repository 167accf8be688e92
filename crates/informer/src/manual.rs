//! An informer fed by hand.

use std::sync::{Arc, Mutex, PoisonError};

use kube_wire::{Object, Resource};

use crate::{Builder, ByHand, Informer, UpdateIndex, informer::Running, shared::Shared};

/// Feeds an informer from plain data instead of an API server, so that tests can drive handlers and controllers step by step.
///
/// Handlers run where the test says, in [`deliver`](Self::deliver), and nowhere else: no task, no clock, no waiting. When the
/// informer's [`run`](Informer::run) is called instead, handlers run there.
///
/// ```
/// use kube_informer::{Event, ManualSource};
/// # struct Pod;
/// # impl kube_wire::Object for Pod {
/// #     fn namespace(&self) -> &str { "shop" }
/// #     fn name(&self) -> &str { "web" }
/// #     fn uid(&self) -> kube_wire::Uid { kube_wire::Uid::default() }
/// #     fn resource_version(&self) -> kube_wire::ResourceVersion { kube_wire::ResourceVersion::default() }
/// # }
/// let (informer, source) = ManualSource::<Pod>::new();
/// let handler = informer.add_handler(|event| assert!(matches!(event, Event::Added { initial: true, .. })));
///
/// source.replace([Pod], "1");
/// assert!(!handler.has_synced(), "stored, but not delivered");
/// assert_eq!(source.deliver(), 1);
/// assert!(handler.has_synced() && informer.lister().get("shop", "web").is_some());
/// ```
pub struct ManualSource<T, X = ()> {
    shared: Arc<Shared<T, X>>,
    running: Arc<Mutex<Option<Running<T>>>>,
}

impl<T: Object> ManualSource<T> {
    /// An informer without an index, and its source.
    pub fn new() -> (Informer<T>, Self) {
        Self::builder().build()
    }

    /// To say more of the informer.
    pub fn builder() -> Builder<T, (), ByHand> {
        Builder::new(ByHand(()))
    }
}

impl<T: Object, X: Clone + Send + Sync + 'static> ManualSource<T, X> {
    /// Stands for the type where one is reported.
    pub(crate) const RESOURCE: Resource = Resource::cluster("", "", "manual source", "");

    pub(crate) fn of(shared: Arc<Shared<T, X>>, running: Arc<Mutex<Option<Running<T>>>>) -> Self {
        Self { shared, running }
    }

    /// An informer with an index, and its source.
    pub fn with_index(index: X, update: UpdateIndex<T, X>) -> (Informer<T, X>, Self) {
        ManualSource::builder().index(index, update).build()
    }

    /// As if a list had been received. The first one makes the informer synced.
    pub fn replace(&self, objects: impl IntoIterator<Item = T>, resource_version: &str) {
        let objects = objects.into_iter().map(|object| self.shared.arrived(object)).collect();
        self.shared.replace(objects, resource_version);
    }

    /// As if a watch had said that the object was added or modified.
    pub fn apply(&self, object: T) {
        self.shared.upsert(object);
    }

    /// As if a watch had said that the object was deleted; give its last state.
    pub fn delete(&self, last: T) {
        self.shared.delete(last);
    }

    /// As if a watch had said that nothing changed up to this version.
    pub fn bookmark(&self, resource_version: &str) {
        self.shared.bookmark(resource_version);
    }

    /// Runs the handlers until none has anything waiting, and says how many events they got. Does nothing when the informer
    /// runs by itself.
    pub fn deliver(&self) -> usize {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.as_mut().map_or(0, Running::drain)
    }
}
