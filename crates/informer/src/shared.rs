//! The store and its listeners, changed together.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kube_wire::Object;
use tokio::sync::{mpsc, watch};

use crate::{
    Event, HandlerHandle, Store, UpdateIndex,
    handler::{Delivery, Outbox, Runner, connect},
};

/// Applies changes to the store and tells the listeners, in one order for all of them.
pub(crate) struct Shared<T, X> {
    name: String,
    store: Arc<Store<T, X>>,
    /// Held while a change is applied and told, and while a listener is added: this is what makes "each event exactly once".
    listeners: Mutex<Vec<Outbox<T>>>,
    runners: mpsc::UnboundedSender<Runner<T>>,
    synced: watch::Sender<bool>,
}

impl<T: Object, X: Clone> Shared<T, X> {
    /// Also returns where the handlers to run come out.
    pub(crate) fn new(
        name: String,
        index: X,
        update: UpdateIndex<T, X>,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<Runner<T>>) {
        let (runners, to_run) = mpsc::unbounded_channel();
        let store = Arc::new(Store::new(index, update));
        let listeners = Mutex::default();
        (Arc::new(Self { name, store, listeners, runners, synced: watch::Sender::new(false) }), to_run)
    }

    pub(crate) fn store(&self) -> &Arc<Store<T, X>> {
        &self.store
    }

    /// Synced as soon as the first list is stored, whether handlers have heard of it or not.
    pub(crate) fn store_handle(&self) -> HandlerHandle {
        HandlerHandle::new(&self.name, self.synced.subscribe())
    }

    /// Adds a handler, which first hears of all that is stored.
    pub(crate) fn add_handler(&self, handle: impl FnMut(Event<T>) + Send + 'static) -> HandlerHandle {
        let (outbox, runner, handler) = connect(&self.name, handle);
        let mut listeners = self.locked();
        self.store.read(|objects, _| {
            for object in objects.iter() {
                send(&outbox, Delivery::Event(Event::Added { object: object.clone(), initial: true }));
            }
        });
        if self.store.is_populated() {
            send(&outbox, Delivery::Synced);
        }
        listeners.push(outbox);
        // When the informer has stopped, the runner is dropped here and the handle says so.
        let _ = self.runners.send(runner);
        handler
    }

    pub(crate) fn upsert(&self, object: T) {
        self.change(|store| store.upsert(Arc::new(object)));
    }

    pub(crate) fn delete(&self, last: T) {
        self.change(|store| store.delete(Arc::new(last)));
    }

    pub(crate) fn replace(&self, objects: Vec<Arc<T>>, resource_version: &str) {
        let mut listeners = self.locked();
        let first = !self.store.is_populated();
        for event in self.store.replace(objects, resource_version) {
            tell(&mut listeners, &event);
        }
        if first {
            for listener in listeners.iter() {
                send(listener, Delivery::Synced);
            }
            self.synced.send_replace(true);
        }
    }

    fn change(&self, change: impl FnOnce(&Store<T, X>) -> Option<Event<T>>) {
        let mut listeners = self.locked();
        if let Some(event) = change(&self.store) {
            tell(&mut listeners, &event);
        }
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Outbox<T>>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells all listeners, and forgets those whose handler is gone.
fn tell<T>(listeners: &mut Vec<Outbox<T>>, event: &Event<T>) {
    listeners.retain(|listener| listener.send(Delivery::Event(event.clone())).is_ok());
}

fn send<T>(listener: &Outbox<T>, delivery: Delivery<T>) {
    // A listener whose handler is gone is forgotten with the next event.
    let _ = listener.send(delivery);
}
