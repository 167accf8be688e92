//! Where notes come in.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use tokio::sync::mpsc;

use super::{EventType, EventWriter, Note, ObjectReference};
use crate::Client;

/// Notes that may wait for the writer.
const QUEUE: usize = 1000;

/// Takes notes about objects. Clones share one queue.
#[derive(Debug, Clone)]
pub struct EventRecorder {
    notes: mpsc::Sender<Note>,
    dropped: Arc<AtomicU64>,
}

impl EventRecorder {
    /// A recorder for `component` (the name that events show as their source), and the writer that someone has to run.
    ///
    /// The writer ends when the last clone of the recorder is gone and everything noted has been written.
    pub fn new(client: Client, component: &str) -> (Self, EventWriter) {
        let (notes, queue) = mpsc::channel(QUEUE);
        (Self { notes, dropped: Arc::default() }, EventWriter::new(client, component, queue))
    }

    /// Notes something about an object. Never waits; when the writer cannot keep up, the note is dropped.
    pub fn event(
        &self,
        about: &ObjectReference,
        event_type: EventType,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) {
        let (reason, message, at) = (reason.into(), message.into(), kube_ambient::now());
        if self.notes.try_send(Note { about: about.clone(), event_type, reason, message, at }).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many notes were dropped because the queue was full or the writer gone.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}
