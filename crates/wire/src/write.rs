//! Writes that a controller plans.

use std::sync::Arc;

/// One write of a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum Write<T> {
    /// Create of this object. Its name may be empty if it is generated when the create is sent.
    Create(T),
    /// Replacement of an object.
    Update {
        /// The object in the cache that the plan is based on.
        stored: Arc<T>,
        /// The object to write, with the resource version of the stored one, so that the server rejects it after a change by
        /// another client.
        desired: T,
    },
    /// Delete of this object, in the state of the cache.
    Delete(Arc<T>),
}

impl<T> Write<T> {
    /// Returns the object before the write; `None` for a create.
    pub fn before(&self) -> Option<&T> {
        match self {
            Write::Create(_) => None,
            Write::Update { stored, .. } | Write::Delete(stored) => Some(stored),
        }
    }

    /// Returns the object after the write; `None` for a delete.
    pub fn after(&self) -> Option<&T> {
        match self {
            Write::Create(desired) | Write::Update { desired, .. } => Some(desired),
            Write::Delete(_) => None,
        }
    }

    /// Returns the verb of the request: `create`, `update` or `delete`.
    pub fn verb(&self) -> &'static str {
        match self {
            Write::Create(_) => "create",
            Write::Update { .. } => "update",
            Write::Delete(_) => "delete",
        }
    }
}
