//! A Kubernetes controller in one page: informers, a queue, workers, events, leader election and shutdown.
//!
//! [`Controller`] joins the crates `kube-informer`, `kube-workqueue`, `kube-controller` and `kube-lease-election` as most
//! controllers use them. It is the counterpart of `manager` and `builder` of controller-runtime, and of `Controller` of
//! kube-rs, with the semantics of client-go. Each part can be used alone, or adjusted through
//! [`Controller::handlers`].
//!
//! | part | call |
//! |---|---|
//! | informers with the client and the metrics of the controller | [`Controller::informer`] |
//! | the objects that are synced by their keys | [`Controller::primary`] |
//! | other objects, whose changes are mapped to keys, with the index of the primary ones | [`Controller::watches`] |
//! | objects that syncs only read | [`Controller::caches`] |
//! | EndpointSlices that the controller writes, repaired after changes by others | [`Controller::owns_slices`] |
//! | Kubernetes Events | [`Controller::recorder`] |
//! | one instance that writes, among several | [`Controller::with_leader_election`] |
//! | writes outside of syncs, only while this instance leads | [`Controller::client`], [`Controller::gate`] |
//! | checks for `/livez` and `/readyz` | [`Controller::health`] |
//! | an HTTP server of these checks and the metrics | `Controller::serve`, with the feature `http` |
//! | the same over HTTPS, with authentication and authorization | the crate `kube-controller-serving` |
//! | a token that SIGTERM and Ctrl+C cancel | [`stop_on_signals`] |
//! | Prometheus metrics of all of these | `Controller::with_metrics`, with the feature `prometheus` |
//! | a key that is synced again after a delay | [`Action::requeue`] |
//! | a context that all syncs share, and errors of any type | [`Controller::run`] |
//!
//! # Example
//!
//! A controller that counts the Pods of the namespace of each `ConfigMap`:
//!
//! ```
//! use std::sync::Arc;
//!
//! use k8s_openapi::api::core::v1::{ConfigMap, Pod};
//! use kube_controller_program::{
//!     CancellationToken, Client, Controller, ControllerError, LeaseName, Lister, NamedIndexes, Object as _, ObjectKey,
//! };
//!
//! struct Context {
//!     config_maps: Lister<ConfigMap, NamedIndexes<ConfigMap>>,
//!     pods: Lister<Pod>,
//! }
//!
//! async fn sync(context: Arc<Context>, key: ObjectKey) -> Result<(), ControllerError> {
//!     let Some(object) = context.config_maps.get(&key.namespace, &key.name) else { return Ok(()) };
//!     println!("{}: {} Pods", object.key(), context.pods.list_namespace(&key.namespace).len());
//!     Ok(())
//! }
//!
//! async fn run(name: &str, client: Client, stop: CancellationToken) -> Result<(), ControllerError> {
//!     let controller = Controller::new(name, client);
//!     let by_namespace = NamedIndexes::new().with("namespace", |object: &ConfigMap| vec![object.namespace().to_owned()]);
//!     let config_maps = controller.informer().index(by_namespace).build();
//!     let pods = controller.informer().build();
//!     let context = Context { config_maps: config_maps.lister(), pods: pods.lister() };
//!     controller
//!         .primary(&config_maps)
//!         .watches(&pods, |pod: &Pod, config_maps| {
//!             let of_namespace = config_maps.bucket("namespace", pod.namespace());
//!             of_namespace.map(|it| it.key()).collect::<Vec<_>>()
//!         })
//!         .concurrency(5)
//!         .with_leader_election(LeaseName::new("default", name))
//!         .run(stop, context, sync)
//!         .await
//! }
//! ```
//!
//! What its API mentions is re-exported, so that few programs depend on the other crates directly. Of the types with the
//! same name, [`Event`], [`EventType`] and [`ObjectReference`] are the change in an informer, the type of a Kubernetes
//! Event (not `kube_wire::EventType`, that of a watch) and the object that such an Event is about (not
//! `kube_endpoint_model::ObjectReference`, that of an endpoint).
//!
//! Seven controllers of EndpointSlices, each a test, are in the
//! [examples of `kube-endpointslice`](https://github.com/kube-endpoints/kube-endpoints/tree/main/crates/endpointslice/examples).
//!
//! # When not to use it
//!
//! - Several controllers in one process that share informers: use [`kube_controller::Controller`] and
//!   [`kube_controller::Supervisor`], as the program of these crates does.
//! - Keys other than namespace and name, another rate limiter, or another grace period: likewise.
//!
//! # Requirements and failures
//!
//! - A tokio runtime, and one feature of `k8s-openapi` in the program, such as `v1_36`.
//! - RBAC permission to `list` and `watch` what the informers read, and with leader election to `get`, `create` and
//!   `update` the Lease.
//! - A failed sync is logged and retried with back-off. The first task that fails, such as an informer whose author chose
//!   [`OnUndecodable::Fail`], ends the controller with an error that names it.
//! - When the Lease is lost, the gate of [`Controller::client`] closes at once, and [`Controller::run`] returns
//!   [`ControllerError::LeaseLost`].

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
