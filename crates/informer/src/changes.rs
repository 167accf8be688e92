//! The events of one list or resync.

use std::sync::Arc;

use educe::Educe;

use crate::Event;

/// Events of one list or resync, in delivery order: deletions first, then the others by namespace and name.
///
/// Clones share the events: the first list is held once for the queues of all handlers, in 8 bytes per object.
#[derive(Educe)]
#[educe(Clone(bound(false)))]
pub(crate) struct Changes<T>(Contents<T>);

#[derive(Educe)]
#[educe(Clone(bound(false)))]
enum Contents<T> {
    /// Objects of the first list, or those that were stored when the handler was added.
    Initial(Arc<Vec<Arc<T>>>),
    /// Unchanged objects, from a resync or a relist.
    Unchanged(Arc<Vec<Arc<T>>>),
    Differences(Arc<Vec<Event<T>>>),
}

impl<T> Changes<T> {
    /// Returns initial contents, delivered as `Added { initial: true }`.
    pub(crate) fn initial(objects: Vec<Arc<T>>) -> Self {
        Self(Contents::Initial(Arc::new(objects)))
    }

    /// Returns unchanged objects, delivered as `Updated` from each object to itself.
    pub(crate) fn unchanged(objects: Vec<Arc<T>>) -> Self {
        Self(Contents::Unchanged(Arc::new(objects)))
    }

    pub(crate) fn differences(events: Vec<Event<T>>) -> Self {
        Self(Contents::Differences(Arc::new(events)))
    }

    /// Returns whether these are changes of objects, not initial contents or unchanged objects.
    pub(crate) fn are_differences(&self) -> bool {
        matches!(self.0, Contents::Differences(_))
    }

    pub(crate) fn len(&self) -> usize {
        match &self.0 {
            Contents::Initial(objects) | Contents::Unchanged(objects) => objects.len(),
            Contents::Differences(events) => events.len(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the event at `index`, counted from 0; `None` after the last.
    pub(crate) fn get(&self, index: usize) -> Option<Event<T>> {
        match &self.0 {
            Contents::Initial(objects) => {
                let object = objects.get(index)?.clone();
                Some(Event::Added { object, initial: true, relisted: false })
            }
            Contents::Unchanged(objects) => {
                let object = objects.get(index)?;
                Some(Event::Updated { old: object.clone(), new: object.clone(), relisted: false })
            }
            Contents::Differences(events) => events.get(index).cloned(),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Event<T>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}
