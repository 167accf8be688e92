//! The queue of a handler, and the runner that empties it.

use std::{ops::ControlFlow, sync::Arc};

use futures::future::BoxFuture;
use kube_wire::Object;
use tokio::{
    sync::{mpsc, watch},
    task::yield_now,
    time::Instant,
};

use crate::{
    Event, HandlerHandle, HandlerMetrics, HandlerOptions, changes::Changes, handle::Id, metrics::HandlerMeter,
};

/// Number of events that a handler gets before its task yields.
const EVENTS_PER_TURN: usize = 128;

/// Entry of a handler's queue.
pub(crate) enum Delivery<T> {
    Event(Event<T>),
    Changes(Changes<T>),
    /// End of the initial list.
    Synced,
    /// Time at which this entry was queued, to measure the lag of the handler.
    Sample(Instant),
}

/// Sending end of a handler's queue.
pub(crate) struct Listener<T> {
    id: Id,
    outbox: mpsc::UnboundedSender<Delivery<T>>,
    meter: Option<HandlerMeter>,
    /// Whether the handler gets only the writes of other clients.
    foreign_only: bool,
}

/// Function of a handler, which ends when it breaks.
pub(crate) type Handle<T> = Box<dyn FnMut(Event<T>) -> ControlFlow<()> + Send>;

/// A handler and the receiving end of its queue. The handler runs within the methods of this type.
pub(crate) struct Runner<T> {
    inbox: mpsc::UnboundedReceiver<Delivery<T>>,
    next: Option<Event<T>>,
    /// Changes to deliver after `next`, and the index of the first one that is not delivered.
    changes: Option<(Changes<T>, usize)>,
    handle: Handle<T>,
    /// Whether the handler has broken, and gets no further events.
    ended: bool,
    synced: watch::Sender<bool>,
    meter: Option<Arc<dyn HandlerMetrics>>,
}

/// Returns both ends of the queue of a new handler, and its handle.
pub(crate) fn channel<T>(
    resource: &str,
    options: HandlerOptions,
    meter: Option<HandlerMeter>,
    handle: Handle<T>,
) -> (Listener<T>, Runner<T>, HandlerHandle) {
    let HandlerOptions { name, foreign_only } = options;
    let (outbox, inbox) = mpsc::unbounded_channel();
    let (synced, is_synced) = watch::channel(false);
    let runner = Runner {
        inbox,
        next: None,
        changes: None,
        handle,
        ended: false,
        synced,
        meter: meter.as_ref().map(|meter| meter.sink.clone()),
    };
    let id = Id::next();
    let handle = HandlerHandle::new(resource, is_synced, Some(id));
    let handle = match name {
        Some(name) => handle.named(&name),
        None => handle,
    };
    (Listener { id, outbox, meter, foreign_only }, runner, handle)
}

impl<T> Listener<T> {
    pub(crate) fn id(&self) -> Id {
        self.id
    }

    pub(crate) fn is_foreign_only(&self) -> bool {
        self.foreign_only
    }

    /// Returns whether the handler gets no events of the writes of this handler: its own, or all own writes.
    pub(crate) fn excludes_writes_of(&self, writer: Id) -> bool {
        self.foreign_only || self.id == writer
    }

    /// Queues an event. Returns `false` if the handler has ended.
    pub(crate) fn queue(&mut self, event: &Event<T>) -> bool {
        self.record_queued(1);
        self.outbox.send(Delivery::Event(event.clone())).is_ok()
    }

    /// Queues changes. Returns `false` if the handler has ended.
    pub(crate) fn queue_all(&mut self, changes: &Changes<T>) -> bool {
        if changes.is_empty() {
            return !self.outbox.is_closed();
        }
        self.record_queued(changes.len());
        self.outbox.send(Delivery::Changes(changes.clone())).is_ok()
    }

    pub(crate) fn synced(&self) {
        // A listener whose handler has ended is removed with the next event.
        let _ = self.outbox.send(Delivery::Synced);
    }

    fn record_queued(&mut self, events: usize) {
        if let Some(at) = self.meter.as_mut().and_then(|meter| meter.queued(events)) {
            let _ = self.outbox.send(Delivery::Sample(at));
        }
    }
}

/// A [`Runner`] without the type of its objects.
pub(crate) trait Run: Send {
    /// Runs the handler until it breaks, or the informer is dropped.
    fn run(self: Box<Self>) -> BoxFuture<'static, ()>;

    /// Runs the handler until its queue is empty, and returns the number of events delivered.
    fn drain(&mut self) -> usize;
}

impl<T: Object> Run for Runner<T> {
    fn run(mut self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            while !self.ended
                && let Some(delivery) = self.inbox.recv().await
            {
                self.open(delivery);
                while self.deliver(EVENTS_PER_TURN) == EVENTS_PER_TURN {
                    yield_now().await;
                }
            }
        })
    }

    fn drain(&mut self) -> usize {
        self.deliver(usize::MAX)
    }
}

impl<T> Runner<T> {
    /// Delivers up to `max` queued events, and returns their number.
    fn deliver(&mut self, max: usize) -> usize {
        let mut events = 0;
        while events < max && !self.ended {
            let Some(event) = self.next_event() else { break };
            self.ended = (self.handle)(event).is_break();
            events += 1;
            if let Some(meter) = &self.meter {
                meter.delivered(1);
            }
        }
        events
    }

    fn next_event(&mut self) -> Option<Event<T>> {
        loop {
            if let Some(event) = self.next.take() {
                return Some(event);
            }
            if let Some((changes, at)) = &mut self.changes {
                *at += 1;
                match changes.get(*at - 1) {
                    Some(event) => return Some(event),
                    None => self.changes = None,
                }
            }
            let delivery = self.inbox.try_recv().ok()?;
            self.open(delivery);
        }
    }

    fn open(&mut self, delivery: Delivery<T>) {
        match delivery {
            Delivery::Event(event) => self.next = Some(event),
            Delivery::Changes(changes) => self.changes = Some((changes, 0)),
            Delivery::Synced => {
                self.synced.send_replace(true);
            }
            Delivery::Sample(queued_at) => {
                if let Some(meter) = &self.meter {
                    meter.lag(queued_at.elapsed());
                }
            }
        }
    }
}
