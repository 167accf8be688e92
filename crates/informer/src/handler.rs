//! One listener of an informer.

use std::{fmt, sync::Arc};

use tokio::sync::{mpsc, watch};

use crate::Event;

/// What waits in a handler's queue.
pub(crate) enum Delivery<T> {
    Event(Event<T>),
    /// All that was there at first has been delivered by now.
    Synced,
}

/// A handler and its queue; whoever holds it decides when the handler runs.
pub(crate) struct Runner<T> {
    inbox: mpsc::UnboundedReceiver<Delivery<T>>,
    handle: Box<dyn FnMut(Event<T>) + Send>,
    synced: watch::Sender<bool>,
}

/// The queue's other end.
pub(crate) type Outbox<T> = mpsc::UnboundedSender<Delivery<T>>;

/// A handler with an empty queue.
pub(crate) fn connect<T>(
    name: &str,
    handle: impl FnMut(Event<T>) + Send + 'static,
) -> (Outbox<T>, Runner<T>, HandlerHandle) {
    let (outbox, inbox) = mpsc::unbounded_channel();
    let (synced, is_synced) = watch::channel(false);
    let runner = Runner { inbox, handle: Box::new(handle), synced };
    (outbox, runner, HandlerHandle::new(name, is_synced))
}

impl<T> Runner<T> {
    /// Delivers for as long as the informer lives.
    pub(crate) async fn run(mut self) {
        while let Some(delivery) = self.inbox.recv().await {
            self.deliver(delivery);
        }
    }

    /// Delivers what is waiting, and says how many events that were.
    pub(crate) fn drain(&mut self) -> usize {
        let mut events = 0;
        while let Ok(delivery) = self.inbox.try_recv() {
            events += usize::from(matches!(delivery, Delivery::Event(_)));
            self.deliver(delivery);
        }
        events
    }

    fn deliver(&mut self, delivery: Delivery<T>) {
        match delivery {
            Delivery::Event(event) => (self.handle)(event),
            Delivery::Synced => drop(self.synced.send_replace(true)),
        }
    }
}

/// Tells whether a handler has heard of everything that was there at first.
#[derive(Clone)]
pub struct HandlerHandle {
    name: Arc<str>,
    synced: watch::Receiver<bool>,
}

impl HandlerHandle {
    pub(crate) fn new(name: &str, synced: watch::Receiver<bool>) -> Self {
        Self { name: name.into(), synced }
    }

    /// The same handle, saying whose it is when it is reported missing: `pods (endpointslice-controller)`.
    #[must_use]
    pub fn named(self, whose: &str) -> Self {
        Self { name: format!("{} ({whose})", self.name).into(), ..self }
    }

    /// What is listened to.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the handler has returned from the last event of the initial list.
    pub fn has_synced(&self) -> bool {
        *self.synced.borrow()
    }

    /// Waits until it has; `false` if the informer stopped before.
    pub async fn synced(&self) -> bool {
        self.synced.clone().wait_for(|synced| *synced).await.is_ok()
    }
}

impl fmt::Debug for HandlerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerHandle").field("name", &self.name).field("synced", &self.has_synced()).finish()
    }
}
