//! What can be wrong with bytes from an API server.

use std::fmt;

use crate::{ResourceVersion, protobuf::MalformedProtobuf};

/// Bytes that are not what they should be.
///
/// Every variant names the kind that was read; where the last good resourceVersion of a watch is known it is named too,
/// so that an operator can tell which event was broken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The JSON is malformed, or does not have the shape of the type.
    #[error("cannot decode {kind}{after}: {place}: {message}", after = After(resource_version))]
    Json {
        /// What was being read.
        kind: String,
        /// Where in the document.
        place: Place,
        /// What is wrong there.
        message: String,
        /// The last good resourceVersion, when the bytes were a frame of a watch.
        resource_version: Option<ResourceVersion>,
    },
    /// The protobuf is malformed, or does not have the shape of the type.
    #[error("cannot decode {kind}{after}: {cause}", after = After(resource_version))]
    Protobuf {
        /// What was being read.
        kind: String,
        /// Which field, and what is wrong with it.
        cause: MalformedProtobuf,
        /// The last good resourceVersion, when the bytes were a frame of a watch.
        resource_version: Option<ResourceVersion>,
    },
    /// The bytes are in an encoding in which the type is not read.
    #[error("{kind} is not read from {encoding}")]
    Encoding {
        /// What was to be read.
        kind: String,
        /// The encoding, such as `protobuf`.
        encoding: &'static str,
    },
    /// The document is of another kind than asked for.
    #[error("expected {kind}{after}, the server sent {found}", after = After(resource_version))]
    Kind {
        /// What was asked for.
        kind: String,
        /// What came.
        found: String,
        /// The last good resourceVersion, when the bytes were a frame of a watch.
        resource_version: Option<ResourceVersion>,
    },
    /// An object came without a name; it could not be stored under any key.
    #[error("cannot decode {kind}{after}: an object without metadata.name", after = After(resource_version))]
    Nameless {
        /// What was being read.
        kind: String,
        /// The last good resourceVersion, when the bytes were a frame of a watch.
        resource_version: Option<ResourceVersion>,
    },
    /// A list without `metadata.resourceVersion`, as no API server sends one.
    #[error("{kind} without metadata.resourceVersion{after}", after = After(resource_version))]
    Unversioned {
        /// The kind of the list.
        kind: String,
        /// The last good resourceVersion.
        resource_version: Option<ResourceVersion>,
    },
    /// A watch event of a type this crate does not know.
    #[error("unknown watch event type {event:?} for {kind}{after}", after = After(resource_version))]
    UnknownEvent {
        /// What is watched.
        kind: String,
        /// The `type` of the event.
        event: String,
        /// The last good resourceVersion.
        resource_version: Option<ResourceVersion>,
    },
    /// A frame of a watch is longer than the limit.
    #[error("a watch frame of {kind} is longer than {limit} bytes{after}", after = After(resource_version))]
    FrameTooLong {
        /// What is watched.
        kind: String,
        /// The limit in bytes.
        limit: usize,
        /// The last good resourceVersion.
        resource_version: Option<ResourceVersion>,
    },
    /// An item of a list is longer than the limit.
    #[error("items[{item}] of {kind} is longer than {limit} bytes{after}", after = After(resource_version))]
    ItemTooLong {
        /// The kind of the list.
        kind: String,
        /// Which item, counted from 0.
        item: usize,
        /// The limit in bytes.
        limit: usize,
        /// The last good resourceVersion.
        resource_version: Option<ResourceVersion>,
    },
    /// A watch ended within a frame.
    #[error("the watch of {kind} ended {have} bytes into a frame{after}", after = After(resource_version))]
    Truncated {
        /// What is watched.
        kind: String,
        /// How many bytes of the frame had arrived.
        have: usize,
        /// The last good resourceVersion.
        resource_version: Option<ResourceVersion>,
    },
    /// A list ended too early.
    #[error("{kind} ended within items[{item}], {read} bytes from its beginning{after}", after = After(resource_version))]
    ListTruncated {
        /// The kind of the list.
        kind: String,
        /// How many items are complete.
        item: usize,
        /// How many bytes could be used.
        read: u64,
        /// The last good resourceVersion.
        resource_version: Option<ResourceVersion>,
    },
}

impl DecodeError {
    /// The same error, saying that it came after `version` in a watch.
    #[must_use]
    pub fn after(mut self, version: &ResourceVersion) -> Self {
        match &mut self {
            Self::Json { resource_version, .. }
            | Self::Protobuf { resource_version, .. }
            | Self::Kind { resource_version, .. }
            | Self::Nameless { resource_version, .. }
            | Self::Unversioned { resource_version, .. }
            | Self::UnknownEvent { resource_version, .. }
            | Self::FrameTooLong { resource_version, .. }
            | Self::ItemTooLong { resource_version, .. }
            | Self::Truncated { resource_version, .. }
            | Self::ListTruncated { resource_version, .. } => *resource_version = Some(version.clone()),
            Self::Encoding { .. } => {}
        }
        self
    }

    /// The same error, saying that it is about the part `place` of `kind`.
    pub(crate) fn within(self, kind: &str, place: &str) -> Self {
        match self {
            Self::Json { place: Place { path, line, column }, message, resource_version, .. } => {
                let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
                let place = Place { path: format!("{place}{dot}{path}"), line, column };
                Self::Json { kind: kind.to_owned(), place, message, resource_version }
            }
            Self::Protobuf { cause, resource_version, .. } => {
                Self::Protobuf { kind: format!("{kind} {place}"), cause, resource_version }
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

    pub(crate) fn list_truncated(kind: &str, item: usize, read: u64) -> Self {
        Self::ListTruncated { kind: kind.to_owned(), item, read, resource_version: None }
    }
}

/// Where in a JSON document something is wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Path of the field, such as `items[3].spec.ports[0].port`; empty for the document itself.
    pub path: String,
    /// Line, counted from 1; 0 when unknown. Lines are counted within the object, as it stands in its list or frame.
    pub line: usize,
    /// Column, counted from 1; 0 when unknown.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.path.as_str(), self.line) {
            ("", 0) => f.write_str("the document"),
            ("", line) => write!(f, "line {line} column {}", self.column),
            (path, 0) => f.write_str(path),
            (path, line) => write!(f, "{path} (line {line} column {})", self.column),
        }
    }
}

/// ` after resourceVersion 7`, or nothing.
struct After<'a>(&'a Option<ResourceVersion>);

impl fmt::Display for After<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |version| write!(f, " after resourceVersion {version}"))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn json(path: &str, line: usize) -> DecodeError {
        let place = Place { path: path.to_owned(), line, column: 4 };
        DecodeError::Json { kind: "Pod".to_owned(), place, message: "boom".to_owned(), resource_version: None }
    }

    #[rstest]
    #[case(json("", 0), "cannot decode Pod: the document: boom")]
    #[case(json("spec.nodeName", 0), "cannot decode Pod: spec.nodeName: boom")]
    #[case(json("", 2), "cannot decode Pod: line 2 column 4: boom")]
    #[case(
        json("spec.nodeName", 2).after(&"41".into()),
        "cannot decode Pod after resourceVersion 41: spec.nodeName (line 2 column 4): boom"
    )]
    fn says_where(#[case] error: DecodeError, #[case] expect: &str) {
        assert_eq!(error.to_string(), expect);
    }
}
