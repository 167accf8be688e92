//! An embedded Kubernetes API server over HTTP for development and tests. Never for production.
//!
//! It speaks the real protocol in the process of a test: list and watch, optimistic concurrency, graceful deletion,
//! finalizers, `metav1.Status` errors in upstream's words, and the defaults that a real server fills in. Controllers
//! and clients connect to it as to any cluster, over a socket.
//!
//! ```
//! use kube_dev_apiserver::{Config, Server};
//! use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let server = Server::start(Config::default()).await?;
//! // Any client does; `server.kubeconfig()` is what kube or kubectl want.
//! let mut connection = tokio::net::TcpStream::connect(server.address()).await?;
//! connection.write_all(b"GET /api/v1/namespaces/default HTTP/1.1\r\nhost: dev\r\nconnection: close\r\n\r\n").await?;
//! let mut answer = String::new();
//! connection.read_to_string(&mut answer).await?;
//! assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.contains(r#""phase":"Active""#));
//! server.shutdown().await;
//! # Ok::<_, Box<dyn std::error::Error>>(()) }).unwrap();
//! ```
//!
//! # What it serves
//!
//! `v1` `ConfigMap`, Endpoints, Event, Namespace, Node, Pod, Service and `ServiceAccount`, `discovery.k8s.io/v1`
//! `EndpointSlice`, `coordination.k8s.io/v1` Lease and `rbac.authorization.k8s.io/v1` Role, `ClusterRole` and their
//! bindings: get, list, watch, create, update, JSON merge patch, JSON patch,
//! delete and delete-collection, with `/status` where the kind has one. Bodies are JSON or YAML, answers are JSON.
//!
//! # What differs from a real server
//!
//! - Nothing is kept on disk.
//! - No admission plugin runs but the namespace lifecycle: nodes are not tainted, service accounts, their tokens and
//!   the root certificate's `ConfigMap` do not appear, and there is no `kubernetes` Service.
//! - A deleted namespace is emptied at once, by the server, pods without grace; only finalizers hold it back.
//! - `metadata.managedFields` is not kept.
//! - Of dependents the server knows nothing: owner references are stored, and no garbage is collected.
//! - Fields that the chosen `k8s-openapi` version does not know are dropped, and quantities are not brought into
//!   canonical form.
//! - Validation covers names, labels, annotations, owner references, and what controllers of Services and endpoints
//!   rely on; a real server refuses more.
//! - Lists are not cut into pages; strategic merge patch, server-side apply, Tables, and protobuf are not spoken yet.
//! - Tokens are opaque, mean something to one server only, and are not bound to pods. Whoever may write roles may give
//!   rights that they do not have themselves. Review requests in protobuf are refused with 415.
//!
//! # Who may do what
//!
//! By default everybody everything, in plain text. [`Config`] asks for more: [`Transport::Tls`] with an authority made
//! at the start, bearer [tokens](Config::tokens), client certificates ([`Server::client_certificate`]),
//! [`Anonymous::Refused`], and [`Authorization::Rbac`], which enforces the roles and bindings that have been applied.
//! Service accounts get their tokens by `TokenRequest`; `TokenReview`, `SelfSubjectReview` and the three
//! `SubjectAccessReview`s are answered. [`Server::kubeconfig`] is always the owner's,
//! [`Server::kubeconfig_for`] anybody's.
//!
//! # Faults on demand
//!
//! [`Server::faults`] makes what breaks controllers in production: refusals (410, 429 with `Retry-After`, 500, 503),
//! reset connections, writes that are carried out but not confirmed, slow and split answers, late events, watches that
//! end; [`Server::restart`] drops all connections and, if wanted, the history. Which request is hit is drawn from
//! [`Config::seed`]. [`Server::requests`] tells what clients asked.
//!
//! ```
//! # use kube_dev_apiserver::{Config, Fault, History, On, Server};
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let server = Server::start(Config { seed: Some(1), ..Config::default() }).await?;
//! server.faults().inject(Fault::apply_then_timeout().on(On::any().verb("create").resource("pods")).times(1));
//! server.faults().inject(Fault::unavailable().on(On::writes()).probability(0.1));
//! // … let a controller work …
//! server.restart(History::Lost);
//! assert_eq!(server.requests().count(&On::writes()), 0);
//! # server.shutdown().await;
//! # Ok::<_, Box<dyn std::error::Error>>(()) }).unwrap();
//! ```
//!
//! With [`Config::debug_endpoints`] other processes can do the same: `GET`, `POST` and `DELETE` of `/debug/faults`
//! (`{"effect": {"refuse": {"code": 503}}, "on": {"verbs": ["list"], "resource": "pods"}, "times": 2}` for one, with the
//! effects of [`Effect`] and the names of [`On`] and [`Fault`]; `DELETE` takes `?id=`), and `GET` and `DELETE` of
//! `/debug/requests`, which can be filtered as in `?verb=list&resource=pods`.
//!
//! # How it is made
//!
//! The core is synchronous and knows neither sockets nor clocks: objects, versions, history and the rules of each kind.
//! An object is encoded once, when it is written; lists and watches copy its bytes. A watch reads the history at its
//! own pace, so a slow client never slows a writer and is disconnected when it has fallen too far behind.

mod address;
mod attributes;
mod authorization;
mod cluster;
mod config;
mod credentials;
mod custom_kind;
mod faults;
mod field;
mod http;
mod identity;
mod kinds;
mod merge;
mod names;
mod requests;
mod schema;
mod selector;
mod server;
mod service_addresses;
mod shared;
mod status;
mod table;
mod transport;

pub use config::{Anonymous, Authorization, Config, Token, Transport};
pub use custom_kind::CustomKind;
pub use faults::{Effect, End, Fault, FaultState, Faults, On};
pub use identity::User;
pub use requests::{LoggedRequest, Requests};
pub use server::{History, Server, StartError};
pub use transport::{ClientCertificate, TlsError};
