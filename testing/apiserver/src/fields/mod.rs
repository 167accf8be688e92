//! Field management: which client set which field, as server-side apply needs it.
//!
//! Follows upstream's `structured-merge-diff` and `managedfields`. Everything here is a function of its arguments.

mod apply;
mod entries;
mod last_applied;
mod merge;
mod path;
mod remove;
mod set;
mod update;
mod walk;

pub(crate) use apply::{Applied, Conflict, Live, apply};
pub(crate) use entries::{Entries, ManagedFields, Operation, Writer};
pub(crate) use update::update;

/// Objects whose managed fields are tracked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FieldTracking {
    /// Those that were applied (server-side apply) at least once. Fields that an object had before belong to the manager
    /// `before-first-apply`. The default, since tracking costs about as much as encoding the object.
    #[default]
    Applied,
    /// Those that are created by a client, as a real server does.
    Always,
}
