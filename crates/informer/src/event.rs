//! What handlers hear.

use std::{fmt, sync::Arc};

/// A change of the store.
pub enum Event<T> {
    /// The object is new to the store.
    Added {
        /// The object.
        object: Arc<T>,
        /// It was there already when the handler began to listen, so that this is no news.
        initial: bool,
        /// A later list showed it: the object may have been there for a while.
        relisted: bool,
    },
    /// The object changed; its name did not. Different uids mean that it was deleted and created again unnoticed.
    Updated {
        /// The state before.
        old: Arc<T>,
        /// The state now.
        new: Arc<T>,
        /// A later list showed it: others may have come in between.
        relisted: bool,
    },
    /// The object is gone.
    Deleted {
        /// Its last state, as far as known.
        object: Arc<T>,
        /// The deletion itself was missed and only noticed by a list: the object may have changed before it went
        /// (client-go's `DeletedFinalStateUnknown`).
        tombstone: bool,
    },
}

/// An object before and after an event; `None` where it was or is not there.
pub type States<'a, T> = (Option<&'a Arc<T>>, Option<&'a Arc<T>>);

impl<T> Event<T> {
    /// The newest state that the event carries.
    pub fn object(&self) -> &Arc<T> {
        match self {
            Self::Added { object, .. } | Self::Updated { new: object, .. } | Self::Deleted { object, .. } => object,
        }
    }

    /// Whether the cluster changed: `false` for the initial list and for resyncs.
    pub fn is_change(&self) -> bool {
        match self {
            Self::Added { initial, .. } => !initial,
            Self::Updated { old, new, .. } => !Arc::ptr_eq(old, new),
            Self::Deleted { .. } => true,
        }
    }

    /// Whether a list showed this, and not the watch, so that others may have come in between.
    pub fn is_from_list(&self) -> bool {
        match self {
            Self::Added { initial, relisted, .. } => *initial || *relisted,
            Self::Updated { relisted, .. } => *relisted,
            Self::Deleted { tombstone, .. } => *tombstone,
        }
    }

    /// The object before and after the event; `None` where it was or is not there.
    pub fn states(&self) -> States<'_, T> {
        match self {
            Self::Added { object, .. } => (None, Some(object)),
            Self::Updated { old, new, .. } => (Some(old), Some(new)),
            Self::Deleted { object, .. } => (Some(object), None),
        }
    }
}

// Not derived: the objects are shared, they need not be `Clone` themselves.
impl<T> Clone for Event<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Added { object, initial, relisted } => {
                Self::Added { object: object.clone(), initial: *initial, relisted: *relisted }
            }
            Self::Updated { old, new, relisted } => {
                Self::Updated { old: old.clone(), new: new.clone(), relisted: *relisted }
            }
            Self::Deleted { object, tombstone } => Self::Deleted { object: object.clone(), tombstone: *tombstone },
        }
    }
}

/// Names what happened to which object, not all that the object holds.
impl<T: kube_wire::Object> fmt::Debug for Event<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            Self::Added { initial: true, .. } => "Added(initial)",
            Self::Added { initial: false, .. } => "Added",
            Self::Updated { .. } => "Updated",
            Self::Deleted { tombstone: false, .. } => "Deleted",
            Self::Deleted { tombstone: true, .. } => "Deleted(tombstone)",
        };
        let object = self.object();
        write!(f, "{what} {}@{}", object.key(), object.resource_version())
    }
}
