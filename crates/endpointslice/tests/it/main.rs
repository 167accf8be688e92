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
mod plan;
mod reference;
mod service_pods;
#[path = "../../examples/support/mod.rs"]
mod support;
mod world;
