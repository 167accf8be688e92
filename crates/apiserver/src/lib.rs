//! An embedded Kubernetes API server over HTTP for development and tests. Never for production.
//!
//! It speaks the real protocol in the process of a test: list and watch, optimistic concurrency, graceful deletion,
//! finalizers, `metav1.Status` errors in upstream's words, and the defaults that a real server fills in. Controllers
//! and clients connect to it as to any cluster, over a socket, or [in process](#in-process).
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
//! `EndpointSlice`, `coordination.k8s.io/v1` Lease, `events.k8s.io/v1` Event (the same events under newer names),
//! `rbac.authorization.k8s.io/v1` Role, `ClusterRole` and their bindings, and every kind that is named by a
//! [`CustomKind`] or by an `apiextensions.k8s.io/v1` `CustomResourceDefinition`.
//!
//! Of each: get, list (whole, in pages of one version, at an exact version), watch, create, update, delete and
//! delete-collection, JSON patch, JSON merge patch, strategic merge patch and server-side apply, with `/status` where the
//! kind has one. Unknown and duplicate fields are refused, warned of or ignored, as `fieldValidation` says. Bodies are
//! JSON, YAML or protobuf; answers are JSON (objects, `Table`s with kubectl's columns, `PartialObjectMetadata`), or
//! protobuf where a client prefers that. Custom kinds have no protobuf, as with a real server.
//!
//! kubectl finds what it needs: aggregated and plain discovery, OpenAPI v3 (v2 as JSON) with upstream's descriptions and
//! merge keys. `get` and `get -w`, `describe`, `apply` of both sorts, `patch`, `label`, `annotate`, `delete`, `wait`,
//! `explain`, `api-resources`, `create` of what it makes itself, `auth can-i` and `auth whoami` are tried with it in a
//! test.
//!
//! # What differs from a real server
//!
//! - Nothing is kept on disk.
//! - Admission is the namespace lifecycle and [rules in code](Server::admission), no plugin or webhook: nodes are not tainted, service accounts, their tokens and
//!   the root certificate's `ConfigMap` do not appear, and there is no `kubernetes` Service.
//! - A deleted namespace is emptied by the server, a [while](Config::namespace_grace) after it has begun to refuse new
//!   content, pods without grace; only finalizers hold it back. Its status tells no conditions.
//! - `metadata.managedFields` is not kept, and JSON patches of it change nothing. So server-side apply creates or merges:
//!   a field that was applied once and is now left out stays, and nobody is told of a conflict; `force` is accepted.
//! - Dependents stay when their owner goes, unless [`Config::garbage_collection`] is set.
//! - A custom kind is served in one version, the one that is stored, from the moment it is defined. Its objects are held
//!   to types, required fields and enumerations; strategic merge patches of it are refused with 415, as upstream does.
//! - Fields that the chosen `k8s-openapi` version does not know are dropped, and quantities are not brought into
//!   canonical form.
//! - A time whose year in UTC is none of 0000 to 9999 is refused, and a `MicroTime` is taken without its six digits.
//! - Validation covers names, labels, annotations, owner references, and what controllers of Services and endpoints
//!   rely on; a real server refuses more.
//! - Pages and exact versions of a list are rebuilt from the history of changes, so they expire with it.
//! - OpenAPI v2 in protobuf is refused with 406. kubectl asks for it only to check kinds that cannot be patched, so
//!   `kubectl create -f` of a review needs `--validate=false`.
//! - Tokens are opaque, mean something to one server only, and are not bound to pods. Whoever may write roles may give
//!   rights that they do not have themselves.
//! - A list in protobuf is encoded whole before it is sent.
//! - Nobody can act as somebody else (`--as`): impersonation is ignored.
//!
//! # Who may do what
//!
//! By default everybody everything, in plain text. [`Config`] asks for more: [`Transport::Tls`] with an authority made
//! at the start, bearer [tokens](Config::tokens), client certificates ([`Server::client_certificate`]),
//! [`Anonymous::Refused`], and [`Authorization::Rbac`], which enforces the roles and bindings that have been applied.
//! Service accounts get their tokens by `TokenRequest`; `TokenReview`, `SelfSubjectReview`, `SelfSubjectRulesReview`
//! and the three `SubjectAccessReview`s are answered. [`Server::kubeconfig`] is always the owner's,
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
//! `/debug/requests`, which can be filtered as in `?verb=list&resource=pods`. `DELETE /debug/watches` cuts the open
//! watches that the same filter names, and `POST /debug/restart?history=lost` (or `kept`) drops every connection, that
//! of the request too.
//!
//! # In process
//!
//! [`Server::in_process`] serves without a socket, for deterministic simulations: [`Server::service`] is a tower service,
//! which `kube::Client::new` and other clients take in place of a connection. Everything above the socket stays in the
//! path: encodings, lists, watch frames, errors and faults. A reset is an error of the kind
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
//! With [`Config::seed`] and [`Config::clock`], the same requests in the same order give the same bytes, and watches are
//! woken in the order in which they began to wait. Use a current-thread runtime, with paused time if delays and timeouts
//! are not to be waited for: the future of a call and the body of its answer do all work when they are polled, and the
//! server's only task empties deleted namespaces. A call that is dropped is cancelled.
//!
//! # Policies and restores
//!
//! [`Server::admission`] takes rules in code that change or refuse writes, as admission policies and webhooks do.
//! [`Server::snapshot`] and [`Server::restore`] set all objects and versions back, as a restore of etcd does.
//!
//! # Large clusters
//!
//! [`Server::load`] puts objects in place without a request for each, status included; [`Server::traffic`] tells how many
//! bytes went to and came from whom.
//!
//! # How it is made
//!
//! The core is synchronous and knows neither sockets nor clocks: objects, versions, history and the rules of each kind.
//! An object is encoded once, when it is written; lists and watches copy its bytes. A watch reads the history at its
//! own pace, so a slow client never slows a writer and is disconnected when it has fallen too far behind.

mod address;
mod admission;
mod attributes;
mod authorization;
mod bell;
mod clock;
mod cluster;
mod config;
mod credentials;
mod custom_kind;
mod emptying;
mod faults;
mod field;
mod http;
mod identity;
mod inspect;
mod kinds;
mod load;
mod merge;
mod names;
mod population;
mod protobuf;
mod requests;
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

pub use admission::{Admission, AdmissionRequest, Denial, Operation};
pub use clock::Clock;
pub use config::{Anonymous, Authorization, Config, Token, Transport};
pub use custom_kind::CustomKind;
pub use faults::{Effect, End, Fault, FaultState, Faults, On};
pub use http::{AnswerBody, InProcess, Lag};
pub use identity::User;
pub use load::LoadError;
pub use population::Population;
pub use requests::{LoggedRequest, Requests};
pub use server::{History, Server, StartError};
pub use snapshot::Snapshot;
pub use traffic::Traffic;
pub use transport::{ClientCertificate, TlsError};
