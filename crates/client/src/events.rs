//! Events: short notes to users about an object, as `kubectl describe` shows them.
//!
//! Recording never waits and never fails: the [`EventRecorder`] puts the note into a queue, and drops it when the queue is
//! full. The [`EventWriter`] takes notes from the queue, merges what repeats itself as client-go does (equal notes are counted,
//! many similar ones combined, chatty sources silenced) and writes core/v1 Events.
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
mod lru;
mod name;
mod recorder;
mod reference;
mod spam;
mod writer;

pub use recorder::EventRecorder;
pub use reference::ObjectReference;
pub use writer::EventWriter;

use jiff::Timestamp;

/// Whether a note asks for attention.
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

/// One note, as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Note {
    about: ObjectReference,
    event_type: EventType,
    reason: String,
    message: String,
    at: Timestamp,
}
