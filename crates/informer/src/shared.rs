//! The store and the listeners of its events.

mod own_writes;
mod resync;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kube_wire::{EventHead, Object, ObjectKey, Resource, ResourceVersion};
use tokio::{sync::mpsc, time::Instant};

pub(crate) use self::own_writes::WriteSink;
use crate::{
    Event, HandlerHandle, HandlerOptions, Index, Lister, RelistCause,
    changes::Changes,
    deferred_events::DeferredEvents,
    guard::{Missing, Reference},
    handle::Id,
    handler::{Handle, Listener, Run, channel},
    mirror::Mirror,
    options::Options,
    store::StoreWriter,
    untyped::Untyped,
};

/// Applies changes to the store and queues their events for the listeners, in the same order for all.
pub(crate) struct Shared<T, X> {
    pub(crate) untyped: Arc<Untyped>,
    lister: Lister<T, X>,
    /// Locked while a change is applied and queued, and while a listener is added, so that each listener gets each
    /// event exactly once. Reads do not take this lock.
    write_side: Mutex<WriteSide<T, X>>,
    runners: mpsc::UnboundedSender<Box<dyn Run>>,
}

/// The writer of the store, and what follows its changes.
struct WriteSide<T, X> {
    store: StoreWriter<T, X>,
    mirror: Option<Box<dyn Mirror<T>>>,
    listeners: Vec<Listener<T>>,
    deferred: DeferredEvents<T>,
}

impl<T: Object, X: Index<T>> Shared<T, X> {
    /// Also returns the channel of handlers to run.
    pub(crate) fn new(
        resource: &Resource,
        options: Options<X>,
        mirror: Option<Box<dyn Mirror<T>>>,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<Box<dyn Run>>) {
        let Options { index, is_selecting, resync: _, guard, metrics } = options;
        let (runners, to_run) = mpsc::unbounded_channel();
        let store = StoreWriter::new(index, is_selecting);
        let shared = Self {
            untyped: Arc::new(Untyped::new(resource, guard, metrics.as_deref())),
            lister: store.lister(),
            write_side: Mutex::new(WriteSide {
                store,
                mirror,
                listeners: Vec::new(),
                deferred: DeferredEvents::default(),
            }),
            runners,
        };
        (Arc::new(shared), to_run)
    }

    pub(crate) fn lister(&self) -> &Lister<T, X> {
        &self.lister
    }

    /// Adds a handler, and queues all stored objects for it if the first list is stored. It ends when it breaks.
    pub(crate) fn add_handler(&self, options: HandlerOptions, handle: Handle<T>) -> HandlerHandle {
        let mut write_side = self.locked();
        let meter = self.untyped.meter.handler(options.name.as_deref().unwrap_or_default());
        let (mut listener, runner, handle) = channel(&self.untyped.name, options, meter, handle);
        let WriteSide { listeners, deferred, .. } = &mut *write_side;
        if self.lister.is_populated() {
            deferred.queue_all(&mut listener, &Changes::initial(self.lister.list()), Instant::now());
            listener.synced();
        }
        listeners.push(listener);
        // If the informer has stopped, the runner is dropped here, and the handle never syncs.
        let _ = self.runners.send(Box::new(runner));
        handle
    }

    /// Returns an object of a list, or the stored one if it is in the same state, so that a list of unchanged objects
    /// allocates one object at a time.
    pub(crate) fn intern(&self, object: T) -> Arc<T> {
        self.lister.find_same(&object).unwrap_or_else(|| Arc::new(object))
    }

    pub(crate) fn upsert(&self, object: T) {
        self.watched(|store| store.upsert(Arc::new(object)));
    }

    /// Returns whether an event shows an own write that is stored already, so that its object need not be decoded.
    pub(crate) fn confirm(&self, head: &EventHead) -> bool {
        let started_at = self.untyped.meter.start_timer();
        let is_own = self.locked().store.confirm(&head.key, &head.resource_version);
        if is_own {
            self.report(started_at);
        }
        is_own
    }

    pub(crate) fn delete(&self, last: T) {
        self.watched(|store| store.delete(Arc::new(last)));
    }

    pub(crate) fn stored(&self, key: &ObjectKey) -> Option<Arc<T>> {
        self.lister.get(&key.namespace, &key.name)
    }

    /// Removes an object whose last state is unknown.
    pub(crate) fn remove_unknown(&self, key: &ObjectKey, version: &ResourceVersion) {
        self.watched(|store| store.remove_unknown(key, version));
    }

    /// Replaces the contents of the store by a list. `objects` are those that [`intern`](Self::intern) returned.
    ///
    /// # Errors
    ///
    /// The objects that the list lacks, if there are more than `treatment` allows. The store is unchanged.
    pub(crate) fn replace(
        &self,
        objects: Vec<Arc<T>>,
        resource_version: ResourceVersion,
        treatment: Missing,
    ) -> Result<(), Vec<Reference>> {
        let (started_at, now) = (self.untyped.meter.start_timer(), Instant::now());
        let mut write_side = self.locked();
        let WriteSide { store, mirror, listeners, deferred } = &mut *write_side;
        let first = !self.lister.is_populated();
        let restored = resource_version < self.lister.last_resource_version();
        let changes = store.replace(objects, resource_version, treatment)?;
        if let Some(mirror) = mirror {
            changes.iter().for_each(|event| mirror.apply(&event));
            if first {
                mirror.listed();
            }
        }
        let unchanged = if first { None } else { self.unchanged(&changes) };
        listeners.retain_mut(|listener| {
            (listener.is_foreign_only() && (first || restored))
                || deferred.queue_all(listener, &changes, now)
                    && unchanged.as_ref().is_none_or(|it| deferred.queue_all(listener, it, now))
        });
        self.untyped.progress.listed(now);
        if first {
            for listener in listeners.iter() {
                listener.synced();
            }
            self.untyped.synced.send_replace(true);
        }
        drop(write_side);
        self.report(started_at);
        Ok(())
    }

    /// Replaces the contents of the store by a list, whichever objects it lacks.
    pub(crate) fn replace_by(&self, objects: Vec<Arc<T>>, resource_version: ResourceVersion) {
        // Only a limit on missing objects rejects a list.
        let _ = self.replace(objects, resource_version, Missing::Remove);
    }

    /// Withholds those of the objects that the store still lacks. Returns whether there are any.
    pub(crate) fn withhold(&self, references: &[Reference]) -> bool {
        self.locked().store.withhold(references)
    }

    /// Applies a bookmark, and requests a relist if the server has lost an own write. Returns whether it has.
    pub(crate) fn bookmark(&self, version: &ResourceVersion) -> bool {
        let mut write_side = self.locked();
        write_side.deferred.expire(Instant::now());
        let lost_write = write_side.store.bookmark(version);
        drop(write_side);
        if lost_write {
            tracing::warn!(
                resource = self.untyped.name,
                %version,
                "The watch does not show a write that the server acknowledged, listing again"
            );
            self.untyped.requests.request_list(RelistCause::LostWrite, None);
        }
        self.report(None);
        lost_write
    }

    /// Records that the watch is at this version.
    pub(crate) fn advance(&self, version: &ResourceVersion) {
        self.locked().store.advance(version);
        self.report(None);
    }

    /// Drops the mirror if the first list is not stored, because there will be none.
    #[cfg(feature = "runtime")]
    pub(crate) fn end_mirror(&self) {
        let mut write_side = self.locked();
        if !self.lister.is_populated() {
            write_side.mirror = None;
        }
    }

    pub(crate) fn list_requested(&self, most_recent: bool) {
        self.locked().store.list_requested(most_recent);
    }

    /// Applies an event of the watch and queues it for all handlers.
    fn watched(&self, change: impl FnOnce(&mut StoreWriter<T, X>) -> Option<Event<T>>) {
        let started_at = self.untyped.meter.start_timer();
        self.change(None, change);
        self.report(started_at);
    }

    /// Applies a change and queues its event for all handlers except, if there is a `writer`, that and those of foreign
    /// writes. An own write is no progress of the watch, whether it has a writer or not.
    fn change(&self, writer: Option<Id>, change: impl FnOnce(&mut StoreWriter<T, X>) -> Option<Event<T>>) {
        let mut write_side = self.locked();
        let WriteSide { store, mirror, listeners, deferred } = &mut *write_side;
        if let Some(event) = change(store) {
            if let Some(mirror) = mirror {
                mirror.apply(&event);
            }
            let now = Instant::now();
            // Listeners whose handler has ended are removed.
            listeners.retain_mut(|listener| {
                writer.is_some_and(|writer| listener.excludes_writes_of(writer))
                    || deferred.defer(&event, listener.id(), now)
                    || listener.queue(&event)
            });
        }
    }

    fn report(&self, started_at: Option<Instant>) {
        self.untyped.requests.notify_changed();
        self.untyped.progress.advanced(Instant::now());
        self.untyped.meter.record_time(started_at, |metrics, took| metrics.processed(took));
        self.untyped.meter.record(|metrics| metrics.stored(&self.lister.last_resource_version(), self.lister.len()));
    }

    fn locked(&self) -> MutexGuard<'_, WriteSide<T, X>> {
        self.write_side.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
