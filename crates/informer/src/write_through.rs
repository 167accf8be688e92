//! Own writes in the store ahead of the watch.

use std::{fmt, sync::Arc};

use kube_wire::{Object, ObjectKey};

use crate::{HandlerHandle, handle::Id, held_events::Outcome, shared::Shared};

/// Puts the answers to own writes into the store of an informer, so that the store is never behind what the program wrote.
///
/// [Begin](Self::begin) each write before it is sent, and give the answer to what that returns. Then:
/// - a [`Lister`](crate::Lister) shows the write as soon as its answer is taken in;
/// - the writer's handler gets no event of the write, whether the watch or the answer is first, and all events that others cause;
/// - an older event, or a list that is older than the write, does not undo it;
/// - a write that the server acknowledged and lost (restored from a backup) is noticed with a later bookmark, and everything is
///   listed again.
///
/// Only for informers without selectors: an object that a write moves out of the selection stays stored until the next bookmark.
///
/// ```
/// use kube_informer::ManualSource;
/// # #[derive(Clone)]
/// # struct Pod { version: u64 }
/// # impl kube_wire::Object for Pod {
/// #     fn namespace(&self) -> &str { "shop" }
/// #     fn name(&self) -> &str { "web" }
/// #     fn uid(&self) -> kube_wire::Uid { "1".into() }
/// #     fn resource_version(&self) -> kube_wire::ResourceVersion { self.version.into() }
/// # }
/// let (informer, source) = ManualSource::<Pod>::new();
/// let handler = informer.add_handler(|event| println!("{event:?}"));
/// source.replace([Pod { version: 1 }], "1");
///
/// let writes = informer.write_through(&handler);
/// let write = writes.begin("shop", "web");
/// write.written(Pod { version: 5 });
/// source.apply(Pod { version: 3 });
/// assert_eq!(informer.lister().get("shop", "web").map(|pod| pod.version), Some(5), "the older event is dropped");
/// ```
pub struct WriteThrough<T> {
    sink: Arc<dyn Sink<T>>,
    writer: Option<Id>,
}

/// A write of one object that was sent, or is about to be. Dropping it says that the write failed or was not answered.
#[must_use = "the answer is to be given to it"]
pub struct OwnWrite<T> {
    sink: Arc<dyn Sink<T>>,
    writer: Option<Id>,
    key: ObjectKey,
    outcome: Outcome,
}

/// The informer, whatever its index.
trait Sink<T>: Send + Sync {
    fn begin(&self, key: &ObjectKey, writer: Option<Id>);
    fn end(&self, key: &ObjectKey, writer: Option<Id>, outcome: &Outcome);
    fn written(&self, object: T, writer: Option<Id>);
    fn deleted(&self, object: &T, writer: Option<Id>);
    fn refused(&self, object: &T);
    fn get(&self, namespace: &str, name: &str) -> Option<Arc<T>>;
}

impl<T: Object, X: Clone + Send + Sync + 'static> Sink<T> for Shared<T, X> {
    fn begin(&self, key: &ObjectKey, writer: Option<Id>) {
        self.begin_write(key, writer);
    }

    fn end(&self, key: &ObjectKey, writer: Option<Id>, outcome: &Outcome) {
        self.end_write(key, writer, outcome);
    }

    fn written(&self, object: T, writer: Option<Id>) {
        Shared::written(self, object, writer);
    }

    fn deleted(&self, object: &T, writer: Option<Id>) {
        Shared::deleted(self, object, writer);
    }

    fn refused(&self, object: &T) {
        Shared::refused(self, object);
    }

    fn get(&self, namespace: &str, name: &str) -> Option<Arc<T>> {
        self.store().read(|objects, _| objects.get(namespace, name).cloned())
    }
}

impl<T: Object> WriteThrough<T> {
    pub(crate) fn new<X: Clone + Send + Sync + 'static>(shared: Arc<Shared<T, X>>, writer: &HandlerHandle) -> Self {
        Self { sink: shared, writer: writer.id() }
    }

    /// Begins a write of an object. One at a time for each object: begin the next when this one has ended.
    pub fn begin(&self, namespace: &str, name: &str) -> OwnWrite<T> {
        let key = ObjectKey::new(namespace, name);
        self.sink.begin(&key, self.writer);
        OwnWrite { sink: self.sink.clone(), writer: self.writer, key, outcome: Outcome::Failed }
    }

    /// The stored object of this name.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<T>> {
        self.sink.get(namespace, name)
    }
}

impl<T: Object> OwnWrite<T> {
    /// Stores the object that the server answered to a create, an update, or a delete that waits for finalizers.
    pub fn written(mut self, object: T) {
        self.outcome = Outcome::Written(object.resource_version());
        self.sink.written(object, self.writer);
    }

    /// Removes an object that the server has deleted. `object` is the state that the delete was decided on.
    pub fn deleted(mut self, object: &T) {
        self.outcome = Outcome::Deleted(object.uid());
        self.sink.deleted(object, self.writer);
    }

    /// Takes in that the server refused a write on top of this stored state as outdated (409).
    ///
    /// Mostly somebody else wrote, and the watch will show it. If the state is an own write that the watch has not confirmed, the
    /// server has lost that write: then everything is listed again.
    pub fn refused(self, object: &T) {
        self.sink.refused(object);
    }
}

impl<T> Drop for OwnWrite<T> {
    fn drop(&mut self) {
        self.sink.end(&self.key, self.writer, &self.outcome);
    }
}

impl<T> fmt::Debug for OwnWrite<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnWrite").field("key", &self.key).field("outcome", &self.outcome).finish_non_exhaustive()
    }
}

impl<T> Clone for WriteThrough<T> {
    fn clone(&self) -> Self {
        Self { sink: self.sink.clone(), writer: self.writer }
    }
}

impl<T> fmt::Debug for WriteThrough<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteThrough").field("writer", &self.writer).finish_non_exhaustive()
    }
}
