//! Errors of decoding.

use std::{error::Error, fmt};

use crate::{ResourceVersion, protobuf::MalformedProtobuf};

/// Error of decoding an object, a list or a watch stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError {
    /// Kind of the object, of the list or of the watched objects.
    pub kind: String,
    /// Resource version of the last good event, which identifies the bad event; `None` outside of a watch.
    pub resource_version: Option<ResourceVersion>,
    /// What is wrong.
    pub problem: DecodeProblem,
}

/// Reasons why an object, a list or a watch stream cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeProblem {
    /// The JSON is malformed or does not match the type.
    Json {
        /// Field, line and column.
        location: Location,
        /// Description of the error.
        message: String,
    },
    /// The protobuf message is malformed or does not match the type.
    Protobuf(MalformedProtobuf),
    /// The type does not implement decoding from this encoding, such as `protobuf`.
    Encoding(&'static str),
    /// The document has this kind or API version instead of the requested one.
    Kind(String),
    /// The object has no `metadata.name`, and so no key.
    MissingName,
    /// The list has no `metadata.resourceVersion`, which every API server sets; no watch can start from it.
    MissingResourceVersion,
    /// The watch event has this unknown `type`.
    UnknownEvent(String),
    /// A frame of a watch exceeds the limit.
    FrameTooLong {
        /// Limit in bytes.
        limit: usize,
    },
    /// An item of a list exceeds the limit.
    ItemTooLong {
        /// Index of the item, from 0.
        item: usize,
        /// Limit in bytes.
        limit: usize,
    },
    /// The watch ended within a frame.
    Truncated {
        /// Bytes of the incomplete frame that were received.
        received: usize,
    },
    /// The body of a list ended before the list was complete.
    ListTruncated {
        /// Number of complete items.
        item: usize,
        /// Bytes before the incomplete part.
        position: u64,
    },
}

impl DecodeError {
    /// Returns an error without a resource version.
    pub fn new(kind: &str, problem: DecodeProblem) -> Self {
        Self { kind: kind.to_owned(), resource_version: None, problem }
    }

    /// Sets the resource version of the last good event.
    #[must_use]
    pub fn with_resource_version(self, version: &ResourceVersion) -> Self {
        Self { resource_version: Some(version.clone()), ..self }
    }

    /// Prefixes the path of the error with `prefix`, a path within `kind`.
    pub(crate) fn with_path_prefix(mut self, kind: &str, prefix: &str) -> Self {
        match &mut self.problem {
            DecodeProblem::Json { location: Location { path, .. }, .. } => {
                let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
                path.insert_str(0, &format!("{prefix}{dot}"));
                kind.clone_into(&mut self.kind);
            }
            DecodeProblem::Protobuf(_) => self.kind = format!("{kind} {prefix}"),
            _ => {}
        }
        self
    }

    pub(crate) fn kind(expected: &str, found: &str) -> Self {
        Self::new(expected, DecodeProblem::Kind(found.to_owned()))
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, resource_version, problem } = self;
        let after = After(resource_version);
        match problem {
            DecodeProblem::Json { location, message } => {
                write!(f, "cannot decode {kind}{after}: {location}: {message}")
            }
            DecodeProblem::Protobuf(error) => write!(f, "cannot decode {kind}{after}: {error}"),
            DecodeProblem::Encoding(encoding) => {
                write!(f, "cannot decode {kind} from {encoding}: not implemented for this type")
            }
            DecodeProblem::Kind(found) => write!(f, "expected {kind}{after}, the server sent {found}"),
            DecodeProblem::MissingName => write!(f, "cannot decode {kind}{after}: metadata.name is missing"),
            DecodeProblem::MissingResourceVersion => write!(f, "{kind} without metadata.resourceVersion{after}"),
            DecodeProblem::UnknownEvent(event) => write!(f, "unknown watch event type {event:?} for {kind}{after}"),
            DecodeProblem::FrameTooLong { limit } => {
                write!(f, "a watch frame of {kind} is longer than {limit} bytes{after}")
            }
            DecodeProblem::ItemTooLong { item, limit } => {
                write!(f, "items[{item}] of {kind} is longer than {limit} bytes{after}")
            }
            DecodeProblem::Truncated { received } => {
                write!(f, "the watch of {kind} ended {received} bytes into a frame{after}")
            }
            DecodeProblem::ListTruncated { item, position } => {
                write!(f, "{kind} is truncated at items[{item}], byte {position}{after}")
            }
        }
    }
}

impl Error for DecodeError {}

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
        DecodeError::new(kind, DecodeProblem::Protobuf(self))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn json(path: &str, line: usize) -> DecodeError {
        let location = Location { path: path.to_owned(), line, column: 4 };
        DecodeError::new("Pod", DecodeProblem::Json { location, message: "boom".to_owned() })
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
