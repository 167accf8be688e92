//! Recorder of core/v1 Events about objects, as shown by `kubectl describe`.
//!
//! [`EventRecorder::event`] never blocks and never fails: it adds the event to a queue of 1,000 and drops it if the
//! queue is full. The [`EventWriter`] takes events from the queue, correlates them as client-go does
//! (`tools/record/events_cache.go`) and writes them:
//!
//! - equal events increase the count of one Event;
//! - from the tenth different message on, events with the same object, type and reason are combined into one Event; the
//!   messages are counted anew after 10 min without such an event;
//! - per object and type, 25 events at once and then one per 5 min are written; the others are dropped.
//!
//! ```no_run
//! use kube_controller_client::{Client, events::{EventRecorder, EventType, ObjectReference}};
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn example(client: Client) {
//! let (recorder, writer) = EventRecorder::new(client, "my-controller");
//! let mut tasks = tokio::task::JoinSet::new();
//! tasks.spawn(writer.run(CancellationToken::new()));
//!
//! let service = ObjectReference { name: "web".to_owned(), namespace: "shop".to_owned(), ..ObjectReference::of("v1", "Service") };
//! recorder.event(&service, EventType::Warning, "NoAddress", "no Pod has an address yet");
//! # }
//! ```

mod aggregate;
mod correlate;
mod name;
mod recorder;
mod reference;
mod spam;
mod writer;

pub use recorder::EventRecorder;
pub use reference::ObjectReference;
pub use writer::EventWriter;

use jiff::Timestamp;

/// Type of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventType {
    /// For information only.
    Normal,
    /// Something may be wrong.
    Warning,
}

impl EventType {
    fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

/// A recorded event before correlation.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RecordedEvent {
    object: ObjectReference,
    event_type: EventType,
    reason: String,
    message: String,
    at: Timestamp,
}
