//! List-watch into an indexed store, with listers and ordered handlers.
//!
//! An [`Informer`] keeps a copy of one type of objects up to date for as long as it runs, through lost connections, expired
//! versions and servers that are away. Controllers look at the copy through a [`Lister`], never at the API server, and hear of
//! each change through a handler that turns it into keys for their queue.
//!
//! ```no_run
//! use kube_controller_client::Client;
//! use kube_informer::{Event, Informer, wait_for_sync};
//! use kube_wire::{Decode, Object as _};
//! use std::time::Duration;
//! use tokio::task::JoinSet;
//! use tokio_util::sync::CancellationToken;
//!
//! async fn follow<Pod: Decode>(client: Client, stop: CancellationToken) -> Result<(), Box<dyn std::error::Error>> {
//!     let pods = Informer::<Pod>::builder(client).namespace("shop").build();
//!     let handler = pods.add_handler(|event| match event {
//!         Event::Added { object, .. } => println!("new: {}", object.key()),
//!         Event::Updated { new, .. } => println!("changed: {}", new.key()),
//!         Event::Deleted { object, .. } => println!("gone: {}", object.key()),
//!     });
//!
//!     let mut tasks = JoinSet::new();
//!     tasks.spawn(pods.run(stop));
//!     wait_for_sync([&handler], Duration::from_secs(60)).await?;
//!     println!("{} pods, {} named web", pods.lister().len(), pods.lister().get("shop", "web").iter().count());
//!     Ok(())
//! }
//! ```
//!
//! What a handler may rely on:
//! - It hears every change exactly once, in the order in which the store saw it, and the store is never older than the event.
//! - A handler added late first hears of all that is in the store, as [`Event::Added`] with `initial` set.
//! - An object that was listed again unchanged causes no event. One that was deleted and created again between two lists
//!   causes one [`Event::Updated`] with two different uids.
//! - A slow handler delays nobody but itself.

mod builder;
mod changes;
mod event;
mod factory;
mod handle;
mod handler;
mod index;
mod informer;
mod lister;
mod manual;
mod metrics;
mod objects;
#[cfg(feature = "prometheus")]
mod prometheus;
mod reflector;
mod resync;
mod selector;
mod shared;
mod store;
mod sync;

pub use builder::{Builder, ByHand, FromServer, HandlerOptions};
pub use changes::Changes;
pub use event::Event;
pub use factory::{Factory, FactoryError};
pub use handle::HandlerHandle;
pub use index::{NamedIndexes, UpdateIndex};
pub use informer::Informer;
pub use lister::Lister;
pub use manual::ManualSource;
pub use metrics::{HandlerMetrics, InformerMetrics, MetricsProvider, RelistCause};
pub use objects::Objects;
#[cfg(feature = "prometheus")]
pub use prometheus::PrometheusMetrics;
pub use reflector::BackoffPolicy;
pub use selector::LabelSelector;
pub use store::Store;
pub use sync::{NotSynced, synced_before, wait_for_sync};
