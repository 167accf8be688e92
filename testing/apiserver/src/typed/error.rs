//! Errors of typed access.

use crate::status::StatusError;

/// Error of [`Objects`](super::Objects).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// The server refused the request, as it would have refused that of a client.
    #[error("{message}")]
    Refused {
        /// HTTP status code, such as 404.
        code: u16,
        /// Machine-readable reason, such as `NotFound`.
        reason: String,
        /// Message of the `Status`.
        message: String,
    },
    /// The server does not serve the kind.
    #[error("the server does not serve {plural} of group {group:?}")]
    UnknownKind {
        /// API group; empty for core.
        group: String,
        /// Plural name of the resource.
        plural: String,
    },
    /// The method does not write the given fields, so that a server would ignore them. Nothing was written.
    #[error("{message}")]
    WrongMethod {
        /// What is ignored, and which method to call instead.
        message: String,
    },
    /// The object cannot be converted between the type and JSON.
    #[error("cannot convert the object: {message}")]
    Convert {
        /// Message of the conversion.
        message: String,
    },
}

impl ObjectError {
    /// Returns whether the object does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { code: 404, .. })
    }
}

impl From<StatusError> for ObjectError {
    fn from(error: StatusError) -> Self {
        Self::Refused { code: error.code, reason: error.reason.to_owned(), message: error.to_string() }
    }
}

impl From<serde_json::Error> for ObjectError {
    fn from(error: serde_json::Error) -> Self {
        Self::Convert { message: error.to_string() }
    }
}
