#![doc = include_str!("../README.md")]

/// Crates whose types are in this crate's API.
pub use {bytes, http};

mod availability;
mod body;
mod call;
mod client;
mod config;
mod connector;
mod credential_plugin;
mod credentials;
mod discovery;
mod error;
#[cfg(feature = "events")]
pub mod events;
mod failure;
mod gate;
mod gated_kube_client;
mod kube_error;
mod limiter;
mod limits;
mod metrics;
mod options;
mod outgoing;
mod preconditions;
mod prepared;
#[cfg(feature = "prometheus")]
mod prometheus;
#[cfg(feature = "proxy")]
mod proxy;
mod retry;
mod review;
mod service;
mod service_account;
mod timeouts;
mod token_file;
mod transport;
mod typed;
mod warnings;
mod writes;

pub use availability::Availability;
pub use body::Body;
pub use call::Call;
pub use client::Client;
pub use config::{Config, ConfigError, KubeconfigOptions, UrlOptions};
pub use credentials::Credentials;
pub use error::{Error, TransportKind};
pub use gate::WriteGate;
pub use gated_kube_client::{NotLeading, gated_kube_client};
pub use limits::RequestPriority;
pub use metrics::{ClientMetrics, ClientMetricsProvider, LimitState};
pub use options::ClientOptions;
pub use preconditions::Preconditions;
#[cfg(feature = "prometheus")]
pub use prometheus::PrometheusMetrics;
pub use review::{Review, ReviewedClient};
pub use timeouts::Timeouts;
pub use typed::Deleted;

/// Secret text, such as a bearer token. `Debug` does not show it.
pub use secrecy::SecretString;

// Items of `kube_wire` in this crate's API.
pub use kube_wire::{Accept, Encoding, ListParams, MAX_RETRY_AFTER, Resource, Status, WatchParams};
