//! Watches: events, and how they are read from a stream.

mod json;
mod lengths;
mod lines;
mod protobuf;
mod reader;

pub use self::{lines::LineSplitter, reader::WatchReader};
use crate::{Decode, DecodeError, Encoding, ResourceVersion, Status, Undecodable, list::named};

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
    /// An event of an object that cannot be decoded. The watch goes on.
    Undecodable {
        /// What happened to the object.
        event: EventType,
        /// What can be read of it.
        object: Box<Undecodable>,
    },
    /// The server ends the watch, and says why.
    Error(Status),
}

/// What an event says of its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventType {
    /// `ADDED`
    Added,
    /// `MODIFIED`
    Modified,
    /// `DELETED`
    Deleted,
}

/// The annotation of the bookmark that ends the initial events.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// What the `type` of a frame says.
enum FrameType {
    Object(EventType),
    Bookmark,
    Error,
}

impl EventType {
    fn of<T>(self, object: T) -> WatchEvent<T> {
        match self {
            Self::Added => WatchEvent::Added(object),
            Self::Modified => WatchEvent::Modified(object),
            Self::Deleted => WatchEvent::Deleted(object),
        }
    }

    /// Decodes the object of an event. An object that cannot be decoded is an event as well.
    fn decode<T: Decode>(self, encoding: Encoding, bytes: &[u8]) -> Result<WatchEvent<T>, DecodeError> {
        let object = match encoding {
            Encoding::Json => T::from_json(bytes),
            Encoding::Protobuf => T::from_protobuf(bytes),
        };
        match object.and_then(named) {
            Ok(object) => Ok(self.of(object)),
            Err(error) => {
                let object = Undecodable::of(encoding, bytes, error)?;
                Ok(WatchEvent::Undecodable { event: self, object })
            }
        }
    }
}

impl FrameType {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "ADDED" => Self::Object(EventType::Added),
            "MODIFIED" => Self::Object(EventType::Modified),
            "DELETED" => Self::Object(EventType::Deleted),
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
