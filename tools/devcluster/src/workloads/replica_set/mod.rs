//! The controller of `ReplicaSet`s: it creates and deletes Pods. The plan and the status are functions of the set and its Pods.

mod plan;
mod run;
#[cfg(test)]
mod tests;

pub(super) use run::{Context, sync};
