//! All that talks to the Kubernetes API server on behalf of a controller.
//!
//! `kube` loads the configuration and speaks for us to identity providers; what is added here is what controllers need
//! and client-go gives them: one HTTP/2 connection for watches and another for lists and writes, a token bucket in front
//! of all requests, retries only where they are safe, errors that say what the server said, and an event recorder.
//! No other crate of this workspace knows `kube`.
//!
//! ```no_run
//! use kube_controller_client::{Client, ClientOptions, Config};
//! use k8s_openapi::{api::core::v1::Endpoints, apimachinery::pkg::apis::meta::v1::ObjectMeta};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::from_kubeconfig("admin.conf".as_ref()).await?;
//! let client = Client::new(&config, ClientOptions { user_agent: "my-controller/1.0".to_owned(), ..Default::default() })?;
//!
//! let name = Some("web".to_owned());
//! let namespace = Some("shop".to_owned());
//! let endpoints = Endpoints { metadata: ObjectMeta { name, namespace, ..Default::default() }, subsets: None };
//! match client.create(&endpoints).await {
//!     Ok(written) => println!("created, version {:?}", written.metadata.resource_version),
//!     Err(error) if error.is_already_exists() => println!("there already"),
//!     Err(error) => return Err(error.into()),
//! }
//! # Ok(())
//! # }
//! ```

mod body;
mod call;
mod client;
mod config;
mod connector;
mod credentials;
mod error;
pub mod events;
mod failure;
mod gate;
mod metrics;
mod options;
mod params;
mod prepared;
#[cfg(feature = "prometheus")]
mod prometheus;
mod proxy;
mod query;
mod response_body;
mod retry;
mod service_account;
mod throttle;
mod timeouts;
mod token_file;
mod transport;
mod typed;
mod warnings;

pub use body::Body;
pub use call::Call;
pub use client::Client;
pub use config::{Config, ConfigError};
pub use credentials::Credentials;
pub use error::{Error, TransportKind};
pub use gate::WriteGate;
pub use metrics::{ClientMetrics, MetricsProvider};
pub use options::ClientOptions;
pub use params::{ListParams, Preconditions, WatchParams};
#[cfg(feature = "prometheus")]
pub use prometheus::PrometheusMetrics;
pub use retry::MAX_RETRY_AFTER;
pub use timeouts::Timeouts;
pub use typed::{Deleted, Written};

/// The definitions shared with the decoders: where a type lives, and what the server says when it refuses.
pub use kube_wire::{Encoding, Resource, Status};
