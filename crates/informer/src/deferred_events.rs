//! Events that are deferred for a handler while an own write of the object is in progress.

use std::{collections::HashMap, time::Duration};

use educe::Educe;
use kube_wire::{Object, ObjectKey, ResourceVersion, Uid};
use tokio::time::Instant;

use crate::{Event, changes::Changes, handle::Id, handler::Listener};

/// Time for which the event of a write without response is expected. API servers give up on a request after 60 s, and
/// the watch shows a write soon after it is applied, also after an interruption with the longest back-off. A write that
/// is not shown by then is taken not to have been applied.
const UNANSWERED_LIFETIME: Duration = Duration::from_secs(300);

/// Events of objects with a write in progress, by object and handler that does not get the event of the write.
///
/// The event of a write may arrive before its response. Only the response distinguishes it from events that other
/// clients cause.
#[derive(Educe)]
#[educe(Default(bound(false)))]
pub(crate) struct DeferredEvents<T> {
    events: HashMap<(ObjectKey, Id), Vec<Event<T>>>,
    /// Objects with a write whose response was lost and whose event has not arrived, for handlers of foreign writes, and
    /// the end of the write.
    unanswered: HashMap<(ObjectKey, Id), Instant>,
    /// When expired entries of `unanswered` were last removed.
    swept: Option<Instant>,
}

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

impl<T: Object> DeferredEvents<T> {
    /// Starts to defer the events of an object for a handler.
    pub(crate) fn begin(&mut self, key: &ObjectKey, handler: Id) {
        self.events.insert((key.clone(), handler), Vec::new());
    }

    /// Defers an event if a write of its object is in progress, and drops it if it is taken to be that of a write whose
    /// response was lost less than [`UNANSWERED_LIFETIME`] ago. Returns whether it did either.
    pub(crate) fn defer(&mut self, event: &Event<T>, handler: Id, now: Instant) -> bool {
        if self.events.is_empty() && self.unanswered.is_empty() {
            return false;
        }
        self.expire(now);
        let entry = (event.object().key(), handler);
        match self.events.get_mut(&entry) {
            Some(events) => {
                events.push(event.clone());
                true
            }
            None => self.take_unanswered(&entry, now).is_some(),
        }
    }

    /// Queues changes for a handler, except those that it does not get, and defers those of objects with an own write in
    /// progress. Returns `false` if the handler has ended.
    pub(crate) fn queue_all(&mut self, listener: &mut Listener<T>, changes: &Changes<T>, now: Instant) -> bool {
        if listener.is_foreign_only() && !changes.are_differences() {
            return true;
        }
        if !self.concerns(listener.id()) {
            return listener.queue_all(changes);
        }
        changes.iter().all(|event| self.defer(&event, listener.id(), now) || listener.queue(&event))
    }

    /// Returns whether [`defer`](Self::defer) may defer or drop an event of this handler.
    fn concerns(&self, handler: Id) -> bool {
        self.events.keys().chain(self.unanswered.keys()).any(|(_, it)| *it == handler)
    }

    /// Ends a write and returns the deferred events except that of the write itself, in order.
    ///
    /// With `foreign_only`, the first event after a write without response is taken to be that of the write, until a
    /// later write of the object succeeds, or for [`UNANSWERED_LIFETIME`].
    pub(crate) fn end(
        &mut self,
        key: &ObjectKey,
        handler: Id,
        outcome: &Outcome,
        now: Instant,
        foreign_only: bool,
    ) -> Vec<Event<T>> {
        self.expire(now);
        let entry = (key.clone(), handler);
        let mut events = self.events.remove(&entry).unwrap_or_default();
        events.retain(|event| !outcome.is_shown_by(event));
        let before = self.take_unanswered(&entry, now);
        let ended_at = if foreign_only && *outcome == Outcome::Unanswered { Some(now) } else { before };
        if ended_at.is_some() && !events.is_empty() {
            events.remove(0);
        } else if let Some(ended_at) = ended_at
            && matches!(outcome, Outcome::Unanswered | Outcome::Rejected)
        {
            self.unanswered.insert(entry, ended_at);
        }
        events
    }

    /// Removes the expired records of writes without response, at most once per [`UNANSWERED_LIFETIME`], so that a
    /// record takes memory for at most twice that time.
    pub(crate) fn expire(&mut self, now: Instant) {
        if self.swept.is_none_or(|at| has_expired(at, now)) {
            self.swept = Some(now);
            self.unanswered.retain(|_, ended_at| !has_expired(*ended_at, now));
        }
    }

    /// Removes the record of a write without response, and returns the end of the write unless it has expired.
    fn take_unanswered(&mut self, entry: &(ObjectKey, Id), now: Instant) -> Option<Instant> {
        self.unanswered.remove(entry).filter(|ended_at| !has_expired(*ended_at, now))
    }
}

fn has_expired(since: Instant, now: Instant) -> bool {
    now.saturating_duration_since(since) >= UNANSWERED_LIFETIME
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    fn event(name: &str) -> Event<ConfigMap> {
        let mut object = ConfigMap::default();
        object.metadata.name = Some(name.to_owned());
        Event::Added { object: Arc::new(object), initial: false, relisted: false }
    }

    /// The records of objects that no later event or write concerns are removed as well.
    #[test]
    fn records_of_writes_without_response_are_removed() {
        let (mut deferred, handler, start) = (DeferredEvents::<ConfigMap>::default(), Id::next(), Instant::now());
        for minute in 0..60_u32 {
            let now = start + Duration::from_secs(60) * minute;
            let key = ObjectKey::new("", format!("object-{minute}").as_str());
            deferred.begin(&key, handler);
            assert!(deferred.end(&key, handler, &Outcome::Unanswered, now, true).is_empty());
            assert!(deferred.unanswered.len() <= 10, "{} records", deferred.unanswered.len());
        }
        let end = start + Duration::from_secs(3_600);
        assert!(deferred.defer(&event("object-59"), handler, end), "taken to be the event of the write");
        assert!(!deferred.defer(&event("object-59"), handler, end), "a later event");
        assert!(!deferred.defer(&event("object-10"), handler, end), "expired");
        deferred.expire(end + UNANSWERED_LIFETIME);
        assert!(deferred.unanswered.is_empty());
    }
}
