//! Own writes, stored ahead of the watch.

use std::{fmt, sync::Arc};

use educe::Educe;
use kube_wire::{Object, ObjectKey};
#[cfg(feature = "runtime")]
use kube_wire::{ResourceVersion, Uid};

use crate::{
    HandlerHandle, Index,
    deferred_events::Outcome,
    handle::Id,
    shared::{Shared, WriteSink},
};

/// Puts the responses to own writes into the store of an informer, so that the store is never older than an
/// acknowledged write.
///
/// Call [`begin`](Self::begin) before each request is sent, and report the response to the [`OwnWrite`] that it
/// returns:
/// - A [`Lister`](crate::Lister) returns the written state as soon as the response is reported.
/// - The writer's handler gets no event of the write, whether the watch or the response is first. It gets every event
///   that other clients cause.
/// - Events and lists that are older than the write do not undo it.
/// - A write that the server acknowledged and then lost (etcd restored from a backup) is detected by a later bookmark
///   and causes a relist.
///
/// Only for informers without selectors: an object that a write moves out of the selection stays stored until the next
/// bookmark.
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
#[derive(Educe)]
#[educe(Clone(bound(false)))]
pub struct WriteThrough<T> {
    sink: Arc<dyn WriteSink<T>>,
    writer: Option<Id>,
}

/// One write of an object, from before the request until its response. Dropping it without a report means that the
/// response was lost.
#[must_use = "report the response with `written`, `deleted`, `conflict` or `failed`; dropping it reports a lost response"]
pub struct OwnWrite<T> {
    sink: Arc<dyn WriteSink<T>>,
    writer: Option<Id>,
    key: ObjectKey,
    outcome: Outcome,
}

impl<T: Object> WriteThrough<T> {
    pub(crate) fn new<X: Index<T>>(shared: Arc<Shared<T, X>>, writer: &HandlerHandle) -> Self {
        Self { sink: shared, writer: writer.id() }
    }

    /// Begins a write of an object. Call it before the request is sent, and end the previous write of the same object
    /// first: a second `begin` discards the events that were deferred during the first write.
    pub fn begin(&self, namespace: &str, name: &str) -> OwnWrite<T> {
        let key = ObjectKey::new(namespace, name);
        self.sink.begin(&key, self.writer);
        OwnWrite { sink: self.sink.clone(), writer: self.writer, key, outcome: Outcome::Unanswered }
    }

    /// Returns the stored object of this namespace and name; `None` if there is none. The namespace is empty for
    /// cluster-scoped objects.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<T>> {
        self.sink.get(namespace, name)
    }
}

impl<T: Object> OwnWrite<T> {
    /// Stores the object from the response to a create, an update, or a delete that waits for finalizers.
    pub fn written(mut self, object: T) {
        self.outcome = Outcome::Written(object.resource_version());
        self.sink.written(object, self.writer);
    }

    /// Removes an object that the server has deleted. `object` is the stored state that the request was based on.
    pub fn deleted(mut self, object: &T) {
        self.outcome = Outcome::Deleted(object.uid());
        self.sink.deleted(object, self.writer);
    }

    /// Removes the object with this uid, whether it is stored or not, because the write has deleted it or moved it out of the selection
    /// of the informer: it was not selected at `deselected_at`. An empty uid matches the stored object; then no handler may be the
    /// writer, since its events are recognized by the uid.
    #[cfg(feature = "runtime")]
    pub(crate) fn gone(mut self, uid: Uid, deselected_at: Option<ResourceVersion>) {
        self.outcome = Outcome::Deleted(uid.clone());
        self.sink.gone(self.key.clone(), uid, deselected_at, self.writer);
    }

    /// Reports that the server rejected a write based on this stored state with 409 Conflict.
    ///
    /// Usually another client wrote first and the watch will show it. If the state is an own write that the watch has
    /// not confirmed, the server has lost that write, and the informer relists.
    pub fn conflict(mut self, object: &T) {
        self.outcome = Outcome::Rejected;
        self.sink.conflict(object);
    }

    /// Reports that the write failed.
    ///
    /// If the server may have applied it all the same, for example because the response was lost, handlers of
    /// [foreign writes](crate::HandlerOptions::foreign_writes) do not get the next event of the object within 5 min.
    pub fn failed(mut self, may_have_been_applied: bool) {
        if !may_have_been_applied {
            self.outcome = Outcome::Rejected;
        }
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

impl<T> fmt::Debug for WriteThrough<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteThrough").field("writer", &self.writer).finish_non_exhaustive()
    }
}
