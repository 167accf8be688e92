//! The [`EventRecorder`].

use tokio::sync::mpsc;

use super::{EventType, EventWriter, ObjectReference, RecordedEvent};
use crate::Client;

/// Capacity of the queue between recorder and writer, in events.
const QUEUE_CAPACITY: usize = 1000;

/// Recorder of events about objects, which an [`EventWriter`] writes. Clones share one queue.
#[derive(Debug, Clone)]
pub struct EventRecorder {
    queue: mpsc::Sender<RecordedEvent>,
}

impl EventRecorder {
    /// Creates a recorder and the writer of its events, which the caller must [run](EventWriter::run).
    ///
    /// `component` is the source and the reporting component of the events. The writer ends when the last clone of the
    /// recorder is dropped and the queue is empty.
    pub fn new(client: Client, component: &str) -> (Self, EventWriter) {
        let (queue, receiver) = mpsc::channel(QUEUE_CAPACITY);
        (Self { queue }, EventWriter::new(client, component, receiver))
    }

    /// Records an event about an object. Never blocks: the event is dropped if the queue is full or the writer has ended.
    pub fn event(
        &self,
        object: &ObjectReference,
        event_type: EventType,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) {
        let (reason, message, at) = (reason.into(), message.into(), kube_ambient::now());
        let event = RecordedEvent { object: object.clone(), event_type, reason, message, at };
        if let Err(error) = self.queue.try_send(event) {
            tracing::debug!(object = object.name, err = %error, "Event dropped");
        }
    }
}
