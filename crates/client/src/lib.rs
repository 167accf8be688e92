//! A Kubernetes API client for controllers, with the connection, rate-limit, retry and event rules of client-go.
//!
//! The reference is the client-go of Kubernetes 1.36. The crate uses `kube` to load configurations and to run
//! credential plugins; the HTTP client, the retry rules and the events are its own. It is not part of kube-rs, whose
//! client is `kube-client`. What it is for:
//!
//! - **Reads, lists and watches**: [`Client::get`] decodes one object; [`Client::list_chunks`] and [`Client::watch`]
//!   return the response body as it arrives, in protobuf or JSON, for `ListReader` and
//!   `WatchReader` of `kube_wire`.
//! - **Writes**: [`Client::create`], [`Client::update`], [`Client::delete`] and [`Client::merge_patch`]. A write is
//!   retried only after a response 429 or 5xx with `Retry-After`. [`Client::gated`] sends writes only while a gate is
//!   open, for example while the process leads.
//! - **Connections**: one HTTP/2 connection for watches and one for all other requests, with pings and proxies.
//! - **Configuration**: a [`Config`] from kubeconfig files or the service account of the Pod ([`Config::infer`]), or from
//!   a configuration or a client of `kube`. Changed files are reloaded while the future of [`Config::follow_files`] runs;
//!   token files always are.
//! - **Limits and errors**: a token bucket per client (20 requests per second, burst 30) or an adaptive limit of the
//!   requests in flight ([`ClientOptions::adaptive`]), and an [`Error`] that names the call and carries the server's
//!   [`Status`].
//! - **Availability**: the clients of a configuration share whether the server answers, and pace their retries in an
//!   outage ([`Availability`]).
//! - **Events**: [`events`] records core/v1 Events without blocking, with the aggregation and spam filter of client-go.
//!
//! ```text
//! Config
//!   |
//!   v                                                       +--> connection for watches ---+
//! Client --> rate limiter (not watches) --> gate (writes) --+                              +--> API server
//!   ^              ^                                        +--> connection for the rest --+
//!   |              |                                                                       |
//!   |              +------ retry: Retry-After, or a GET on a lost connection --------------+
//!   |
//! EventWriter <-- queue of 1,000 events <-- EventRecorder
//! ```
//!
//! # When not to use it
//!
//! - Typed lists and caches: use `kube-informer`, which is built on this crate.
//! - Server-side apply, strategic merge patches, `exec`, `log` and port forwarding: use `kube`.
//! - HTTP/2 servers without TLS: plain HTTP is HTTP/1.1, with one connection per request in flight and per watch.
//!
//! # Requirements and failures
//!
//! - A tokio runtime with time and I/O, and one feature of `k8s-openapi` in the program, such as `v1_36`: the crate
//!   selects none, and `k8s-openapi` does not compile without one.
//! - TLS is rustls. If the program has installed no crypto provider, the client installs `ring`.
//! - Retries: after responses 429 and 5xx with `Retry-After` (at most 30 s, see [`MAX_RETRY_AFTER`]), for all methods;
//!   after 1 s for a GET on a lost connection. At most 10 per request; none with [`Client::without_retries`]. A delay
//!   that is not for a 429 ends early when the server becomes [available](Availability::recovery) again.
//! - Time limits: [`Timeouts`], by default 90 s to the response headers and again for the body, 10 s for a new
//!   connection.
//! - After an error for which [`Error::may_have_been_applied`] is true, a write may have been applied.
//!
//! # Example
//!
//! The example creates an object. Its type is one of `k8s-openapi`; any type that implements [`kube_wire::Decode`] and
//! `serde::Serialize` can be written:
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
//!     Err(error) if error.is_already_exists() => println!("exists already"),
//!     Err(error) => return Err(error.into()),
//! }
//! # Ok(())
//! # }
//! ```

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
pub mod events;
mod failure;
mod gate;
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
pub use config::{Config, ConfigError, KubeconfigOptions};
pub use credentials::Credentials;
pub use error::{Error, TransportKind};
pub use gate::WriteGate;
pub use limits::RequestPriority;
pub use metrics::{ClientMetrics, ClientMetricsProvider, LimitState};
pub use options::ClientOptions;
pub use preconditions::Preconditions;
#[cfg(feature = "prometheus")]
pub use prometheus::PrometheusMetrics;
pub use review::{Review, ReviewedClient};
pub use timeouts::Timeouts;
pub use typed::{Deleted, PatchedMetadata};

/// Secret text, such as a bearer token. `Debug` does not show it.
pub use secrecy::SecretString;

// Items of `kube_wire` in this crate's API.
pub use kube_wire::{Accept, Encoding, ListParams, MAX_RETRY_AFTER, Resource, Status, WatchParams};
