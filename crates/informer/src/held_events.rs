//! Events that are held back from a handler while its own write of the object is in progress.

use std::collections::HashMap;

use kube_wire::{Object, ObjectKey, ResourceVersion, Uid};

use crate::{Event, handle::Id};

/// Events of objects with a write in progress, by object and writing handler.
///
/// The event of a write may arrive before its response. Only the response distinguishes it from events that other
/// clients cause.
pub(crate) struct HeldEvents<T>(HashMap<(ObjectKey, Id), Vec<Event<T>>>);

/// Outcome of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The server returned the object at this version.
    Written(ResourceVersion),
    /// The server deleted the object with this uid.
    Deleted(Uid),
    /// The write failed, or its response was lost.
    Failed,
}

impl Outcome {
    /// Returns whether `event` is the event of this write.
    fn is_shown_by<T: Object>(&self, event: &Event<T>) -> bool {
        match (self, event) {
            (Self::Written(version), Event::Added { object, .. } | Event::Updated { new: object, .. }) => {
                object.resource_version() == *version
            }
            (Self::Deleted(uid), Event::Deleted { object, .. }) => object.uid() == *uid,
            _ => false,
        }
    }
}

impl<T: Object> HeldEvents<T> {
    /// Starts to hold back the events of an object from the handler that writes it.
    pub(crate) fn begin(&mut self, key: &ObjectKey, writer: Id) {
        self.0.insert((key.clone(), writer), Vec::new());
    }

    /// Holds an event back if the handler has a write of its object in progress; returns whether it has.
    pub(crate) fn hold(&mut self, event: &Event<T>, handler: Id) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let held = self.0.get_mut(&(event.object().key(), handler));
        held.map(|events| events.push(event.clone())).is_some()
    }

    /// Returns whether a handler has a write of any object in progress.
    pub(crate) fn is_writer(&self, handler: Id) -> bool {
        self.0.keys().any(|(_, writer)| *writer == handler)
    }

    /// Ends a write and returns the held events except that of the write itself, in order.
    pub(crate) fn end(&mut self, key: &ObjectKey, writer: Id, outcome: &Outcome) -> Vec<Event<T>> {
        let mut events = self.0.remove(&(key.clone(), writer)).unwrap_or_default();
        events.retain(|event| !outcome.is_shown_by(event));
        events
    }
}

impl<T> Default for HeldEvents<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}
