//! Handlers that record their events.

use std::sync::{Arc, Mutex};

use kube_informer::{HandlerHandle, HandlerOptions, Index, Informer};

use crate::thing::Thing;

#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    /// Returns the events since the last call.
    pub(crate) fn events(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("not poisoned"))
    }

    /// Returns the events since the last call, separated by commas.
    pub(crate) fn take(&self) -> String {
        self.events().join(", ")
    }
}

pub(crate) fn record<X: Index<Thing>>(informer: &Informer<Thing, X>) -> (Log, HandlerHandle) {
    record_with(informer, HandlerOptions::default())
}

pub(crate) fn record_with<X: Index<Thing>>(
    informer: &Informer<Thing, X>,
    options: HandlerOptions,
) -> (Log, HandlerHandle) {
    let log = Log::default();
    let lines = log.clone();
    let handle = informer.add_handler_with(options, move |event| {
        lines.0.lock().expect("not poisoned").push(format!("{event:?}"));
    });
    (log, handle)
}

pub(crate) fn thing(name: &str, version: u64) -> Thing {
    Thing::new(name, version, "x")
}
