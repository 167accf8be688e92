//! RBAC authorization by the stored Roles, `ClusterRole`s and bindings.

mod authorize;
mod bootstrap;
mod policy;
#[cfg(test)]
mod tests;

pub(crate) use authorize::{GROUP, check, decide, policy_of, refused_create, rules_of};
pub(crate) use bootstrap::DEFAULT_ROLES;
pub(crate) use policy::{Decision, Policy};
