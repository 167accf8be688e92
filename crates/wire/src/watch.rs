//! Watches: events, and how they are read from a stream.

mod json;
mod lengths;
mod lines;
mod protobuf;
mod reader;

pub use self::{lines::LineSplitter, reader::WatchReader};
use crate::{DecodeError, ResourceVersion, Status};

/// One event of a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEvent<T> {
    /// The object came into view.
    Added(T),
    /// The object changed.
    Modified(T),
    /// The object left the view; this is its last state.
    Deleted(T),
    /// Nothing changed up to this version.
    Bookmark {
        /// A watch may be resumed from here.
        resource_version: ResourceVersion,
        /// Everything that existed when the watch was opened has been sent.
        initial_events_end: bool,
    },
    /// The server ends the watch, and says why.
    Error(Status),
}

/// The annotation of the bookmark that ends the initial events.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// What the `type` of an event says.
enum EventType<T> {
    Object(fn(T) -> WatchEvent<T>),
    Bookmark,
    Error,
}

impl<T> EventType<T> {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "ADDED" => Self::Object(WatchEvent::Added),
            "MODIFIED" => Self::Object(WatchEvent::Modified),
            "DELETED" => Self::Object(WatchEvent::Deleted),
            "BOOKMARK" => Self::Bookmark,
            "ERROR" => Self::Error,
            _ => return None,
        })
    }
}

fn unknown_event(kind: &str, event: &str) -> DecodeError {
    DecodeError::UnknownEvent { kind: kind.to_owned(), event: event.to_owned(), resource_version: None }
}

#[cfg(test)]
mod tests;
