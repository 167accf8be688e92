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
mod review;
mod service_pods;
mod world;

/// The examples, as modules.
#[path = "../../examples"]
mod programs {
    pub(crate) mod gateway;
    pub(crate) mod inference_pool;
    pub(crate) mod mirroring;
    pub(crate) mod resource_claims;
    pub(crate) mod secondary_network;
    pub(crate) mod service_import;
    pub(crate) mod service_pods;
    pub(crate) mod support;
}

use programs::support;
