//! A cache of one type.

use std::{fmt, future::ready, ops::ControlFlow, sync::Arc};

use educe::Educe;
use futures::{Stream, StreamExt as _};
use kube::runtime::{Controller, reflector::Store, watcher};
use kube_wire::Object as _;
use tokio_util::sync::CancellationToken;

use super::{
    CachedResource,
    cached::Cached,
    subscription::{self, Change, Subscription},
};
use crate::{Event, HandlerOptions, Informer, NamedIndexes, Progress};

/// The objects of one type, for any number of `kube::runtime::Controller`s: their [`Store`], streams of their changes, and
/// look-ups by index.
///
/// Clones share the objects.
#[derive(Educe)]
#[educe(Clone(bound(false)))]
pub struct Cache<K: CachedResource> {
    pub(super) informer: Informer<Cached<K>, NamedIndexes<Cached<K>>>,
    pub(super) store: Store<K>,
    /// Cancelled when the informer has ended.
    pub(super) ended: CancellationToken,
}

impl<K: CachedResource> Cache<K> {
    /// Returns the store of the objects, for `Controller::for_shared_stream` and for reconcilers.
    ///
    /// It is ready when the first list is complete. `metadata.managedFields` are left out.
    pub fn store(&self) -> Store<K> {
        self.store.clone()
    }

    /// Waits until the first list is complete. Returns `false` if the caches end before that.
    ///
    /// Any number of tasks may wait; `Store::wait_until_ready` of kube 5.0 wakes only one of those that wait for a store.
    pub async fn ready(&self) -> bool {
        let synced = self.informer.store_synced();
        self.ended.run_until_cancelled(synced.synced()).await.unwrap_or_else(|| synced.has_synced())
    }

    /// Returns a controller that reconciles the objects, in place of `Controller::new`.
    pub fn controller(&self) -> Controller<K> {
        Controller::for_shared_stream(self.applied_objects(), self.store())
    }

    /// Returns a stream of the objects that are stored, then of those that are added or changed: the trigger of the objects
    /// that a controller reconciles (kube: `WatchStreamExt::applied_objects`).
    ///
    /// A subscriber may begin at any time, and a slow one delays nothing: it gets each object that changed meanwhile once,
    /// in its newest state. The stream ends when the future of [`Caches::run`](super::Caches::run) does.
    pub fn applied_objects(&self) -> impl Stream<Item = Arc<K>> + Send + use<K> {
        self.subscribe("applied objects").filter_map(|change| {
            ready(match change {
                Change::Applied(object) => object.object(),
                Change::Deleted(_) => None,
            })
        })
    }

    /// Returns a stream of the objects that are stored, then of those that are added, changed or deleted: the trigger of
    /// objects that a controller owns or watches (kube: `WatchStreamExt::touched_objects`).
    ///
    /// It has the properties of [`applied_objects`](Self::applied_objects). A deleted object comes in its last state; before the
    /// first poll, more than 1,000 deletions are forgotten, because a controller that begins reconciles all owners.
    pub fn touched_objects(&self) -> impl Stream<Item = Arc<K>> + Send + use<K> {
        self.subscribe("touched objects").filter_map(|change| {
            let (Change::Applied(object) | Change::Deleted(object)) = change;
            ready(object.object())
        })
    }

    /// Returns a stream of the stored objects and their changes as events of a `watcher`, for the adapters of `WatchStreamExt` such
    /// as `predicate_filter`, then `Controller::for_stream`.
    ///
    /// It has the properties of [`applied_objects`](Self::applied_objects), consists of `Apply` and `Delete`, and has no errors.
    /// A list is a change of each object that differs. Objects are cloned.
    pub fn events(&self) -> impl Stream<Item = watcher::Result<watcher::Event<K>>> + Send + use<K> {
        self.subscribe("events").filter_map(|change| {
            ready(match change {
                Change::Applied(object) => object.read(|object| Ok(watcher::Event::Apply(object.clone()))),
                Change::Deleted(object) => object.read(|object| Ok(watcher::Event::Delete(object.clone()))),
            })
        })
    }

    /// Returns the objects with the value `value` in `index`, ordered by namespace and name. Empty if
    /// [`CacheBuilder::index`](super::CacheBuilder::index) has added no such index.
    pub fn by_index(&self, index: &str, value: &str) -> Vec<Arc<K>> {
        let found = self.informer.lister().by_index(index, value);
        found.iter().filter_map(|object| object.object()).collect()
    }

    /// Returns the time at which the cache last advanced, for health checks.
    pub fn progress(&self) -> Progress {
        self.informer.progress()
    }

    fn subscribe(&self, name: &str) -> Subscription<K> {
        let (publisher, subscription) = subscription::channel();
        let publish = move |event: Event<Cached<K>>| match event {
            Event::Added { object, .. } => publisher.publish(Change::Applied(object)),
            Event::Updated { old, new, .. } if Arc::ptr_eq(&old, &new) => ControlFlow::Continue(()),
            Event::Updated { old, new, .. } => {
                // The deletion of an object that another one of its name replaces has no event of its own.
                if old.uid() != new.uid() {
                    publisher.publish(Change::Deleted(old))?;
                }
                publisher.publish(Change::Applied(new))
            }
            Event::Deleted { object, .. } => publisher.publish(Change::Deleted(object)),
        };
        self.informer.shared.add_handler(HandlerOptions::named(name), Box::new(publish));
        subscription
    }
}

impl<K: CachedResource> fmt::Debug for Cache<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("informer", &self.informer).finish_non_exhaustive()
    }
}
