#![doc = include_str!("../README.md")]

mod election;
mod elector;
mod fence;
mod identity;
mod lease_watch;
mod lock;
mod metrics;
mod name;
#[cfg(feature = "prometheus")]
mod prometheus;
mod spec;
mod timing;

#[cfg(feature = "prometheus")]
pub use crate::prometheus::PrometheusMetrics;
pub use crate::{
    election::{Election, ElectionOptions},
    elector::{Elector, End, Next, Now, Request, RequestOutcome, Term},
    fence::Fence,
    identity::identity,
    metrics::ElectionMetrics,
    name::LeaseName,
    timing::{Timing, TimingError},
};

// Items of `kube_controller_client` in this crate's API, and what gates a client by the fence.
pub use kube_controller_client::{Client, Config, ConfigError, NotLeading, WriteGate, gated_kube_client};
