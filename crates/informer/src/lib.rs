#![doc = include_str!("../README.md")]

mod both;
mod builder;
mod catch_up;
mod changes;
mod deferred_events;
mod event;
mod guard;
mod handle;
mod handler;
mod index;
mod informer;
#[cfg(test)]
mod item;
mod list_log;
mod list_watch;
mod lister;
mod manual;
mod metrics;
mod mirror;
mod objects;
mod options;
mod own_writes;
mod progress;
#[cfg(feature = "prometheus")]
mod prometheus;
mod references;
mod reflector;
mod relist;
mod restore;
#[cfg(feature = "runtime")]
pub mod runtime;
mod sampling;
mod shared;
mod state;
mod store;
mod sync;
mod undecodable;
mod untyped;
mod write_through;

/// The crate `bytes`, whose `Bytes` are in the API of [`ListWatchResponse`].
pub use bytes;

pub use builder::Builder;
pub use event::{Event, States};
pub use guard::{Guard, HeldList, WITHHELD_INTERVAL};
pub use handle::HandlerHandle;
pub use index::NamedIndexes;
pub use informer::Informer;
pub use kube_wire::{Index, Undecodable};
pub use list_watch::{ListWatch, ListWatchError, ListWatchFuture, ListWatchResponse};
pub use lister::Lister;
pub use manual::ManualSource;
pub use metrics::{GuardOutcome, HandlerMetrics, InformerMetrics, InformerMetricsProvider, RelistCause};
pub use objects::Objects;
pub use options::HandlerOptions;
pub use progress::{CacheState, Progress};
#[cfg(feature = "prometheus")]
pub use prometheus::{ComputedGauge, PrometheusMetrics};
pub use reflector::BackoffPolicy;
pub use restore::RestoreSignal;
pub use sync::{NeverSynced, NotSynced, synced_before, wait_for_sync};
pub use undecodable::{OnUndecodable, UndecodableObject};
pub use write_through::{OwnWrite, WriteThrough};
