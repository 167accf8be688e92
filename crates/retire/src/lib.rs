#![doc = include_str!("../README.md")]

mod plan;

pub use plan::{Cluster, ObjectState, Plan, PlannedObject, Verdict};
