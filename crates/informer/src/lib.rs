//! Kubernetes informers: list-watch into an indexed store, with listers and ordered event handlers.
//!
//! The semantics are those of client-go's shared informers (Kubernetes 1.36), except for the
//! [deliberate differences](#deliberate-differences). What it is for:
//!
//! - **A local copy of a resource**: an [`Informer`] keeps it current through lost connections, expired resource
//!   versions and API server outages. Controllers read it through a [`Lister`] instead of calling the API server.
//! - **Ordered events**: a handler gets each change of the store once and in order, as an [`Event`]. Controllers turn
//!   it into keys of a work queue.
//! - **Compact objects**: JSON or protobuf is decoded directly into any type that implements [`kube_wire::Decode`], so
//!   that the store holds only the fields that a program reads.
//! - **Indexes**: [`NamedIndexes`] are client-go's `Indexers`; [`Builder::index`] accepts any other [`Index`]. They are
//!   always consistent with the objects.
//! - **Own writes**: with [`WriteThrough`], the store contains the writes of its process as soon as they are
//!   acknowledged, and their events are not delivered to the handler of the controller that wrote.
//! - **Any client**: the server is a [`ListWatch`], which the clients of `kube-controller-client` and of `kube`
//!   [implement](#with-kube).
//!
//! ```text
//!              list, watch               changes
//! API server --------------> reflector ----------> store and index <--reads-- Lister
//!     ^                                                ^     |
//!     |                                   WriteThrough |     | events
//!     |                                   (responses)  |     v
//!     +------------ writes of the program -------------+   queue of each handler ---> handler
//! ```
//!
//! # When not to use it
//!
//! - Occasional reads: an informer lists the whole resource and holds it in memory. Call the API server.
//! - Handlers that need back-pressure: their queues are unbounded. Handlers should only add keys to a work queue.
//! - Own writes with a selector: [`WriteThrough`] requires an informer without label or field selectors.
//! - Controllers on kube-rs' `Controller`: it brings its own reflector and store.
//!
//! # Requirements and failures
//!
//! - A tokio runtime, a client, and one feature of `k8s-openapi` in the program, such as `v1_36`: the crates select none,
//!   and `k8s-openapi` does not compile without one.
//! - A type for the objects. It implements [`kube_wire::Decode`] with the fields that the program reads, or is a type
//!   of `k8s-openapi`, with the feature `k8s-openapi` of `kube-wire`.
//! - RBAC permission to `list` and `watch` the resource, and with a [`Guard`] to `get` it.
//! - The first request is a streaming list (`sendInitialEvents`). If the server does not support it, the informer
//!   requests a list with `limit=500`, page by page.
//! - Failed requests are retried without limit. Failures of the server (no response, a status of 500 or above) are
//!   retried within 2 s, one request at a time for all informers of a client of `kube-controller-client`, and at once when
//!   another request succeeds; 429 after its `Retry-After`; an expired version at once. Other failures have the back-off of
//!   [`BackoffPolicy`]: 800 ms doubling to 30 s, times a random factor from 1 to 2. While watches fail and lists work, a
//!   list every 10 s keeps the store current. Meanwhile listers return the last known state. [`Informer::progress`] shows
//!   for how long the store has not advanced.
//! - The first failure of an informer is logged as a warning, and then one a minute with the number of failures.
//! - A streaming list that stalls without its bookmark is given up 60 s after its last initial event, and lists are not
//!   streamed for an hour.
//! - An object that cannot be decoded is logged and counted, and its last decodable state stays in the store. With
//!   [`Builder::on_undecodable`], it is removed, or ends the informer, as [`OnUndecodable`] says.
//! - A panic of a handler ends [`Informer::run`] with that panic.
//!
//! # Examples
//!
//! An informer of one namespace with a handler. `Pod` is any type that implements [`kube_wire::Decode`]; the front page
//! of [`kube_wire`] has an example of one. The error of [`wait_for_sync`] names the handlers that have not synced after
//! 60 s:
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
//!         Event::Added { object, .. } => println!("added: {}", object.key()),
//!         Event::Updated { new, .. } => println!("updated: {}", new.key()),
//!         Event::Deleted { object, .. } => println!("deleted: {}", object.key()),
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
//! In tests, a [`ManualSource`] replaces the API server; it needs no task and no clock:
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
//! let (pods, source) = ManualSource::with_index(by_node);
//! let (sender, events) = std::sync::mpsc::channel();
//! let options = HandlerOptions::named("example");
//! let handler = pods.add_handler_with(options, move |event| drop(sender.send(format!("{event:?}"))));
//!
//! source.replace([Pod { name: "web", node: "a", version: 1 }, Pod { name: "db", node: "a", version: 2 }], "2");
//! source.apply(Pod { name: "web", node: "b", version: 3 });
//! source.deliver();
//! assert!(handler.has_synced());
//! assert_eq!(
//!     events.try_iter().collect::<Vec<_>>(),
//!     ["Added(initial) shop/db@2", "Added(initial) shop/web@1", "Updated shop/web@3"]
//! );
//! assert_eq!(pods.lister().by_index("node", "a").len(), 1);
//! ```
//!
//! # With kube
//!
//! A program with a `kube::Client` passes it to [`Informer::builder`], and uses `kube::Api` beside the informer. Lists and
//! watches go through its connections, credentials and layers. With the feature `kube` and without the default features,
//! the crate brings no HTTP or TLS stack besides that of `kube`:
//!
//! ```toml
//! kube-informer = { version = "0.1", default-features = false, features = ["kube"] }
//! kube-wire = { version = "0.1", features = ["k8s-openapi"] }
//! ```
//!
#![cfg_attr(feature = "kube", doc = "```no_run")]
#![cfg_attr(not(feature = "kube"), doc = "```ignore")]
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::{Api, api::PostParams};
//! use kube_informer::{Informer, wait_for_sync};
//! use std::time::Duration;
//! use tokio::task::JoinSet;
//! use tokio_util::sync::CancellationToken;
//!
//! async fn run(client: kube::Client, stop: CancellationToken) -> Result<(), Box<dyn std::error::Error>> {
//!     let config_maps = Informer::<ConfigMap>::builder(client.clone()).namespace("shop").build();
//!     let handler = config_maps.add_handler(|event| println!("{event:?}"));
//!     let mut tasks = JoinSet::new();
//!     tasks.spawn(config_maps.run(stop));
//!     wait_for_sync([&handler], Duration::from_secs(60)).await?;
//!
//!     // A write with `kube::Api`. Its result is in the store at once, and the handler gets no event of it.
//!     let writes = config_maps.write_through(&handler);
//!     let api = Api::namespaced(client, "shop");
//!     if let Some(stored) = config_maps.lister().get("shop", "prices") {
//!         let mut changed = ConfigMap::clone(&stored);
//!         changed.data.get_or_insert_default().insert("currency".into(), "EUR".into());
//!         let write = writes.begin("shop", "prices");
//!         match api.replace("prices", &PostParams::default(), &changed).await {
//!             Ok(written) => write.written(written),
//!             Err(kube::Error::Api(status)) if status.code == 409 => write.conflict(&stored),
//!             Err(error) => write.failed(&error),
//!         }
//!     }
//!     Ok(())
//! }
//! ```
//!
//! Each watch and each other request in flight takes a connection of `kube`, whose default client uses HTTP/1.1; the
//! client of `kube-controller-client` shares one HTTP/2 connection among all watches, and has client-go's rate limit. It also
//! notices a dead connection within 15 s, by pings. `kube` sends none: the informer reopens a watch without data after its
//! timeout of 5 to 10 min, or after `kube::Config::read_timeout`. With one of 90 s, quiet watches stay open, since API servers
//! send a bookmark a minute. Each informer over a `kube::Client` retries on its own.
//! `Config::from_kube_client` of that crate sends its requests through a `kube::Client`, for code that needs both.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `client` (default) | informers over `kube_controller_client::Client` |
//! | `kube` | informers over `kube::Client` |
//! | `prometheus` | `PrometheusMetrics` |
//!
//! # Guarantees for handlers
//!
//! - Every change is delivered exactly once, in the order of the store, and the store is never older than the event.
//!   The only exception: events of [own writes](WriteThrough) are not delivered to the handler of the writer.
//! - A handler that is added to a synced informer first gets every stored object, as [`Event::Added`] with `initial`
//!   set.
//! - A relist also delivers the unchanged objects, after the changes, as [`Event::Updated`] from each object to itself.
//!   [`Event::is_change`] is `false` for them.
//! - An object that was deleted and created again between two lists causes one [`Event::Updated`] with two different
//!   uids.
//! - A slow handler delays no other handler. Its queue is unbounded; the number of its queued events and their waiting
//!   time are [metrics](HandlerMetrics). Events that are queued when the informer stops are not delivered.
//!
//! # Guard
//!
//! With [`Builder::guard`], a list that lacks many objects removes them only after the server has confirmed by reads of
//! some of them that they do not exist: the answer of a server may be wrong although its status is 200. Meanwhile the
//! missing objects remain, and everything else goes on. [`Informer::check_references`] does the same for the first list, if
//! the program knows objects that it should have. Events of a watch are not checked. Without a relist, the guard costs
//! nothing. See [`Guard`]; client-go has no counterpart.
//!
//! # Own writes
//!
//! A cache that is filled only by a watch is older than the writes of its own program, so that a sync right after a
//! write decides on the state before it. [`WriteThrough`] puts the responses to writes into the store: it is then never
//! older than an acknowledged write, and the writer's handler gets the events that other clients cause and no others.
//! client-go's shared informers and controller-runtime's cache have no counterpart. client-go's `MutationCache` lays
//! written objects over a store for reads only; events are not affected.
//!
//! # From client-go
//!
//! | client-go | here |
//! |---|---|
//! | `SharedIndexInformer` | [`Informer`], built with [`Informer::builder`] |
//! | `SharedInformerFactory` | clones of an [`Informer`] share its store and handlers; [`wait_for_sync`] |
//! | `AddEventHandler` | [`Informer::add_handler`], [`Informer::add_handler_with`] |
//! | `HasSynced` of the informer, of a registration | [`Informer::store_synced`], the [`HandlerHandle`] |
//! | `OnAdd`, `OnUpdate`, `OnDelete` | one function with an [`Event`] as its argument |
//! | `DeletedFinalStateUnknown` | `tombstone` of [`Event::Deleted`] |
//! | `Indexers`, `ByIndex` | [`NamedIndexes`], [`Lister::by_index`]; or a custom index with [`Builder::index`] |
//! | the back-off of a `Reflector` | [`BackoffPolicy`] |
//! | `InformerMetricsProvider` | [`InformerMetricsProvider`]; `PrometheusMetrics` with the feature `prometheus` |
//! | `FakeControllerSource` | [`ManualSource`] |
//! | `ListerWatcher` | [`ListWatch`] |
//!
//! # Deliberate differences
//!
//! - There is no queue between reflector and store: an event is stored as soon as it is decoded.
//! - An object that cannot be decoded does not end the list or watch, unless [`OnUndecodable::Fail`] is chosen. All other
//!   objects are processed.
//! - Before it resumes an interrupted watch (one that ended more than 5 s before its timeout), the informer requests
//!   the server's current resource version. If that is lower than the version of the store, etcd was restored from a
//!   backup, and the informer relists.
//! - Failures of the server are retried within 2 s and not with a growing back-off. A `Retry-After` of a 429 is obeyed, up
//!   to 30 s.
//! - Lists keep the store current while watches fail.
//! - All handlers resync together, once per period of the informer; client-go's handlers have periods of their own, which they
//!   may skip.
//! - Handlers are not removed. A lister has no selectors: a program reads through an index. There are no transforms: a type
//!   decodes only the fields that it keeps.
//! - Resyncs continue during a relist; upstream's pause.
//! - A listed object in the state that is stored already is dropped in favour of the stored one, so that a relist of
//!   unchanged objects allocates one object at a time.
//! - All options, indexes included, are set on the builder and fixed after `build`.
//! - Adding a handler to a stopped informer is not an error: [`HandlerHandle::synced`] returns `false`.
//!
//! `UPSTREAM_TESTS.md` in the crate's folder lists the counterparts of client-go's tests. Ids such as `IN-44` name
//! rules of the [contract](https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/contract.md).

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
mod list_log;
mod list_watch;
mod lister;
mod manual;
mod metrics;
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
mod sampling;
mod shared;
mod state;
mod store;
mod sync;
mod undecodable;
mod write_error;
mod write_through;

/// Its `Bytes` are in the API of [`ListWatchResponse`].
pub use bytes;

pub use builder::Builder;
pub use event::{Event, States};
pub use guard::{Guard, HeldList, WITHHELD_INTERVAL};
pub use handle::HandlerHandle;
pub use index::NamedIndexes;
pub use informer::Informer;
pub use kube_wire::{Index, Undecodable};
pub use list_watch::{ListWatch, ListWatchError, ListWatchResponse};
pub use lister::Lister;
pub use manual::ManualSource;
pub use metrics::{GuardOutcome, HandlerMetrics, InformerMetrics, InformerMetricsProvider, RelistCause};
pub use objects::Objects;
pub use options::HandlerOptions;
pub use progress::{CacheState, Progress};
#[cfg(feature = "prometheus")]
pub use prometheus::PrometheusMetrics;
pub use reflector::BackoffPolicy;
pub use restore::RestoreSignal;
pub use sync::{NeverSynced, NotSynced, synced_before, wait_for_sync};
pub use undecodable::{OnUndecodable, UndecodableObject};
pub use write_error::WriteError;
pub use write_through::{OwnWrite, WriteThrough};
