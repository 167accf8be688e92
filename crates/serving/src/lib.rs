//! HTTP and HTTPS server of a Kubernetes component: health checks, Prometheus metrics and pages, with delegated
//! authentication and authorization.
//!
//! It serves probes and scrapes beside controllers that must not be disturbed: clients can neither use up memory, file
//! descriptors or CPU, nor the API server behind it, and a flood of one client does not displace those of others.
//!
//! | needed | here |
//! |---|---|
//! | probes, metrics and pages by path | [`Routes`] |
//! | plain HTTP for clients in a trusted network | [`Server::plain`] |
//! | HTTPS, with client certificates, `TokenReview` and `SubjectAccessReview` | [`Server::bind`], [`ServingSettings`], [`Reviewers`] |
//! | a server that does not share its thread with the controllers | [`ServerThread`] |
//! | `/flagz` and `/statusz` | [`DebugPage`] |
//! | metrics of connections and rejected requests | [`ServingMetrics`] |
//!
//! # Example
//!
//! An HTTPS server of the checks and the metrics of a program. It has a self-signed certificate, verifies client certificates
//! against the CA bundle of the cluster, and reviews bearer tokens and access with the service account of its Pod:
//!
//! ```
//! use kube_controller::{Health, Probe};
//! use kube_controller_client::{Client, ClientOptions};
//! use kube_controller_serving::{
//!     Reviewers, Routes, Server, ServerThread, ServingError, ServingMetrics, ServingSettings, response,
//! };
//! use prometheus::Registry;
//!
//! #[derive(Debug, thiserror::Error)]
//! enum Error {
//!     #[error("cannot create the clients of reviews")]
//!     Client(#[from] kube_controller_client::ConfigError),
//!     #[error(transparent)]
//!     Serving(#[from] ServingError),
//!     #[error("cannot register the metrics")]
//!     Metrics(#[from] prometheus::Error),
//! }
//!
//! async fn serve(port: u16, health: Health, registry: Registry) -> Result<ServerThread, Error> {
//!     let metrics = ServingMetrics::register(&registry, "example")?;
//!     ServerThread::start(async move || {
//!         let settings = ServingSettings { port, ..ServingSettings::default() };
//!         let client = |config: &_, options, purpose: &str| {
//!             let user_agent = format!("example/{purpose}");
//!             Client::new(config, ClientOptions { user_agent, ..options })
//!         };
//!         let reviewers = Reviewers::connect(&settings, client).await?;
//!         let routes = Routes::new(health).metrics(registry).health_metrics();
//!         let routes = routes.page("/configz", move |_| response::json(&serde_json::json!({"port": port})));
//!         Ok(Server::bind(&settings, reviewers, routes, metrics).await?)
//!     })
//!     .await
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! let health = Health::default();
//! health.add("database", &[Probe::Readyz], || Err("no connection".to_owned()));
//! let server = serve(0, health, Registry::new()).await?;
//! // ... run the controllers, and end if `server.failed()` returns.
//! server.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Access
//!
//! As with the delegating options of k8s.io/apiserver: a verified client certificate identifies the user by its common name
//! and organizations, otherwise a bearer token does, after a `TokenReview`; a request with neither is of
//! `system:anonymous`. A path needs a `SubjectAccessReview` that allows its verb, unless it is one of
//! [`always_allow_paths`](AuthorizationSettings::always_allow_paths) or the user is in `system:masters`. Results are cached for
//! 10 s by default. Certificates are reloaded every minute; a changed CA bundle and an expired client certificate end
//! connections.
//!
//! # Limits
//!
//! | what | limit | beyond |
//! |---|---|---|
//! | connections without a byte; of anonymous clients; of authenticated ones | 128; 256; 128 | the client with the most loses its oldest |
//! | TLS handshakes | 100 in 100 ms | wait |
//! | time until the handshake ends; then until the first request | 10 s; 10 s | closed |
//! | time between requests, anonymous; authenticated | 30 s; 90 s | closed |
//! | time in which a client reads nothing of a response | 10 s | closed |
//! | request head; concurrent requests of an HTTP/2 connection | 16 KiB; 16 | rejected |
//! | responses that are being sent, except of probes | 8 | wait for 1 s, then 429 |
//! | reviews of credentials and paths that were not accepted before | 20 in 1 s; 20 waiting, 10 of a client | 429 |
//!
//! An IPv6 network of 64 bits counts as one client. Request bodies are not read.
//!
//! # When not to use it
//!
//! - Webhooks and aggregated APIs: request bodies are not read.
//! - Profiling: the paths below `/debug/pprof` do not exist.
//!
//! # Requirements
//!
//! - Unix, a tokio runtime, and one feature of `k8s-openapi` in the program, such as `v1_36`.
//! - With HTTPS, the rights of the cluster role `system:auth-delegator`, and of the role
//!   `extension-apiserver-authentication-reader` in `kube-system`.

mod authentication;
mod authorities;
mod authorization;
mod certificate;
mod connection;
mod connections;
mod debug_page;
mod error;
mod exposition;
mod handler;
mod lifetime;
mod listener;
mod metrics;
mod negotiation;
mod pacer;
mod peer;
mod pool;
pub mod response;
mod review_queue;
mod reviewer;
mod reviewers;
mod routes;
mod server;
mod settings;
mod socket;
mod thread;
mod tls;
mod ttl_cache;
mod user;

pub use certificate::CertificateError;
pub use debug_page::DebugPage;
pub use error::ServingError;
pub use metrics::ServingMetrics;
pub use reviewers::Reviewers;
pub use routes::{PageRequest, Routes};
pub use server::{Certificates, Server};
pub use settings::{
    AuthenticationSettings, AuthorizationSettings, CertificateFiles, ServerCertificate, ServingSettings, TlsVersion,
};
pub use thread::ServerThread;
