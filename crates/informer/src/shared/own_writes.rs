//! Own writes: their results in the store, and the events that are deferred while a response is awaited.

use std::sync::Arc;

use kube_wire::{Object, ObjectKey};
#[cfg(feature = "runtime")]
use kube_wire::{ResourceVersion, Uid};
use tokio::time::Instant;

use super::{Shared, WriteSide};
use crate::{Index, RelistCause, deferred_events::Outcome, handle::Id};

/// An informer as seen by the writers of its objects, without the type of its index.
pub(crate) trait WriteSink<T>: Send + Sync {
    /// Starts to defer the events of an object for the handler `writer` and those of foreign writes, until
    /// [`end`](Self::end).
    fn begin(&self, key: &ObjectKey, writer: Option<Id>);

    /// Ends a write and queues the deferred events, except that of the write itself.
    fn end(&self, key: &ObjectKey, writer: Option<Id>, outcome: &Outcome);

    /// Stores the object from the response to a write. The handler `writer` and those of foreign writes get no event of
    /// it.
    fn written(&self, object: T, writer: Option<Id>);

    /// Removes an object that the server deleted on request. The handler `writer` and those of foreign writes get no
    /// event of it.
    fn deleted(&self, object: &T, writer: Option<Id>);

    /// Removes the object with this uid, whether it is stored or not, because a write has deleted it or moved it out of the selection:
    /// it was not selected at `deselected_at`. An empty uid matches the stored object. Events as for [`deleted`](Self::deleted).
    #[cfg(feature = "runtime")]
    fn gone(&self, key: ObjectKey, uid: Uid, deselected_at: Option<ResourceVersion>, writer: Option<Id>);

    /// Handles a 409 Conflict for a write based on this stored state: requests a relist if the state is an own write
    /// that the watch has not confirmed, since the server has lost it.
    fn conflict(&self, object: &T);

    /// Returns the stored object; `None` if there is none.
    fn get(&self, namespace: &str, name: &str) -> Option<Arc<T>>;
}

impl<T: Object, X: Index<T>> WriteSink<T> for Shared<T, X> {
    fn begin(&self, key: &ObjectKey, writer: Option<Id>) {
        let Some(writer) = writer else { return };
        let mut write_side = self.locked();
        let WriteSide { listeners, deferred, .. } = &mut *write_side;
        for listener in listeners.iter().filter(|listener| listener.excludes_writes_of(writer)) {
            deferred.begin(key, listener.id());
        }
    }

    fn end(&self, key: &ObjectKey, writer: Option<Id>, outcome: &Outcome) {
        let Some(writer) = writer else { return };
        let now = Instant::now();
        let mut write_side = self.locked();
        let WriteSide { listeners, deferred, .. } = &mut *write_side;
        listeners.retain_mut(|listener| {
            !listener.excludes_writes_of(writer) || {
                let events = deferred.end(key, listener.id(), outcome, now, listener.is_foreign_only());
                events.iter().all(|event| listener.queue(event))
            }
        });
    }

    fn written(&self, object: T, writer: Option<Id>) {
        self.change(writer, |store| store.written(Arc::new(object)));
    }

    fn deleted(&self, object: &T, writer: Option<Id>) {
        self.change(writer, |store| store.deleted(object));
    }

    #[cfg(feature = "runtime")]
    fn gone(&self, key: ObjectKey, uid: Uid, deselected_at: Option<ResourceVersion>, writer: Option<Id>) {
        self.change(writer, |store| store.gone(key, uid, deselected_at));
    }

    fn conflict(&self, object: &T) {
        if self.lister.state().own.is_unconfirmed(&object.key()) {
            self.untyped.requests.request_list(RelistCause::LostWrite, None);
        }
    }

    fn get(&self, namespace: &str, name: &str) -> Option<Arc<T>> {
        self.lister.get(namespace, name)
    }
}
