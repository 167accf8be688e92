//! RBAC authorization by the stored Roles, `ClusterRole`s and bindings.

mod aggregation;
mod bootstrap;
mod policy;
mod rulebook;
#[cfg(test)]
mod tests;

pub(crate) use bootstrap::FIRST_ROLES;
pub(crate) use policy::{Policy, Verdict};
pub(crate) use rulebook::{GROUP, Rulebook};
