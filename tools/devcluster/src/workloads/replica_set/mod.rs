//! The controller of `ReplicaSet`s: it creates and deletes Pods. The plan and the status are functions of the set, its Pods
//! and the time.
//!
//! Follows upstream's `pkg/controller/replicaset`.

mod plan;
mod pods;
mod run;
mod status;
#[cfg(test)]
mod tests;

pub(super) use pods::has_ended;
pub(super) use run::{Context, sync};
pub(super) use status::REPLICA_FAILURE;
