//! A source of objects for informers in tests.

use std::{
    future::pending,
    sync::{Arc, Mutex, PoisonError},
};

use kube_wire::{Object, Resource, ResourceVersion};

use crate::{Index, Informer, informer::Running, mirror::Mirror, options::Options, shared::Shared};

/// Source of objects that replaces the API server in tests, so that they can drive handlers and controllers step by
/// step (client-go: `FakeControllerSource`).
///
/// Handlers run only within [`deliver`](Self::deliver), without a task or a clock. If [`Informer::run`] is called, they
/// run there instead.
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
    running: Arc<Mutex<Option<Running>>>,
}

impl<T: Object> ManualSource<T> {
    /// Builds an informer without an index, and its source.
    pub fn new() -> (Informer<T>, Self) {
        Self::with_index(())
    }
}

impl<T: Object, X: Index<T>> ManualSource<T, X> {
    /// Resource shown in errors, logs and metrics.
    const RESOURCE: Resource = Resource::cluster("", "", "manual source", "");

    pub(crate) fn with_options(options: Options<X>, mirror: Option<Box<dyn Mirror<T>>>) -> (Informer<T, X>, Self) {
        let resync = options.resync;
        let (shared, runners) = Shared::new(&Self::RESOURCE, options, mirror);
        let running = Running::new(runners, shared.clone().resync(resync), Box::pin(pending()));
        let running = Arc::new(Mutex::new(Some(running)));
        (Informer::new(shared.clone(), running.clone(), None), Self { shared, running })
    }

    /// Builds an informer with an index, and its source. For other options, see
    /// [`Builder::build_manual`](crate::Builder::build_manual).
    pub fn with_index(index: X) -> (Informer<T, X>, Self) {
        Self::with_options(Options::new(index), None)
    }

    /// Stores a list of all objects at this resource version. After the first one, the informer is synced.
    pub fn replace(&self, objects: impl IntoIterator<Item = T>, resource_version: impl Into<ResourceVersion>) {
        let objects = objects.into_iter().map(|object| self.shared.intern(object)).collect();
        self.shared.replace_by(objects, resource_version.into());
    }

    /// Applies an `ADDED` or `MODIFIED` event of a watch.
    pub fn apply(&self, object: T) {
        self.shared.upsert(object);
    }

    /// Applies a `DELETED` event of a watch with the last state of the object.
    pub fn delete(&self, last: T) {
        self.shared.delete(last);
    }

    /// Applies a bookmark of a watch: all changes up to this resource version have been applied.
    ///
    /// Returns whether an own write is missing among them, so that an informer of an API server would relist.
    pub fn bookmark(&self, resource_version: impl Into<ResourceVersion>) -> bool {
        self.shared.bookmark(&resource_version.into())
    }

    /// Runs the handlers until their queues are empty, and returns the number of events delivered. Does nothing if
    /// [`Informer::run`] has taken over the handlers.
    pub fn deliver(&self) -> usize {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.as_mut().map_or(0, Running::drain)
    }
}
