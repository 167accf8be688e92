//! A Kubernetes controller in one page: informers, a queue, workers, events, leader election and shutdown.
//!
//! [`Program`] joins the crates `kube-informer`, `kube-workqueue`, `kube-controller` and `kube-lease-election` as most
//! controllers use them. It is the counterpart of `manager` and `builder` of controller-runtime, and of `Controller` of
//! kube-rs, with the semantics of client-go. Each part can be used alone, or adjusted through
//! [`Program::handlers`].
//!
//! # Example
//!
//! A controller that counts the Pods of the namespace of each `ConfigMap`:
//!
//! ```
//! use std::sync::Arc;
//!
//! use k8s_openapi::api::core::v1::{ConfigMap, Pod};
//! use kube_controller::Metrics;
//! use kube_controller_client::Client;
//! use kube_controller_program::{Program, ProgramError};
//! use kube_informer::{Informer, Lister};
//! use kube_wire::{Object as _, ObjectKey};
//! use tokio_util::sync::CancellationToken;
//!
//! struct Context {
//!     config_maps: Lister<ConfigMap>,
//!     pods: Lister<Pod>,
//! }
//!
//! async fn sync(context: Arc<Context>, key: ObjectKey) -> Result<(), kube_controller_client::Error> {
//!     let Some(object) = context.config_maps.get(&key.namespace, &key.name) else { return Ok(()) };
//!     println!("{}: {} Pods", object.key(), context.pods.list_namespace(&key.namespace).len());
//!     Ok(())
//! }
//!
//! async fn run(client: Client, stop: CancellationToken) -> Result<(), ProgramError> {
//!     let config_maps = Informer::<ConfigMap>::builder(client.clone()).build();
//!     let pods = Informer::<Pod>::builder(client.clone()).build();
//!     let context = Context { config_maps: config_maps.lister(), pods: pods.lister() };
//!     let counted = config_maps.lister();
//!     Program::new("counts", client, Metrics::default())
//!         .primary(&config_maps)
//!         .watches(&pods, "pods", move |pod| {
//!             let config_maps = counted.list_namespace(&pod.key().namespace);
//!             config_maps.into_iter().map(|it| it.key())
//!         })
//!         .concurrency(5)
//!         .run(stop, context, sync)
//!         .await
//! }
//! ```
//!
//! # When not to use it
//!
//! - Several controllers in one process that share informers: use [`kube_controller::Controller`] and
//!   [`kube_controller::Supervisor`], as the program of these crates does.
//! - Keys other than namespace and name, another rate limiter, or another grace period: likewise.

mod program;

pub use program::{Program, ProgramError};
