//! Tests of the reconciler: plans as tables and properties, and reconciliation against the embedded API server.

mod cluster;
mod controller;
mod examples;
mod explain;
mod failures;
mod hints;
mod laws;
#[cfg(feature = "prometheus")]
mod metrics;
mod owns;
mod plan;
mod reference;
mod repeated_writes;
mod review;
mod service_pods;
mod world;

/// The examples, as modules.
#[path = "../../examples/slice_controllers/controllers/mod.rs"]
mod controllers;
#[path = "../../examples/inference_pool.rs"]
mod inference_pool;
