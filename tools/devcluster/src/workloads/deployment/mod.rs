//! The controller of Deployments: a rollout is planned as a function of the Deployment, its `ReplicaSet`s and the time.
//!
//! Follows upstream's `pkg/controller/deployment`.

mod limits;
mod plan;
mod revisions;
mod rolling;
mod run;
mod sets;
mod status;
#[cfg(test)]
mod tests;

pub(super) use run::{Context, sync};
