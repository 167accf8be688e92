//! The loop every controller runs.
//!
//! A controller is a queue of keys and a function that brings one key's object into its desired state. This crate joins
//! the two: [`Workers`] take keys, call the function, and put a key back when it failed; a [`Supervisor`] holds all
//! tasks of a process, so that the first one that fails ends it and half a controller never limps on. [`Propagation`] follows a
//! change from the event that woke a key, with a [`KeyWaker`], to the acknowledged write.
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//! use kube_controller::{RetryPolicy, Supervisor, Workers};
//! use kube_workqueue::{Queue, default_controller_limiter};
//! use tokio_util::sync::CancellationToken;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stop = CancellationToken::new();
//! let (queue, timer) = Queue::builder().limiter(default_controller_limiter()).build();
//! queue.add("shop/web".to_owned());
//!
//! let done = stop.clone();
//! let sync = move |key: String| {
//!     let done = done.clone();
//!     async move {
//!         println!("syncing {key}");
//!         done.cancel();
//!         Ok::<(), std::io::Error>(())
//!     }
//! };
//! let retry = RetryPolicy::default();
//! let workers = Workers { name: "example", queue, timer, count: 5, retry, metrics: Arc::new(()) };
//!
//! let mut supervisor = Supervisor::new(stop.clone());
//! supervisor.spawn("example", workers.run(stop, sync));
//! supervisor.run(Duration::from_secs(5)).await?;
//! # Ok(())
//! # }
//! ```

mod damping;
mod error_text;
mod key_waker;
mod lock;
mod metrics;
#[cfg(feature = "prometheus")]
mod prometheus;
mod propagation;
mod supervisor;
mod workers;

pub use key_waker::KeyWaker;
pub use lock::locked;
pub use metrics::ControllerMetrics;
#[cfg(feature = "prometheus")]
pub use prometheus::PrometheusControllers;
pub use propagation::{Propagation, PropagationMetrics, Stages, Turn};
pub use supervisor::{Supervisor, SupervisorError};
pub use workers::{RetryPolicy, Workers};
