//! Own writes: their results in the store, and the events that are held back while a response is awaited.

use std::sync::Arc;

use kube_wire::{Object, ObjectKey};
use tokio::time::Instant;

use super::{Shared, WriteSide};
use crate::{Index, RelistCause, handle::Id, held_events::Outcome};

impl<T: Object, X: Index<T>> Shared<T, X> {
    /// Stores the object from the response to a write. The handler `writer` and those of foreign writes get no event of
    /// it.
    pub(crate) fn written(&self, object: T, writer: Option<Id>) {
        let object = Arc::new(self.transformed(object));
        self.change(writer, |store| store.written(object));
    }

    /// Removes an object that the server deleted on request. The handler `writer` and those of foreign writes get no
    /// event of it.
    pub(crate) fn deleted(&self, object: &T, writer: Option<Id>) {
        self.change(writer, |store| store.deleted(object));
    }

    /// Starts to hold back the events of an object from the handler `writer` and those of foreign writes, until
    /// [`end_write`](Self::end_write).
    pub(crate) fn begin_write(&self, key: &ObjectKey, writer: Option<Id>) {
        let Some(writer) = writer else { return };
        let mut write_side = self.locked();
        let WriteSide { listeners, held, .. } = &mut *write_side;
        for (listener, _) in listeners.iter().filter(|(listener, _)| listener.excludes_writes_of(writer)) {
            held.begin(key, listener.id());
        }
    }

    /// Ends a write and queues the held events, except that of the write itself.
    pub(crate) fn end_write(&self, key: &ObjectKey, writer: Option<Id>, outcome: &Outcome) {
        let (Some(writer), now) = (writer, Instant::now()) else { return };
        let mut write_side = self.locked();
        let WriteSide { listeners, held, .. } = &mut *write_side;
        listeners.retain_mut(|(listener, _)| {
            !listener.excludes_writes_of(writer) || {
                let events = held.end(key, listener.id(), outcome, now, listener.is_foreign_only());
                events.iter().all(|event| listener.queue(event))
            }
        });
    }

    /// Handles a 409 Conflict for a write based on this stored state: requests a relist if the state is an own write
    /// that the watch has not confirmed, since the server has lost it.
    pub(crate) fn conflict(&self, object: &T) {
        if self.lister.is_unconfirmed(object) {
            self.requests.request_list(RelistCause::LostWrite, None);
        }
    }
}
