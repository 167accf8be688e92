//! Errors of decoding.

use crate::{Resource, ResourceVersion, protobuf::MalformedProtobuf};

/// Error of decoding an object, a list or a watch stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot decode {kind}{}: {problem}", after(.resource_version.as_ref()))]
pub struct DecodeError {
    /// Kind of the object, of the list or of the watched objects.
    pub kind: String,
    /// Resource version of the last good event, which identifies the bad event; `None` outside of a watch.
    pub resource_version: Option<ResourceVersion>,
    /// What is wrong.
    pub problem: DecodeProblem,
}

/// Reasons why an object, a list or a watch stream cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeProblem {
    /// The JSON is malformed or does not match the type.
    #[error("{path}{}{message}", if .path.is_empty() { "" } else { ": " })]
    Json {
        /// Path of the field, such as `items[3].spec.ports[0].port`; empty for the whole document.
        path: String,
        /// Description of the error, with line and column within the object (not within its list or frame).
        message: String,
    },
    /// The protobuf message is malformed or does not match the type.
    #[error("{0}")]
    Protobuf(MalformedProtobuf),
    /// The type does not implement decoding from this encoding, such as `protobuf`.
    #[error("decoding from {0} is not implemented for this type")]
    Encoding(&'static str),
    /// The document has this kind or API version instead of the requested one.
    #[error("the server sent {0}")]
    Kind(String),
    /// The object has no `metadata.name`, and so no key.
    #[error("metadata.name is missing")]
    MissingName,
    /// The list has no `metadata.resourceVersion`, which every API server sets; no watch can start from it.
    #[error("metadata.resourceVersion is missing")]
    MissingResourceVersion,
    /// The watch event has this unknown `type`.
    #[error("unknown watch event type {0:?}")]
    UnknownEvent(String),
    /// A frame of a watch exceeds the limit.
    #[error("a watch frame is longer than {limit} bytes")]
    FrameTooLong {
        /// Limit in bytes.
        limit: usize,
    },
    /// An item of a list exceeds the limit.
    #[error("items[{item}] is longer than {limit} bytes")]
    ItemTooLong {
        /// Index of the item, from 0.
        item: usize,
        /// Limit in bytes.
        limit: usize,
    },
    /// The watch ended within a frame.
    #[error("the watch ended {received} bytes into a frame")]
    Truncated {
        /// Bytes of the incomplete frame that were received.
        received: usize,
    },
    /// The body of a list ended before the list was complete.
    #[error("truncated at items[{item}], byte {position}")]
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
            DecodeProblem::Json { path, .. } => {
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

    /// Rejects an object or list that is not of `kind`, or has another API version than `resource`.
    pub(crate) fn check(kind: &str, resource: &Resource, found: &str, version: &str) -> Result<(), Self> {
        if found != kind {
            return Err(Self::kind(kind, found));
        }
        if !resource.is_of_version(version) {
            return Err(Self::kind(&format!("{kind} of {}", resource.api_version()), &format!("{kind} of {version}")));
        }
        Ok(())
    }
}

/// Returns ` after resourceVersion 7`, or nothing for `None`.
fn after(version: Option<&ResourceVersion>) -> String {
    version.map(|version| format!(" after resourceVersion {version}")).unwrap_or_default()
}

impl MalformedProtobuf {
    /// Converts the error into a [`DecodeError`] for an object of `kind`.
    pub fn reading(self, kind: &str) -> DecodeError {
        DecodeError::new(kind, DecodeProblem::Protobuf(self))
    }
}
