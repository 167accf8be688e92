//! Decoding of watch streams.

mod json;
mod lengths;
mod lines;
mod protobuf;
mod reader;

pub use self::{lines::LineSplitter, reader::WatchReader};
use crate::{
    Decode, DecodeError, DecodeProblem, Encoding, Object, ObjectKey, ResourceVersion, Status, Undecodable, list,
};

/// Event of a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEvent<T> {
    /// `ADDED`: the object was created, or started to match the selector of the watch.
    Added(T),
    /// `MODIFIED`: the object changed.
    Modified(T),
    /// `DELETED`: the object was deleted, or no longer matches the selector. The value is its last state.
    Deleted(T),
    /// `BOOKMARK`: all events up to this resource version were sent.
    Bookmark {
        /// Resource version from which a watch can resume.
        resource_version: ResourceVersion,
        /// Whether this bookmark ends the initial events of a watch with `sendInitialEvents=true`.
        initial_events_end: bool,
    },
    /// Event whose object cannot be decoded. The watch continues.
    Undecodable {
        /// Type of the event.
        event: EventType,
        /// Metadata of the object, as far as readable, and the error.
        object: Box<Undecodable>,
    },
    /// `ERROR`: the server ends the watch for this reason.
    Error(Status),
}

/// Event of a watch, or the head of one that was not decoded; see [`WatchReader::next_event_observed`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received<T> {
    /// Decoded event.
    Event(WatchEvent<T>),
    /// Event of an object whose state the caller has already.
    Known(EventHead),
}

/// Key and version of the object of an `ADDED` or `MODIFIED` event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventHead {
    /// Whether the event is `ADDED`.
    pub added: bool,
    /// Namespace and name of the object.
    pub key: ObjectKey,
    /// Resource version of the object.
    pub resource_version: ResourceVersion,
}

/// Type of an event that contains an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventType {
    /// `ADDED`: see [`WatchEvent::Added`].
    Added,
    /// `MODIFIED`: see [`WatchEvent::Modified`].
    Modified,
    /// `DELETED`: see [`WatchEvent::Deleted`].
    Deleted,
}

/// Annotation of the bookmark that ends the initial events (Go: `metav1.InitialEventsAnnotationKey`).
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// Called with the bytes of each object.
type Observe<'a> = Option<&'a dyn Fn(Encoding, &[u8])>;

/// Parsed `type` of a frame.
enum FrameType {
    Object(EventType),
    Bookmark,
    Error,
}

impl<T: Object> WatchEvent<T> {
    /// Returns the resource version of the object or bookmark; empty for an error.
    fn resource_version(&self) -> ResourceVersion {
        match self {
            Self::Added(object) | Self::Modified(object) | Self::Deleted(object) => object.resource_version(),
            Self::Bookmark { resource_version, .. } => resource_version.clone(),
            Self::Undecodable { object, .. } => object.resource_version.clone(),
            Self::Error(_) => ResourceVersion::default(),
        }
    }
}

impl EventType {
    fn into_event<T>(self, object: T) -> WatchEvent<T> {
        match self {
            Self::Added => WatchEvent::Added(object),
            Self::Modified => WatchEvent::Modified(object),
            Self::Deleted => WatchEvent::Deleted(object),
        }
    }

    /// Decodes the object of an event; one that cannot be decoded becomes [`WatchEvent::Undecodable`].
    fn decode<T: Decode>(
        self,
        encoding: Encoding,
        bytes: &[u8],
        observe: Observe<'_>,
    ) -> Result<WatchEvent<T>, DecodeError> {
        if let Some(observe) = observe {
            observe(encoding, bytes);
        }
        match list::decode(encoding, bytes) {
            Ok(object) => Ok(self.into_event(object)),
            Err(error) => {
                let object = Undecodable::of(encoding, bytes, error)?;
                Ok(WatchEvent::Undecodable { event: self, object })
            }
        }
    }
}

impl FrameType {
    fn parse(name: &str) -> Option<Self> {
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
    DecodeError::new(kind, DecodeProblem::UnknownEvent(event.to_owned()))
}

#[cfg(test)]
mod tests;
