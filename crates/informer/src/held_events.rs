//! Events that are held back from a handler while its own write of the object is under way.

use std::collections::HashMap;

use kube_wire::{Object, ObjectKey, ResourceVersion, Uid};

use crate::{Event, handle::Id};

/// Events of objects whose write has not been answered yet, by handler.
///
/// The watch may show a write before its answer arrives. Only the answer tells the event from one that someone else caused.
pub(crate) struct HeldEvents<T>(HashMap<(ObjectKey, Id), Vec<Event<T>>>);

/// Outcome of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The server answered this version.
    Written(ResourceVersion),
    /// The server deleted this object.
    Deleted(Uid),
    /// The write failed, or its answer was lost.
    Failed,
}

impl Outcome {
    /// Whether an event shows this outcome.
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
    /// A handler sends a write of an object.
    pub(crate) fn begin(&mut self, key: &ObjectKey, writer: Id) {
        self.0.insert((key.clone(), writer), Vec::new());
    }

    /// Holds an event back from a handler that writes its object; returns `false` if the handler does not.
    pub(crate) fn hold(&mut self, event: &Event<T>, handler: Id) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let held = self.0.get_mut(&(event.object().key(), handler));
        held.map(|events| events.push(event.clone())).is_some()
    }

    /// Whether a handler writes any object.
    pub(crate) fn is_writer(&self, handler: Id) -> bool {
        self.0.keys().any(|(_, writer)| *writer == handler)
    }

    /// The write has ended: returns the events that others caused meanwhile.
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
