//! Errors that end a list or watch.

use std::time::Duration;

use kube_controller_client::{Error, TransportKind};
use kube_wire::{DecodeError, Status};

use super::steps::Failure;
use crate::RelistCause;

#[derive(Debug, thiserror::Error)]
pub(super) enum ReflectorError {
    #[error(transparent)]
    Request(#[from] Error),
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error("the watch ended with an ERROR event: {0}")]
    ErrorEvent(Box<Status>),
    #[error("no object of the list has a readable name")]
    Unnamed(#[source] Box<DecodeError>),
    #[error("the bookmark that ends the initial events has no resourceVersion")]
    Unversioned,
    #[error("no data received for {} s", .0.as_secs())]
    ReadTimeout(Duration),
    #[error("a relist was requested")]
    ListRequested(RelistCause),
}

impl ReflectorError {
    pub(super) fn failure(&self) -> Failure {
        match self {
            Self::Request(Error::Transport { kind, .. }) => match kind {
                TransportKind::Connect | TransportKind::Reset | TransportKind::Timeout => Failure::Unreachable,
                _ => Failure::Other,
            },
            Self::Request(error) => {
                error.status().map_or(Failure::Other, |status| status_failure(status, error.retry_after()))
            }
            Self::Unnamed(_) | Self::Decode(DecodeError::Protobuf { .. } | DecodeError::Encoding { .. }) => {
                Failure::Unreadable
            }
            Self::Decode(_) | Self::Unversioned => Failure::Other,
            Self::ErrorEvent(status) => {
                let seconds = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
                status_failure(status, (seconds > 0).then(|| Duration::from_secs(u64::from(seconds))))
            }
            Self::ReadTimeout(_) => Failure::Unreachable,
            Self::ListRequested(cause) => Failure::ListRequested(*cause),
        }
    }
}

fn status_failure(status: &Status, retry_after: Option<Duration>) -> Failure {
    if status.is_expired() {
        Failure::Expired
    } else if status.is_too_large_resource_version() {
        Failure::Ahead
    } else {
        match status.code {
            429 => Failure::Busy { retry_after },
            406 | 415 => Failure::NotAcceptable,
            _ => Failure::Other,
        }
    }
}
