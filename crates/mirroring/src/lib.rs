#![doc = include_str!("../README.md")]

mod controller;
mod desired;
mod events;
mod metrics;
mod plan;

pub use controller::{Config, Informers, mirroring_controller};
pub use desired::{Mirrored, desired};
pub use kube_endpoint_model::{NotMirrored, not_mirrored};
pub use metrics::MirroringMetrics;
#[cfg(feature = "prometheus")]
pub use metrics::PrometheusMetrics;
pub use plan::{MirrorPlan, NothingToMirror, plan};
