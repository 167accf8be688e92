//! Schema-aware merging of objects: strategic merge patches and applied configurations.

mod applied;
mod order;
mod strategic;

pub(crate) use applied::merge_applied;
pub(crate) use strategic::{StrategicError, merge_strategic};
