//! An embedded Kubernetes API server over HTTP for development and tests. Never for production.
//!
//! It is for:
//!
//! - tests of controllers and clients in one process, without etcd, containers or a cluster;
//! - [fault injection](#fault-injection): rejected and delayed requests, lost responses, broken and expired watches;
//! - deterministic simulations, [in process](#in-process), with a seed and a simulated clock;
//! - assertions about a client: the [requests](Server::requests) it made, the [bytes](Server::traffic) it transferred
//!   and the [objects](Server::objects) it wrote;
//! - kubectl and any other client over a socket, with TLS, tokens and RBAC if needed, and
//!   [large clusters](#large-clusters) to measure with.
//!
//! It reports version 1.36.2 and implements the real protocol: list and watch, optimistic concurrency, graceful
//! deletion, finalizers, `metav1.Status` errors with upstream's messages, and the defaults that a real server sets.
//!
//! ```text
//! socket (TLS, HTTP/1.1, HTTP/2)       Server::service (in process)
//!               |                                   |
//!               +-----------------+-----------------+
//!                                 v
//! http      authentication, faults, request log, authorization
//!           decoding, lists, watches, encoding  <-----------------+
//!                                 |                               |
//!                     one read-write lock              change notifications
//!                                 v                               |
//! cluster   admission rules, defaults, validation                 |
//!           objects, revision counter, history  ------------------+
//! ```
//!
//! ```
//! use kube_dev_apiserver::{Config, Server};
//! use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let server = Server::start(Config::default()).await?;
//! // Any client works; kube and kubectl take `server.kubeconfig()`.
//! let mut connection = tokio::net::TcpStream::connect(server.address()).await?;
//! connection.write_all(b"GET /api/v1/namespaces/default HTTP/1.1\r\nhost: dev\r\nconnection: close\r\n\r\n").await?;
//! let mut answer = String::new();
//! connection.read_to_string(&mut answer).await?;
//! assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.contains(r#""phase":"Active""#));
//! server.shutdown().await;
//! # Ok::<_, Box<dyn std::error::Error>>(()) }).unwrap();
//! ```
//!
//! # Prerequisites
//!
//! A tokio runtime, and in the program or test a version feature of `k8s-openapi`, such as `v1_36`, which this crate
//! does not select. Starting a server in process takes about 0.1 ms; the README has more benchmarks. [`StartError`]
//! lists what can fail. A server ends when it is dropped.
//!
//! # When not to use it
//!
//! - In production: nothing is stored on disk, and there is one process.
//! - To prove that a program works with a release of Kubernetes: use envtest or kind, and see
//!   [the differences](#differences-from-a-real-server). No controller, scheduler or kubelet runs here: Pods stay
//!   pending until a test writes their status.
//! - To return fixed responses to a few requests: a mock service, such as that of `tower-test`, is simpler.
//!
//! # Supported API
//!
//! - `v1`: `ConfigMap`, Endpoints, Event, Namespace, Node, Pod, Secret, Service, `ServiceAccount`
//! - `apps/v1`: Deployment and `ReplicaSet`, with `/scale`
//! - `batch/v1`: Job
//! - `discovery.k8s.io/v1`: `EndpointSlice`
//! - `coordination.k8s.io/v1`: Lease
//! - `events.k8s.io/v1`: Event, another view of the events in `v1`
//! - `rbac.authorization.k8s.io/v1`: Role, `ClusterRole` and their bindings
//! - every kind defined by a [`CustomKind`] or by an `apiextensions.k8s.io/v1` `CustomResourceDefinition`
//!
//! Each kind has get, list (whole, in pages of one version, or at an exact version), watch, create, update, delete,
//! delete-collection, JSON patch, JSON merge patch, strategic merge patch and server-side apply, and `/status` where
//! upstream or the definition has it. `fieldValidation` selects whether unknown and duplicate fields are rejected,
//! cause warnings or are ignored. Request bodies are JSON, YAML or protobuf; responses are JSON (objects, `Table`s with
//! kubectl's columns, `PartialObjectMetadata`), or protobuf if the client prefers it. Custom kinds have no protobuf, as
//! on a real server.
//!
//! kubectl works: discovery is aggregated and plain, OpenAPI is v3 and v2, with upstream's descriptions, enumerations and
//! merge keys. A test compares the output of 199 commands with that of a real server: `get`, `get -w`, `describe`,
//! `apply` (client-side and server-side), `diff`, `patch`, `edit`, `delete`, `wait`, `explain`, `scale`, `rollout`, `auth`
//! and others. `tests/kubectl/answers.txt` lists them, and for those that differ the reason.
//!
//! Custom resources are validated by the schema and the CEL rules of their definition, with upstream's messages, and have
//! defaults, `/status`, `/scale`, selectable fields and printer columns.
//!
//! # Differences from a real server
//!
//! - Nothing is stored on disk.
//! - Admission consists of the namespace lifecycle, the priority and tolerations of new Pods, and
//!   [rules in code](Server::admission), without other plugins and webhooks: Nodes are not tainted, and there are no
//!   default service accounts, no `kube-root-ca.crt` and no Service `kubernetes`. A Pod may name any priority class.
//! - The server itself deletes the content of a deleted namespace, [some time](Config::namespace_grace) after it has
//!   begun to reject creates. Pods are deleted without a grace period; only finalizers delay the removal. The namespace
//!   has no conditions.
//! - `metadata.managedFields` is kept from the first server-side apply of an object on; with
//!   [`FieldTracking::Always`], from its creation, as in a real server. The server's own writes own no fields, and a client
//!   owns what admission rules in code set in its writes. Null in an applied configuration unsets the field.
//! - Dependents of a deleted owner stay, and the propagation policy of a delete has no effect, unless
//!   [`Config::garbage_collection`] is set. Garbage is then collected by the write that leaves it, not some time later.
//! - No controller runs: a Deployment creates no `ReplicaSet`, a `ReplicaSet` no Pods, and a Job never ends. `devcluster
//!   serve` has those of Deployments and `ReplicaSet`s.
//! - Admission rules get a write of `/scale` as an update of the scaled object, with the subresource `scale`.
//! - A custom kind is served in its storage version only, as soon as it is defined. Deleting the definition deletes all
//!   its objects, whatever their finalizers. Schemas of definitions are not validated, except that CEL rules must parse;
//!   their types are not checked, and their costs not limited. The functions for URLs, `cel.bind`, `sortBy` and
//!   comprehensions with two variables are missing; a rule with one of them is violated.
//! - Fields outside of the selected `k8s-openapi` version are dropped, and quantities are not canonicalized.
//! - A time whose year in UTC is not from 0000 to 9999 is rejected, and a `MicroTime` need not have six fractional
//!   digits.
//! - Validation covers names, labels, annotations, owner references, and what controllers of Services and endpoints
//!   rely on; a real server rejects more. Warnings are about unknown and duplicate fields, deprecated kinds, ports of
//!   containers and forms of addresses; a real server has more.
//! - Pages and exact versions of a list are rebuilt from the [history](Config::watch_history) and expire with it.
//! - OpenAPI v2 in protobuf is a document without schemas. kubectl only checks that it is there.
//! - Subresources that need a kubelet or a proxy, such as `log` and `exec`, get 501, or upstream's answer for a Pod without
//!   a Node. `binding` and `eviction` work; there are no disruption budgets.
//! - `/metrics` has the number of stored objects only, and the checks of `/readyz` always pass.
//! - Tokens are opaque, valid on one server only and not bound to pods. Users who may write roles can grant permissions
//!   that they do not have: there is no escalation check.
//! - A list in protobuf is encoded completely before the first byte is sent.
//! - Users have no extra values: those of an impersonated user (`--as-user-extra`) are authorized and then dropped.
//!
//! # Authentication and authorization
//!
//! By default there is neither: plain HTTP, and every request is allowed. Options of [`Config`] are [`Transport::Tls`]
//! with a generated certificate authority, static bearer [tokens](Config::tokens), [`Anonymous::Rejected`], and
//! [`Authorization::Rbac`] with the stored roles and bindings. [`Server::client_certificate`] creates client
//! certificates. Service accounts get tokens by `TokenRequest`. `TokenReview`, `SelfSubjectReview`,
//! `SelfSubjectRulesReview` and the three `SubjectAccessReview`s work. [`Server::kubeconfig`] has full access,
//! [`Server::kubeconfig_for`] that of a user. Clients as kubectl send credentials over TLS only, so that over plain HTTP
//! each of them is `system:anonymous`.
//!
//! # Fault injection
//!
//! [`Server::faults`] injects the failures that break controllers in production: error responses (410, 429 with
//! `Retry-After`, 500, 503), connection resets, writes whose response is lost, lists that lack objects, slow and fragmented
//! responses, late events, and watches that end. [`Server::restart`] drops all connections and, optionally, the history. Random
//! decisions are drawn from [`Config::seed`]. [`Server::requests`] is the log of requests. A fault or a count of requests
//! for a verb or resource that the server does not serve panics: it would never have an effect, or always be 0.
//!
//! ```
//! # use kube_dev_apiserver::{Config, Fault, History, On, Server};
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let server = Server::start(Config { seed: Some(1), ..Config::default() }).await?;
//! server.faults().inject(Fault::apply_then_timeout().on(On::any().verb("create").resource("pods")).times(1));
//! server.faults().inject(Fault::unavailable().on(On::writes()).probability(0.1));
//! // … run a controller …
//! server.restart(History::Lost);
//! assert_eq!(server.requests().count(&On::writes()), 0);
//! # server.shutdown().await;
//! # Ok::<_, Box<dyn std::error::Error>>(()) }).unwrap();
//! ```
//!
//! With [`Config::debug_endpoints`] other processes can do the same. Requests to these endpoints are authenticated and
//! authorized, but not logged and not hit by faults:
//!
//! - `GET`, `POST` and `DELETE` of `/debug/faults` list, inject and remove faults; `DELETE` with `?id=` removes one.
//!   A fault is the JSON of a [`Fault`], with an [`Effect`] and an [`On`]:
//!   `{"effect": {"reject": {"code": 503}}, "on": {"verbs": ["list"], "resource": "pods"}, "times": 2}`.
//! - `GET` and `DELETE` of `/debug/requests` return and clear the log; `GET` takes a filter such as
//!   `?verb=list&resource=pods`.
//! - `DELETE` of `/debug/watches` ends the open watches that match such a filter.
//! - A verb or resource that the server does not serve gets 400.
//! - `POST` of `/debug/restart` drops all connections, its own included, and with `?history=lost` the history.
//!
//! # In process
//!
//! [`Server::in_process`] starts a server without a socket, for deterministic simulations: [`Server::service`] is a
//! tower service, which `kube::Client::new` and other clients use instead of a connection. Encodings, lists, watch
//! frames, errors and faults are the same as over a socket. A connection reset is an error of the kind
//! [`ConnectionReset`](std::io::ErrorKind::ConnectionReset).
//!
//! ```
//! use http::Request;
//! use http_body_util::{BodyExt as _, Empty};
//! use kube_dev_apiserver::{Clock, Config, Server};
//! use tower::ServiceExt as _;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let clock = Clock::new(|| jiff::Timestamp::UNIX_EPOCH);
//! let server = Server::in_process(Config { seed: Some(1), clock, ..Config::default() })?;
//! let request = Request::get("/api/v1/namespaces/default").body(Empty::<bytes::Bytes>::new())?;
//! let answer = server.service().oneshot(request).await?;
//! assert_eq!(answer.status(), 200);
//! let namespace: serde_json::Value = serde_json::from_slice(&answer.into_body().collect().await?.to_bytes())?;
//! assert_eq!(namespace["metadata"]["creationTimestamp"], "1970-01-01T00:00:00Z");
//! assert_eq!(server.objects("", "namespaces").len(), 4);
//! # Ok::<_, Box<dyn std::error::Error>>(()) }).unwrap();
//! ```
//!
//! With [`Config::seed`] and [`Config::clock`], the same requests in the same order give the same bytes, and watches
//! wake in the order in which they began to wait. Use a current-thread runtime, with paused time to skip delays and
//! timeouts. The future of a call and the body of its response do all work when polled; the only task of the server
//! empties deleted namespaces. Dropping a call cancels it.
//!
//! [`Server::wait_until`] waits for a state of the objects, the request log or the faults without polling. [Testing a kube-rs
//! operator](https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/testing-an-operator.md) is a whole test.
//!
//! # Admission rules and snapshots
//!
//! [`Server::admission`] takes closures that mutate or reject writes, like admission policies and webhooks.
//! [`Server::snapshot`] and [`Server::restore`] reset all objects and versions, like a restore of etcd.
//!
//! # Large clusters
//!
//! [`Server::load`] stores objects without a request for each, and keeps the status of Pods; [`Population`] generates
//! Nodes, Services and Pods. [`Server::traffic`] returns the bytes received from and sent to each client.
//!
//! # Design
//!
//! The core, with objects, versions, history and the rules of each kind, is synchronous and uses neither sockets nor
//! clocks. An object is encoded once, when it is written; lists and watches copy its bytes. A watch reads the history
//! at its own pace: a slow client never delays a writer, and is disconnected when it falls behind the history.

mod address;
mod admission;
mod attributes;
mod authorization;
mod change_notifier;
mod clock;
mod cluster;
mod config;
mod credentials;
mod custom_kind;
mod decode;
mod document;
mod faults;
mod field;
mod fields;
mod http;
mod identity;
mod inspect;
mod kinds;
mod load;
mod merge;
mod names;
mod namespace_cleanup;
mod optional;
mod population;
mod protobuf;
mod requests;
mod reserved_port;
mod schema;
mod selector;
mod server;
mod service_addresses;
mod shared;
mod snapshot;
mod status;
mod table;
mod traffic;
mod transport;
mod typed;
mod wait;

pub use admission::{Admission, AdmissionRequest, Denial, Operation};
pub use clock::Clock;
pub use config::{Anonymous, Authorization, Config, Token, Transport};
pub use custom_kind::CustomKind;
pub use faults::{Effect, End, Fault, FaultState, Faults, On};
pub use fields::FieldTracking;
pub use http::{InProcess, Lag, ResponseBody};
pub use identity::User;
pub use load::LoadError;
pub use population::Population;
pub use requests::{LoggedRequest, Requests};
pub use reserved_port::ReservedPort;
pub use server::{Server, StartError};
pub use shared::History;
pub use snapshot::Snapshot;
pub use traffic::Traffic;
pub use transport::{ClientCertificate, TlsError};
pub use typed::{DEFAULT_FIELD_MANAGER, ObjectError, Objects};
pub use wait::WaitTimeout;
