//! The store and the listeners of its events.

mod own_writes;

use std::{
    collections::HashSet,
    convert::Infallible,
    future::pending,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kube_wire::{EventHead, Object, ObjectKey, Resource, ResourceVersion};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, MissedTickBehavior, interval_at},
};

use crate::{
    Event, Guard, GuardOutcome, HandlerHandle, HandlerOptions, HeldList, Index, Lister, Objects, Progress, RelistCause,
    changes::Changes,
    guard::{Missing, Reference},
    handle::Id,
    handler::{Listener, Runner, channel},
    held_events::HeldEvents,
    metrics::Meter,
    options::{Options, Transform},
    relist::ListRequests,
    resync::{ResyncCheck, ResyncSchedule},
    store::StoreWriter,
};

/// Applies changes to the store and queues their events for the listeners, in the same order for all.
pub(crate) struct Shared<T, X> {
    resource: Resource,
    name: String,
    lister: Lister<T, X>,
    transform: Option<Transform<T>>,
    guard: Option<Guard>,
    meter: Meter,
    /// Locked while a change is applied and queued, and while a listener is added, so that each listener gets each
    /// event exactly once. Reads do not take this lock.
    write_side: Mutex<WriteSide<T, X>>,
    runners: mpsc::UnboundedSender<Runner<T>>,
    synced: watch::Sender<bool>,
    held_list: watch::Sender<Option<HeldList>>,
    requests: ListRequests,
    progress: Progress,
}

/// The writer of the store, and the listeners of its changes.
struct WriteSide<T, X> {
    store: StoreWriter<T, X>,
    listeners: Vec<(Listener<T>, ResyncSchedule)>,
    check: ResyncCheck,
    held: HeldEvents<T>,
}

impl<T: Object, X: Index<T>> Shared<T, X> {
    /// Also returns the channel of handlers to run.
    pub(crate) fn new(resource: &Resource, options: Options<T, X>) -> (Arc<Self>, mpsc::UnboundedReceiver<Runner<T>>) {
        let Options { index, transform, resync, guard, metrics } = options;
        let (runners, to_run) = mpsc::unbounded_channel();
        let store = StoreWriter::new(index);
        let shared = Self {
            name: resource.to_string(),
            resource: *resource,
            lister: store.lister(),
            transform,
            guard,
            meter: Meter::new(metrics.as_deref(), resource),
            write_side: Mutex::new(WriteSide {
                store,
                listeners: Vec::new(),
                check: ResyncCheck::new(resync),
                held: HeldEvents::default(),
            }),
            runners,
            synced: watch::Sender::new(false),
            held_list: watch::Sender::new(None),
            requests: ListRequests::default(),
            progress: Progress::default(),
        };
        shared.meter.register_progress(&shared.progress);
        (Arc::new(shared), to_run)
    }

    pub(crate) fn resource(&self) -> &Resource {
        &self.resource
    }

    pub(crate) fn lister(&self) -> &Lister<T, X> {
        &self.lister
    }

    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
    }

    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Returns a handle that is synced as soon as the first list is stored, before handlers have processed it.
    pub(crate) fn store_handle(&self) -> HandlerHandle {
        HandlerHandle::new(&self.name, self.synced.subscribe(), None)
    }

    /// Returns the handles of all handlers.
    pub(crate) fn handles(&self) -> Vec<HandlerHandle> {
        self.locked().listeners.iter().map(|(listener, _)| listener.handle().clone()).collect()
    }

    /// Adds a handler, and queues all stored objects for it if the first list is stored.
    pub(crate) fn add_handler(
        &self,
        options: HandlerOptions,
        handle: impl FnMut(Event<T>) + Send + 'static,
    ) -> HandlerHandle {
        let HandlerOptions { name, resync, foreign_only } = options;
        let mut write_side = self.locked();
        let meter = self.meter.handler(name.as_deref().unwrap_or_default());
        let (mut listener, runner) = channel(&self.name, name.as_deref(), foreign_only, meter, handle);
        let handle = listener.handle().clone();
        let WriteSide { listeners, check, held, .. } = &mut *write_side;
        if self.lister.is_populated() {
            held.queue_all(&mut listener, &Changes::initial(self.lister.list()), Instant::now());
            listener.synced();
        }
        let requested = resync.unwrap_or(check.default());
        check.request(requested);
        listeners.push((listener, ResyncSchedule::new(requested, check, Instant::now())));
        for (_, schedule) in listeners {
            schedule.check_changed(check);
        }
        // If the informer has stopped, the runner is dropped here, and the handle never syncs.
        let _ = self.runners.send(runner);
        handle
    }

    /// Removes a handler; returns `false` if it is not a handler of this informer.
    pub(crate) fn remove_handler(&self, handle: &HandlerHandle) -> bool {
        let listeners = &mut self.locked().listeners;
        let at = listeners.iter().position(|(listener, _)| Some(listener.id()) == handle.id());
        at.map(|at| listeners.remove(at).0.remove()).is_some()
    }

    /// Transforms an object of a list, and returns the stored one instead if it is in the same state, so that a list of
    /// unchanged objects allocates one object at a time.
    pub(crate) fn intern(&self, object: T) -> Arc<T> {
        let object = self.transformed(object);
        self.lister.find_same(&object).unwrap_or_else(|| Arc::new(object))
    }

    pub(crate) fn upsert(&self, object: T) {
        let object = Arc::new(self.transformed(object));
        self.change(None, |store| store.upsert(object));
    }

    /// Returns whether an event shows an own write that is stored already, so that its object need not be decoded.
    pub(crate) fn confirm(&self, head: &EventHead) -> bool {
        let started_at = self.meter.start_timer();
        let is_own = self.locked().store.confirm(&head.key, &head.resource_version);
        if is_own {
            self.report(started_at);
        }
        is_own
    }

    pub(crate) fn delete(&self, last: T) {
        let last = Arc::new(self.transformed(last));
        self.change(None, |store| store.delete(last));
    }

    pub(crate) fn requests(&self) -> &ListRequests {
        &self.requests
    }

    /// Waits until the first list is stored.
    pub(crate) async fn populated(&self) {
        self.requests.wait_until(|| self.lister.is_populated()).await;
    }

    /// Waits until the store is at `version` or a later one.
    pub(crate) async fn reached(&self, version: &ResourceVersion) {
        self.requests.wait_until(|| self.lister.has_reached(version)).await;
    }

    /// Returns the stored object; `None` if there is none.
    pub(crate) fn stored(&self, key: &ObjectKey) -> Option<Arc<T>> {
        self.lister.get(&key.namespace, &key.name)
    }

    /// Removes an object whose last state is unknown.
    pub(crate) fn remove_unknown(&self, key: &ObjectKey, version: &ResourceVersion) {
        self.change(None, |store| store.remove_unknown(key, version));
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
        let (started_at, now) = (self.meter.start_timer(), Instant::now());
        let mut write_side = self.locked();
        let WriteSide { store, listeners, held, .. } = &mut *write_side;
        let first = !self.lister.is_populated();
        let restored = resource_version < self.lister.last_resource_version();
        let changes = store.replace(objects, resource_version, treatment)?;
        let unchanged = if first { None } else { self.unchanged(&changes) };
        listeners.retain_mut(|(listener, schedule)| {
            (listener.is_foreign_only() && (first || restored))
                || held.queue_all(listener, &changes, now)
                    && unchanged.as_ref().is_none_or(|it| !schedule.is_syncing() || held.queue_all(listener, it, now))
        });
        self.progress.listed(now);
        if first {
            for (listener, _) in listeners.iter() {
                listener.synced();
            }
            self.synced.send_replace(true);
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

    /// Records that the last list may lack objects which exist. Logs it when it is the first such list.
    pub(crate) fn hold(&self, list: HeldList) {
        let HeldList { missing, example, found } = &list;
        let is_first = self.progress.held(Instant::now());
        if is_first {
            tracing::warn!(
                resource = self.name, missing, %example, found,
                compare = format_args!("kubectl get {} -A | wc -l", self.resource.plural),
                "A list lacks objects that exist or cannot be read: their removal waits until a list has them or reads do \
                 not find them"
            );
        }
        self.meter.guarded(GuardOutcome::Held);
        self.held_list.send_replace(Some(list));
    }

    /// Records that the last list is believed. Returns whether one was held.
    pub(crate) fn end_hold(&self) -> bool {
        self.progress.believed();
        self.held_list.send_if_modified(|held| held.take().is_some())
    }

    /// Returns whether a list is held.
    pub(crate) fn is_held(&self) -> bool {
        self.held_list.borrow().is_some()
    }

    pub(crate) fn guard(&self) -> Option<Guard> {
        self.guard
    }

    /// Withholds those of the objects that the store still lacks. Returns whether there are any.
    pub(crate) fn withhold(&self, references: &[Reference]) -> bool {
        self.locked().store.withhold(references)
    }

    /// Returns the state of the held list; `None` if no list is held.
    pub(crate) fn held_list(&self) -> watch::Receiver<Option<HeldList>> {
        self.held_list.subscribe()
    }

    /// Applies a bookmark, and requests a relist if the server has lost an own write. Returns whether it has.
    pub(crate) fn bookmark(&self, version: &ResourceVersion) -> bool {
        let mut write_side = self.locked();
        write_side.held.expire(Instant::now());
        let lost_write = write_side.store.bookmark(version);
        drop(write_side);
        if lost_write {
            tracing::warn!(
                resource = self.name,
                %version,
                "The watch does not show a write that the server acknowledged, listing again"
            );
            self.requests.request_list(RelistCause::LostWrite, None);
        }
        self.report(None);
        lost_write
    }

    /// Records that a list is requested; see [`StoreWriter::list_requested`].
    pub(crate) fn list_requested(&self, most_recent: bool) {
        self.locked().store.list_requested(most_recent);
    }

    /// Queues all stored objects for the handlers that are due for a resync. Never returns.
    pub(crate) async fn resync(self: Arc<Self>) -> Infallible {
        let check = self.locked().check.start();
        let Some(every) = check else { return pending().await };
        let mut ticks = interval_at(Instant::now() + every, every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.resync_due(Instant::now());
        }
    }

    /// Returns the stored objects that a relist did not change; `None` if there are none.
    ///
    /// Upstream's handlers get an update for each of these (`sharedIndexInformer.OnUpdate`, which
    /// `sharedProcessor.distribute` passes to the handlers that are due for a resync), so that a relist also repairs
    /// what a controller missed.
    fn unchanged(&self, changes: &Changes<T>) -> Option<Changes<T>> {
        let changed: HashSet<_> = changes.iter().map(|event| Arc::as_ptr(event.object())).collect();
        let unchanged_objects = |objects: &Objects<T>| {
            objects.iter().filter(|it| !changed.contains(&Arc::as_ptr(it))).cloned().collect::<Vec<_>>()
        };
        let unchanged = self.lister.read(|objects, _| unchanged_objects(objects));
        (!unchanged.is_empty()).then(|| Changes::unchanged(unchanged))
    }

    fn resync_due(&self, now: Instant) {
        let mut write_side = self.locked();
        if !self.lister.is_populated() {
            return;
        }
        let mut stored = None;
        let WriteSide { listeners, check, held, .. } = &mut *write_side;
        listeners.retain_mut(|(listener, schedule)| {
            !schedule.take(now, check)
                || held.queue_all(listener, stored.get_or_insert_with(|| Changes::unchanged(self.lister.list())), now)
        });
    }

    /// Applies a change and queues its event for all handlers except `writer`, if it is an own write, and those of
    /// foreign writes.
    fn change(&self, writer: Option<Id>, change: impl FnOnce(&mut StoreWriter<T, X>) -> Option<Event<T>>) {
        let started_at = self.meter.start_timer();
        let mut write_side = self.locked();
        let WriteSide { store, listeners, held, .. } = &mut *write_side;
        if let Some(event) = change(store) {
            let now = Instant::now();
            // Listeners whose handler has ended are removed.
            listeners.retain_mut(|(listener, _)| {
                writer.is_some_and(|writer| listener.excludes_writes_of(writer))
                    || held.hold(&event, listener.id(), now)
                    || listener.queue(&event)
            });
        }
        drop(write_side);
        // An own write is no progress of the watch.
        if writer.is_none() {
            self.report(started_at);
        }
    }

    fn report(&self, started_at: Option<Instant>) {
        self.requests.notify_changed();
        self.progress.advanced(Instant::now());
        self.meter.processed(started_at);
        self.meter.stored(|| (self.lister.last_resource_version(), self.lister.len()));
    }

    fn transformed(&self, mut object: T) -> T {
        if let Some(transform) = &self.transform {
            transform(&mut object);
        }
        object
    }

    fn locked(&self) -> MutexGuard<'_, WriteSide<T, X>> {
        self.write_side.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
