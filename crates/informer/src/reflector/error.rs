//! Errors that end a list or watch.

use std::time::Duration;

use kube_wire::{DecodeError, DecodeProblem, Status};

use super::steps::Failure;
use crate::{
    ListWatchError, RelistCause, UndecodableObject,
    list_watch::{Class, retry_after},
};

#[derive(Debug, thiserror::Error)]
pub(super) enum ReflectorError {
    #[error(transparent)]
    Request(#[from] ListWatchError),
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error("the watch ended with an ERROR event: {0}")]
    ErrorEvent(Box<Status>),
    #[error("no object of the list has a readable name")]
    Unnamed(#[source] Box<DecodeError>),
    /// A cache between server and process ignores the query, and would send the first page without end.
    #[error("a page of the list has the continue token that it was requested with")]
    RepeatedPage,
    #[error("an object cannot be decoded: {0}")]
    Undecodable(Box<UndecodableObject>),
    #[error("the bookmark that ends the initial events has no resourceVersion")]
    Unversioned,
    #[error("no bookmark has ended the initial events of the streaming list, {} s after the last of them", .0.as_secs())]
    NoBookmark(Duration),
    #[error("no data received for {} s", .0.as_secs())]
    ReadTimeout(Duration),
    #[error("a relist was requested")]
    ListRequested(RelistCause),
}

impl ReflectorError {
    pub(super) fn failure(&self) -> Failure {
        match self {
            Self::Request(error) => match error.class() {
                Class::Status(status) => status_failure(status),
                Class::Unreachable => Failure::Unreachable,
                Class::Other => Failure::Other,
            },
            Self::Unnamed(_)
            | Self::Decode(DecodeError { problem: DecodeProblem::Protobuf(_) | DecodeProblem::Encoding(_), .. }) => {
                Failure::Unreadable
            }
            Self::Decode(_) | Self::Undecodable(_) | Self::Unversioned => Failure::Other,
            Self::ErrorEvent(status) => status_failure(status),
            // Followed by a list without pages.
            Self::RepeatedPage => Failure::Expired,
            Self::NoBookmark(_) => Failure::NoBookmark,
            Self::ReadTimeout(_) => Failure::Unreachable,
            Self::ListRequested(cause) => Failure::ListRequested(*cause),
        }
    }
}

/// Reasons of server errors, for a status without code.
const SERVER_ERRORS: [&str; 4] = ["InternalError", "ServerTimeout", "ServiceUnavailable", "Timeout"];

fn status_failure(status: &Status) -> Failure {
    if status.is_expired() {
        Failure::Expired
    } else if status.is_too_large_resource_version() {
        Failure::Ahead
    } else {
        match status.code {
            429 => Failure::Busy { retry_after: retry_after(status) },
            406 | 415 => Failure::NotAcceptable,
            500.. => Failure::ServerError,
            _ if SERVER_ERRORS.contains(&&*status.reason) => Failure::ServerError,
            _ => Failure::Other,
        }
    }
}
