//! The loop of a Kubernetes controller: events queue keys, workers sync them, failed keys are retried.
//!
//! - [`Controller`]: handlers of [informers](kube_informer), a [work queue](kube_workqueue) and workers, joined by one builder.
//!   Workers start when all caches have synced.
//! - [`Workers`]: the same without informers: keys from a queue, a number of concurrent syncs, any error type.
//! - [`RetryPolicy`]: back-off, and slow retries afterwards in place of giving up.
//! - [`Enqueuer`]: adds keys; slows down keys whose writes another client keeps undoing.
//! - [`Supervisor`]: all tasks of a process; the first that fails ends the others, so that no part runs alone.
//!
//! ```text
//! informer --event--> handler --Enqueuer--> queue --key--> worker --> sync(key) --> API server
//!                                             ^                          |
//!                                             +------- RetryPolicy <-----+ error
//! ```
//!
//! It is to client-go's `workqueue` and informers what the `processNextWorkItem` loop of every Kubernetes controller is, or
//! `controller.New` in controller-runtime.
//!
//! # When not to use it
//!
//! With `kube::runtime::Controller`, which has a queue, retries and concurrency of its own and suits most operators. This crate
//! is for controllers that follow client-go's queue semantics: rate limits, batching delays, and caches with indexes.
//!
//! # Example
//!
//! ```
//! use kube_controller::{Controller, Metrics, Supervisor};
//! use kube_informer::{Event, ManualSource};
//! use kube_wire::{Object, ObjectMeta};
//! use kube_workqueue::Queue;
//! use std::time::Duration;
//! use tokio_util::sync::CancellationToken;
//! # struct ConfigMap(ObjectMeta);
//! # impl Object for ConfigMap {
//! #     fn namespace(&self) -> &str { &self.0.namespace }
//! #     fn name(&self) -> &str { &self.0.name }
//! #     fn uid(&self) -> kube_wire::Uid { self.0.uid.clone() }
//! #     fn resource_version(&self) -> kube_wire::ResourceVersion { self.0.resource_version.clone() }
//! # }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stop = CancellationToken::new();
//! // In a program: `Informer::builder(client).build()`.
//! let (config_maps, source) = ManualSource::<ConfigMap>::new();
//!
//! let queue = Queue::builder().name("example");
//! let mut controller = Controller::builder("example", queue, Metrics::default()).concurrency(5);
//! controller.watch(&config_maps, "config maps", |event: &Event<ConfigMap>, keys| {
//!     keys.add(event.object().key().to_string());
//! });
//! let done = stop.clone();
//! let controller = controller.build(move |key: String| {
//!     let done = done.clone();
//!     async move {
//!         println!("syncing {key}");
//!         done.cancel();
//!         Ok::<(), std::io::Error>(())
//!     }
//! });
//!
//! let metadata = serde_json::from_str(r#"{"namespace": "shop", "name": "web", "resourceVersion": "1"}"#)?;
//! source.replace([ConfigMap(metadata)], "1");
//! let mut supervisor = Supervisor::new(stop.clone());
//! supervisor.spawn("config maps", config_maps.run(stop.clone()));
//! supervisor.try_spawn("example", controller.run(stop));
//! supervisor.run(Duration::from_secs(5)).await?;
//! # Ok(())
//! # }
//! ```

mod controller;
mod damping;
mod enqueuer;
mod error_text;
mod lock;
mod metrics;
mod observer;
#[cfg(feature = "prometheus")]
mod prometheus;
mod supervisor;
mod workers;

pub use controller::{Controller, ControllerBuilder, Metrics};
pub use enqueuer::Enqueuer;
pub use lock::locked;
pub use metrics::ControllerMetrics;
pub use observer::Latency;
#[cfg(feature = "prometheus")]
pub use prometheus::PrometheusControllers;
pub use supervisor::{Supervisor, SupervisorError};
pub use workers::{Outcome, RetryPolicy, Workers};
