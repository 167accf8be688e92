//! Errors of decoding.

use std::fmt;

use crate::{ResourceVersion, protobuf::MalformedProtobuf};

/// Error of decoding an object, a list or a watch stream.
///
/// Every variant names the kind that was decoded. Errors of a [`WatchReader`](crate::WatchReader) also carry the
/// resource version of the last good event, which identifies the bad event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The JSON is malformed or does not match the type.
    #[error("cannot decode {kind}{after}: {location}: {message}", after = After(resource_version))]
    Json {
        /// Kind of the object, list or watch event.
        kind: String,
        /// Field, line and column.
        location: Location,
        /// Description of the error.
        message: String,
        /// Resource version of the last good event; `None` outside of a watch.
        resource_version: Option<ResourceVersion>,
    },
    /// The protobuf message is malformed or does not match the type.
    #[error("cannot decode {kind}{after}: {cause}", after = After(resource_version))]
    Protobuf {
        /// Kind of the object, list or watch event.
        kind: String,
        /// Field and description of the error.
        cause: MalformedProtobuf,
        /// Resource version of the last good event; `None` outside of a watch.
        resource_version: Option<ResourceVersion>,
    },
    /// The type does not implement decoding from this encoding.
    #[error("cannot decode {kind} from {encoding}: not implemented for this type")]
    Encoding {
        /// Kind of the object.
        kind: String,
        /// The encoding, such as `protobuf`.
        encoding: &'static str,
    },
    /// The document has another kind or API version than requested.
    #[error("expected {kind}{after}, the server sent {found}", after = After(resource_version))]
    Kind {
        /// Expected kind.
        kind: String,
        /// Kind that was received.
        found: String,
        /// Resource version of the last good event; `None` outside of a watch.
        resource_version: Option<ResourceVersion>,
    },
    /// The object has no `metadata.name`, and so no key.
    #[error("cannot decode {kind}{after}: metadata.name is missing", after = After(resource_version))]
    MissingName {
        /// Kind of the object, list or watch event.
        kind: String,
        /// Resource version of the last good event; `None` outside of a watch.
        resource_version: Option<ResourceVersion>,
    },
    /// The list has no `metadata.resourceVersion`, which every API server sets; no watch can start from it.
    #[error("{kind} without metadata.resourceVersion{after}", after = After(resource_version))]
    MissingResourceVersion {
        /// Kind of the list.
        kind: String,
        /// Resource version of the last good event; `None` outside of a watch.
        resource_version: Option<ResourceVersion>,
    },
    /// The watch event has an unknown `type`.
    #[error("unknown watch event type {event:?} for {kind}{after}", after = After(resource_version))]
    UnknownEvent {
        /// Kind of the watched objects.
        kind: String,
        /// `type` of the event.
        event: String,
        /// Resource version of the last good event; `None` outside of a watch.
        resource_version: Option<ResourceVersion>,
    },
    /// A frame of a watch exceeds the limit.
    #[error("a watch frame of {kind} is longer than {limit} bytes{after}", after = After(resource_version))]
    FrameTooLong {
        /// Kind of the watched objects.
        kind: String,
        /// Limit in bytes.
        limit: usize,
        /// Resource version of the last good event; `None` outside of a watch.
        resource_version: Option<ResourceVersion>,
    },
    /// An item of a list exceeds the limit.
    #[error("items[{item}] of {kind} is longer than {limit} bytes{after}", after = After(resource_version))]
    ItemTooLong {
        /// Kind of the list.
        kind: String,
        /// Index of the item, from 0.
        item: usize,
        /// Limit in bytes.
        limit: usize,
        /// Resource version of the last good event; `None` outside of a watch.
        resource_version: Option<ResourceVersion>,
    },
    /// The watch ended within a frame.
    #[error("the watch of {kind} ended {received} bytes into a frame{after}", after = After(resource_version))]
    Truncated {
        /// Kind of the watched objects.
        kind: String,
        /// Bytes of the incomplete frame that were received.
        received: usize,
        /// Resource version of the last good event; `None` outside of a watch.
        resource_version: Option<ResourceVersion>,
    },
    /// The body of a list ended before the list was complete.
    #[error("{kind} is truncated at items[{item}], byte {position}{after}", after = After(resource_version))]
    ListTruncated {
        /// Kind of the list.
        kind: String,
        /// Number of complete items.
        item: usize,
        /// Bytes before the incomplete part.
        position: u64,
        /// Resource version of the last good event; `None` outside of a watch.
        resource_version: Option<ResourceVersion>,
    },
}

impl DecodeError {
    /// Sets the resource version of the last good event. No effect on [`Encoding`](Self::Encoding).
    #[must_use]
    pub fn with_resource_version(mut self, version: &ResourceVersion) -> Self {
        match &mut self {
            Self::Json { resource_version, .. }
            | Self::Protobuf { resource_version, .. }
            | Self::Kind { resource_version, .. }
            | Self::MissingName { resource_version, .. }
            | Self::MissingResourceVersion { resource_version, .. }
            | Self::UnknownEvent { resource_version, .. }
            | Self::FrameTooLong { resource_version, .. }
            | Self::ItemTooLong { resource_version, .. }
            | Self::Truncated { resource_version, .. }
            | Self::ListTruncated { resource_version, .. } => *resource_version = Some(version.clone()),
            Self::Encoding { .. } => {}
        }
        self
    }

    /// Prefixes the path of the error with `prefix`, a path within `kind`.
    pub(crate) fn with_path_prefix(self, kind: &str, prefix: &str) -> Self {
        match self {
            Self::Json { location: Location { path, line, column }, message, resource_version, .. } => {
                let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
                let location = Location { path: format!("{prefix}{dot}{path}"), line, column };
                Self::Json { kind: kind.to_owned(), location, message, resource_version }
            }
            Self::Protobuf { cause, resource_version, .. } => {
                Self::Protobuf { kind: format!("{kind} {prefix}"), cause, resource_version }
            }
            other => other,
        }
    }

    pub(crate) fn kind(expected: &str, found: &str) -> Self {
        Self::Kind { kind: expected.to_owned(), found: found.to_owned(), resource_version: None }
    }

    pub(crate) fn item_too_long(kind: &str, item: usize, limit: usize) -> Self {
        Self::ItemTooLong { kind: kind.to_owned(), item, limit, resource_version: None }
    }

    pub(crate) fn list_truncated(kind: &str, item: usize, position: u64) -> Self {
        Self::ListTruncated { kind: kind.to_owned(), item, position, resource_version: None }
    }
}

/// Position of an error in a JSON document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Location {
    /// Path of the field, such as `items[3].spec.ports[0].port`; empty for the whole document.
    pub path: String,
    /// Line within the object (not within its list or frame), from 1; 0 if unknown.
    pub line: usize,
    /// Column, from 1; 0 if unknown.
    pub column: usize,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.path.as_str(), self.line) {
            ("", 0) => f.write_str("the document"),
            ("", line) => write!(f, "line {line} column {}", self.column),
            (path, 0) => f.write_str(path),
            (path, line) => write!(f, "{path} (line {line} column {})", self.column),
        }
    }
}

/// Formats ` after resourceVersion 7`, or nothing for `None`.
struct After<'a>(&'a Option<ResourceVersion>);

impl fmt::Display for After<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |version| write!(f, " after resourceVersion {version}"))
    }
}

impl MalformedProtobuf {
    /// Converts the error into a [`DecodeError`] for an object of `kind`.
    pub fn reading(self, kind: &str) -> DecodeError {
        DecodeError::Protobuf { kind: kind.to_owned(), cause: self, resource_version: None }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn json(path: &str, line: usize) -> DecodeError {
        let location = Location { path: path.to_owned(), line, column: 4 };
        DecodeError::Json { kind: "Pod".to_owned(), location, message: "boom".to_owned(), resource_version: None }
    }

    #[rstest]
    #[case(json("", 0), "cannot decode Pod: the document: boom")]
    #[case(json("spec.nodeName", 0), "cannot decode Pod: spec.nodeName: boom")]
    #[case(json("", 2), "cannot decode Pod: line 2 column 4: boom")]
    #[case(
        json("spec.nodeName", 2).with_resource_version(&"41".into()),
        "cannot decode Pod after resourceVersion 41: spec.nodeName (line 2 column 4): boom"
    )]
    fn error_contains_position(#[case] error: DecodeError, #[case] expect: &str) {
        assert_eq!(error.to_string(), expect);
    }
}
