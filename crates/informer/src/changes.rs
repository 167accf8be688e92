//! Many changes at once.

use std::{fmt, sync::Arc};

use crate::Event;

/// What a list changed, in the order in which handlers hear of it: deletions first, then the rest by namespace and name.
///
/// Clones share one copy: however many handlers have yet to hear of the first list, it is held once, with eight bytes an object.
pub struct Changes<T>(Told<T>);

enum Told<T> {
    /// Objects that were there when the handler began to listen.
    Initial(Arc<Vec<Arc<T>>>),
    /// Objects that are told again without a change.
    Again(Arc<Vec<Arc<T>>>),
    Differences(Arc<Vec<Event<T>>>),
}

impl<T> Changes<T> {
    /// All of this is new to whoever hears it, and none of it is news.
    pub(crate) fn initial(objects: Vec<Arc<T>>) -> Self {
        Self(Told::Initial(Arc::new(objects)))
    }

    /// A resync.
    pub(crate) fn again(objects: Vec<Arc<T>>) -> Self {
        Self(Told::Again(Arc::new(objects)))
    }

    pub(crate) fn differences(events: Vec<Event<T>>) -> Self {
        Self(Told::Differences(Arc::new(events)))
    }

    /// How many events these are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Told::Initial(objects) | Told::Again(objects) => objects.len(),
            Told::Differences(events) => events.len(),
        }
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of the events, counted from 0.
    pub fn get(&self, at: usize) -> Option<Event<T>> {
        match &self.0 {
            Told::Initial(objects) => {
                let object = objects.get(at)?.clone();
                Some(Event::Added { object, initial: true, relisted: false })
            }
            Told::Again(objects) => {
                let object = objects.get(at)?;
                Some(Event::Updated { old: object.clone(), new: object.clone(), relisted: false })
            }
            Told::Differences(events) => events.get(at).cloned(),
        }
    }

    /// The events.
    pub fn iter(&self) -> impl Iterator<Item = Event<T>> {
        (0..self.len()).filter_map(|at| self.get(at))
    }
}

// Not derived: the objects are shared, they need not be `Clone` themselves.
impl<T> Clone for Changes<T> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Told::Initial(objects) => Told::Initial(objects.clone()),
            Told::Again(objects) => Told::Again(objects.clone()),
            Told::Differences(events) => Told::Differences(events.clone()),
        })
    }
}

impl<T: kube_wire::Object> fmt::Debug for Changes<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
