#![doc = include_str!("../README.md")]

mod controller;
mod error;
mod gate;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "prometheus")]
mod metrics;
mod signals;

pub use controller::Controller;
pub use error::ControllerError;
pub use gate::Gate;
pub use kube_controller::{Action, Batching, Health, HealthResponse, Outcome, Owns, Probe, RetryPolicy};
pub use kube_controller_client::events::{EventRecorder, EventType, ObjectReference};
pub use kube_controller_client::{Client, ClientOptions, Config};
pub use kube_informer::{Event, Informer, Lister, NamedIndexes, OnUndecodable};
pub use kube_lease_election::{LeaseName, Timing};
pub use kube_wire::{Decode, Object, ObjectKey, Resource, object};
#[cfg(feature = "prometheus")]
pub use metrics::PrometheusMetrics;
pub use signals::stop_on_signals;
pub use tokio_util::sync::CancellationToken;
