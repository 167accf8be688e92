//! Events that handlers receive.

use educe::Educe;
use std::{fmt, sync::Arc};

/// A change of the store, or a stored object that a resync or relist delivers again.
#[derive(Educe)]
#[educe(Clone(bound(false)))]
pub enum Event<T> {
    /// An object was added to the store.
    Added {
        /// Added object.
        object: Arc<T>,
        /// Whether the object is part of the initial contents: of the first list, or of the store at the time when the
        /// handler was added (client-go: `isInInitialList`).
        initial: bool,
        /// Whether the addition was found by a relist: the object may have existed for some time.
        relisted: bool,
    },
    /// A stored object was replaced by another state of the same namespace and name. Different uids mean that it was
    /// deleted and created again between two lists.
    Updated {
        /// Previous state.
        old: Arc<T>,
        /// New state; the same pointer as `old` for a resync and for an unchanged object of a relist.
        new: Arc<T>,
        /// Whether the change was found by a relist: there may have been further states in between.
        relisted: bool,
    },
    /// An object was removed from the store.
    Deleted {
        /// Last known state.
        object: Arc<T>,
        /// Whether the state at the deletion is unknown, so that `object` is the last stored state (client-go:
        /// `DeletedFinalStateUnknown`). The deletion was found by a relist or by an event that could not be
        /// decoded.
        tombstone: bool,
    },
}

/// Object before and after an [`Event`]; `None` if it did not exist before, or does not exist after it.
pub type States<'a, T> = (Option<&'a Arc<T>>, Option<&'a Arc<T>>);

impl<T> Event<T> {
    /// Returns the newest state in the event.
    pub fn object(&self) -> &Arc<T> {
        match self {
            Self::Added { object, .. } | Self::Updated { new: object, .. } | Self::Deleted { object, .. } => object,
        }
    }

    /// Returns whether the event is a change of the object: `false` for initial contents, resyncs and the unchanged
    /// objects of a relist.
    pub fn is_change(&self) -> bool {
        match self {
            Self::Added { initial, .. } => !initial,
            Self::Updated { old, new, .. } => !Arc::ptr_eq(old, new),
            Self::Deleted { .. } => true,
        }
    }

    /// Returns whether the event was found by a list, not by a watch, so that intermediate changes may be missing.
    pub fn is_from_list(&self) -> bool {
        match self {
            Self::Added { initial, relisted, .. } => *initial || *relisted,
            Self::Updated { relisted, .. } => *relisted,
            Self::Deleted { tombstone, .. } => *tombstone,
        }
    }

    /// Returns the object before and after the event; `None` if it did not exist before, or does not exist after it.
    pub fn states(&self) -> States<'_, T> {
        match self {
            Self::Added { object, .. } => (None, Some(object)),
            Self::Updated { old, new, .. } => (Some(old), Some(new)),
            Self::Deleted { object, .. } => (Some(object), None),
        }
    }
}

/// Prints the variant with the key and version of the object, not its contents.
impl<T: kube_wire::Object> fmt::Debug for Event<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Added { initial: true, .. } => "Added(initial)",
            Self::Added { initial: false, .. } => "Added",
            Self::Updated { .. } => "Updated",
            Self::Deleted { tombstone: false, .. } => "Deleted",
            Self::Deleted { tombstone: true, .. } => "Deleted(tombstone)",
        };
        let object = self.object();
        write!(f, "{kind} {}@{}", object.key(), object.resource_version())
    }
}
