//! Events that are held back from a handler while an own write of the object is in progress.

use std::collections::{HashMap, HashSet};

use kube_wire::{Object, ObjectKey, ResourceVersion, Uid};

use crate::{Event, changes::Changes, handle::Id, handler::Listener};

/// Events of objects with a write in progress, by object and handler that does not get the event of the write.
///
/// The event of a write may arrive before its response. Only the response distinguishes it from events that other
/// clients cause.
pub(crate) struct HeldEvents<T> {
    held: HashMap<(ObjectKey, Id), Vec<Event<T>>>,
    /// Objects with a write whose response was lost and whose event has not arrived, for handlers of foreign writes.
    unanswered: HashSet<(ObjectKey, Id)>,
}

/// Outcome of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The server returned the object at this version.
    Written(ResourceVersion),
    /// The server deleted the object with this uid.
    Deleted(Uid),
    /// The server has not applied the write.
    Rejected,
    /// The response was lost: the server may have applied the write.
    Unanswered,
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
    /// Starts to hold back the events of an object from a handler.
    pub(crate) fn begin(&mut self, key: &ObjectKey, handler: Id) {
        self.held.insert((key.clone(), handler), Vec::new());
    }

    /// Holds an event back if a write of its object is in progress, and drops it if it is taken to be that of a write
    /// whose response was lost. Returns whether it did either.
    pub(crate) fn hold(&mut self, event: &Event<T>, handler: Id) -> bool {
        if self.held.is_empty() && self.unanswered.is_empty() {
            return false;
        }
        let entry = (event.object().key(), handler);
        match self.held.get_mut(&entry) {
            Some(events) => {
                events.push(event.clone());
                true
            }
            None => self.unanswered.remove(&entry),
        }
    }

    /// Queues changes for a handler, except those that it does not get, and holds back those of objects with an own write
    /// in progress. Returns `false` if the handler has ended.
    pub(crate) fn queue_all(&mut self, listener: &mut Listener<T>, changes: &Changes<T>) -> bool {
        if listener.is_foreign_only() && !changes.are_differences() {
            return true;
        }
        if !self.concerns(listener.id()) {
            return listener.queue_all(changes);
        }
        changes.iter().all(|event| self.hold(&event, listener.id()) || listener.queue(&event))
    }

    /// Returns whether [`hold`](Self::hold) may hold back or drop an event of this handler.
    fn concerns(&self, handler: Id) -> bool {
        self.held.keys().chain(&self.unanswered).any(|(_, it)| *it == handler)
    }

    /// Ends a write and returns the held events except that of the write itself, in order.
    ///
    /// With `foreign_only`, the first event after a write without response is taken to be that of the write, until a
    /// later write of the object succeeds.
    pub(crate) fn end(&mut self, key: &ObjectKey, handler: Id, outcome: &Outcome, foreign_only: bool) -> Vec<Event<T>> {
        let entry = (key.clone(), handler);
        let mut events = self.held.remove(&entry).unwrap_or_default();
        events.retain(|event| !outcome.is_shown_by(event));
        let unanswered = self.unanswered.remove(&entry) || (foreign_only && *outcome == Outcome::Unanswered);
        if unanswered && !events.is_empty() {
            events.remove(0);
        } else if unanswered && matches!(outcome, Outcome::Unanswered | Outcome::Rejected) {
            self.unanswered.insert(entry);
        }
        events
    }
}

impl<T> Default for HeldEvents<T> {
    fn default() -> Self {
        Self { held: HashMap::new(), unanswered: HashSet::new() }
    }
}
