#![doc = include_str!("../README.md")]

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
mod sync_options;
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
pub use sync_options::SyncOptions;
