//! Runs Kubernetes controllers: informer events queue keys, workers sync them, and failed keys are retried.
//!
//! It is the counterpart of the `processNextWorkItem` loop of controllers on client-go (Kubernetes 1.36), and of
//! `controller.New` in controller-runtime. What it is for:
//!
//! - **Wiring**: [`Controller`] joins handlers of [informers](kube_informer), a [work queue](kube_workqueue) and
//!   workers that start when all caches have synced. Without handlers, it syncs the keys that other code adds.
//! - **Retries**: a [`RetryPolicy`] retries a failed key with back-off, by default 15 times (with client-go's default
//!   rate limiter over about 164 s), and then every 1,000 s instead of dropping it.
//! - **Outages**: failures of the API server are no failures of a key. With [`ControllerBuilder::failure_cause`], keys
//!   wait at a [`ServerGate`] while it fails, and are synced within seconds once it accepts a write.
//! - **Periodic syncs**: a sync that returns [`Action::requeue`] is called again after a delay, without an event.
//! - **Contested objects**: [`Enqueuer::add_contested`] delays keys whose writes another client keeps undoing, from the
//!   sixth time on: 1 s, doubling to 30 s.
//! - **Batching**: keys that keep changing are synced at intervals of 20 ms, with [`Batching::Adaptive`] of up to 1 s, so
//!   that one sync combines many changes; the first change of a quiet key is synced at once.
//! - **Supervision**: a [`Supervisor`] runs the tasks of a process. The first task that fails stops all others, so that
//!   the process never continues with some of them.
//! - **Health checks**: [`Health`] has the checks of `/livez` and `/readyz`, for an HTTP server of the program.
//! - **Propagation latency**: [`ControllerMetrics::propagated`] receives the time from an event to the end of the sync
//!   that wrote because of it.
//!
//! ```text
//! informer --event--> handler --Enqueuer--> queue --key--> worker --> sync(key) --> API server
//!                                             ^                          |
//!                                             +------- RetryPolicy <-----+ error
//! ```
//!
//! # When not to use it
//!
//! - Operators that need neither client-go's queue semantics (rate limits per key, batching delays) nor the caches of
//!   `kube-informer`: use `kube::runtime::Controller`, which brings its own queue, retries and concurrency.
//! - Work without keys, such as a stream of commands: keys carry no data, and equal keys are merged.
//!
//! # Errors and shutdown
//!
//! - A failed sync is logged with its key and error and retried. A sync has no time limit of its own; its requests have
//!   those of the client.
//! - A cache that stops before it has synced: [`Controller::run`] returns [`NeverSynced`](kube_informer::NeverSynced),
//!   and no worker has started.
//! - A panic in a sync or in a supervised task: [`Supervisor::run`] stops the other tasks and returns
//!   [`SupervisorError::Panicked`]. The program should exit then: the state that the panic interrupted is unknown.
//! - Shutdown, when the cancellation token is cancelled: running syncs are completed, queued keys are dropped. Tasks
//!   that still run after the grace period are aborted, and [`Supervisor::run`] returns [`SupervisorError::Stuck`].
//!
//! # Example
//!
//! A controller that syncs each `ConfigMap` by printing its key, and stops after the first one. A real sync reads the
//! object from a [`Lister`](kube_informer::Lister) and writes through a client. With several instances, run the
//! controller only while the process leads (`kube_lease_election::Fence::wait_until_leading`); the
//! [book](https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/writing-a-controller.md) has a complete
//! program.
//!
//! ```
//! use kube_controller::{Controller, Metrics, Supervisor};
//! use kube_informer::{Event, ManualSource};
//! use kube_wire::{Object, ObjectHead};
//! use kube_workqueue::Queue;
//! use std::time::Duration;
//! use tokio_util::sync::CancellationToken;
//! # struct ConfigMap(ObjectHead);
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
//!
//! Ids such as `EC-36` name rules of the
//! [contract](https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/contract.md).

mod any_informer;
mod back_off;
mod batching;
mod controller;
mod damping;
mod enqueuer;
#[cfg(feature = "client")]
mod executor;
mod failure_cause;
mod failure_log;
mod health;
mod key_states;
mod lock;
mod metrics;
mod observer;
mod outcome;
mod owns;
mod pacing;
#[cfg(feature = "prometheus")]
mod prometheus;
mod removals;
mod retries;
mod server_gate;
mod supervisor;
mod workers;

pub use any_informer::AnyInformer;
pub use batching::{Batching, UnknownBatching, Urgency};
pub use controller::{Controller, ControllerBuilder, Metrics};
pub use enqueuer::Enqueuer;
#[cfg(feature = "client")]
pub use executor::{Executed, Executor, Failure, WriteRules};
pub use failure_cause::FailureCause;
pub use health::{Health, HealthResponse, Probe};
pub use key_states::{KeyState, KeyStates};
pub use lock::locked;
pub use metrics::{ControllerMetrics, Latency, PendingKeys};
pub use outcome::{Action, Outcome};
pub use owns::Owns;
#[cfg(feature = "prometheus")]
pub use prometheus::PrometheusControllers;
pub use retries::RetryPolicy;
pub use server_gate::ServerGate;
pub use supervisor::{Supervisor, SupervisorError};
