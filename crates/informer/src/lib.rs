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
//! Several parts of a process share informers through a [`Factory`]. Tests feed an informer by hand, without a server, a task
//! or a clock:
//!
//! ```
//! use kube_informer::{HandlerOptions, ManualSource, NamedIndexes};
//! # use kube_wire::{Object, ResourceVersion, Uid};
//! # struct Pod { name: &'static str, node: &'static str, version: u64 }
//! # impl Object for Pod {
//! #     fn namespace(&self) -> &str { "shop" }
//! #     fn name(&self) -> &str { self.name }
//! #     fn uid(&self) -> Uid { self.name.into() }
//! #     fn resource_version(&self) -> ResourceVersion { self.version.into() }
//! # }
//!
//! let by_node = NamedIndexes::new().with("node", |pod: &Pod| vec![pod.node.to_owned()]);
//! let (pods, source) = ManualSource::with_index(by_node, NamedIndexes::update);
//! let (told, heard) = std::sync::mpsc::channel();
//! let handler = pods.add_handler_with(HandlerOptions::named("example"), move |event| drop(told.send(format!("{event:?}"))));
//!
//! source.replace([Pod { name: "web", node: "a", version: 1 }, Pod { name: "db", node: "a", version: 2 }], "2");
//! source.apply(Pod { name: "web", node: "b", version: 3 });
//! source.deliver();
//! assert!(handler.has_synced());
//! assert_eq!(
//!     heard.try_iter().collect::<Vec<_>>(),
//!     ["Added(initial) shop/db@2", "Added(initial) shop/web@1", "Updated shop/web@3"]
//! );
//! assert_eq!(pods.lister().by_index("node", "a").len(), 1);
//! ```
//!
//! What a handler may rely on:
//! - It hears every change exactly once, in the order in which the store saw it, and the store is never older than the event.
//! - A handler added late first hears of all that is in the store, as [`Event::Added`] with `initial` set.
//! - An object that a relist brings unchanged causes an [`Event::Updated`] from the object to itself, as in client-go, for
//!   handlers that the last resync included and, before the first resync, for all. These follow the changes of the relist.
//!   One that was deleted and created again between two lists causes one [`Event::Updated`] with two different uids.
//! - A slow handler delays nobody but itself. What it has not heard of waits in its queue, which has no bounds; how many events
//!   these are, and for how long they wait, are [metrics](HandlerMetrics).
//!
//! # Own writes
//!
//! A cache that is filled by a watch alone is behind the writes of its program: a sync that follows one decides on the state
//! before it. [`WriteThrough`] puts the answers to writes into the store. The store then never shows less than what was
//! acknowledged, the events of own writes change nothing, and the writer's handler gets the events that others caused, and no
//! others. Neither client-go nor controller-runtime has this.
//!
//! # From client-go
//!
//! | client-go | here |
//! |---|---|
//! | `SharedIndexInformer` | [`Informer`], built with [`Informer::builder`] |
//! | `SharedInformerFactory`: `InformerFor`, `Start`, `WaitForCacheSync` | [`Factory`]: [`informer_with`](Factory::informer_with), [`run`](Factory::run), [`wait_for_sync`](Factory::wait_for_sync) |
//! | `AddEventHandler`, `AddEventHandlerWithResyncPeriod` | [`Informer::add_handler`], [`Informer::add_handler_with`] |
//! | `RemoveEventHandler` | [`Informer::remove_handler`] |
//! | `HasSynced` of the informer, of a registration | [`Informer::store_synced`], the [`HandlerHandle`] |
//! | `OnAdd`, `OnUpdate`, `OnDelete` | one function that gets an [`Event`] |
//! | `DeletedFinalStateUnknown` | `tombstone` of [`Event::Deleted`] |
//! | `SetTransform` | [`Builder::transform`] |
//! | `Indexers`, `ByIndex` | [`NamedIndexes`], [`Lister::by_index`]; or any type of one's own, [`Builder::index`] |
//! | `Lister` with a `labels.Selector` | [`Lister::select`] with a [`LabelSelector`] |
//! | the backoff of a `Reflector` | [`BackoffPolicy`] |
//! | `InformerMetricsProvider` | [`MetricsProvider`]; `PrometheusMetrics` with the feature `prometheus` |
//! | `FakeControllerSource` | [`ManualSource`] |
//!
//! # What differs on purpose
//!
//! - There is no queue between reflector and store: an event is stored as soon as it is decoded.
//! - A handler is resynced for the first time within one period, and no period is skipped; client-go's first resync may come
//!   after two periods.
//! - An object that is the same in a list stays the object that it was, so a list of what is known needs no memory for objects.
//! - Resyncs go on while the informer lists again; upstream's pause.
//! - What an informer is like is said before it is built, its indexes too; nothing can be set too late.
//! - A handler that is added when the informer has stopped is no error; its handle says that it does not sync.
//!
//! `UPSTREAM_TESTS.md` says which test of ours stands for which of upstream's.

mod builder;
mod catch_up;
mod changes;
mod event;
mod factory;
mod handle;
mod handler;
mod held_events;
mod index;
mod informer;
mod lister;
mod manual;
mod metrics;
mod monotonic;
mod objects;
mod own_writes;
mod progress;
#[cfg(feature = "prometheus")]
mod prometheus;
mod reflector;
mod relist;
mod restore;
mod resync;
mod selector;
mod shared;
mod store;
mod sync;
mod write_through;

pub use builder::{Builder, ByHand, FromServer, HandlerOptions};
pub use changes::Changes;
pub use event::{Event, States};
pub use factory::{Factory, FactoryError};
pub use handle::HandlerHandle;
pub use index::{NamedIndexes, UpdateIndex};
pub use informer::Informer;
pub use lister::Lister;
pub use manual::ManualSource;
pub use metrics::{HandlerMetrics, InformerMetrics, MetricsProvider, RelistCause};
pub use objects::Objects;
pub use progress::{CacheState, Progress};
#[cfg(feature = "prometheus")]
pub use prometheus::PrometheusMetrics;
pub use reflector::BackoffPolicy;
pub use restore::RestoreSignal;
pub use selector::LabelSelector;
pub use store::Store;
pub use sync::{NeverSynced, NotSynced, synced_before, wait_for_sync};
pub use write_through::{OwnWrite, WriteThrough};
