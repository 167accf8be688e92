//! Fills a store from the API server: list, watch, and again.

mod backoff;
mod machine;

use std::{convert::Infallible, sync::Arc, time::Duration};

use futures::StreamExt as _;
use kube_controller_client::{Client, Error, ListParams, TransportKind, WatchBody, WatchParams};
use kube_wire::{Decode, DecodeError, Encoding, Status, WatchEvent, WatchReader, decode_list};
use tokio::time::{Instant, sleep, timeout_at};

pub use self::backoff::BackoffPolicy;
use self::machine::{Failure, Happened, ListRequest, Machine, Next};
use crate::shared::Shared;

/// The server ends a watch itself. One that is still open this long after that is dead, and nobody told us.
const OVERDUE: Duration = Duration::from_secs(30);

/// What part of a type is followed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    pub(crate) namespace: Option<String>,
    pub(crate) label_selector: Option<String>,
    pub(crate) field_selector: Option<String>,
}

/// Keeps the store up to date, for ever.
pub(crate) async fn reflect<T: Decode, X: Clone>(
    client: Client,
    scope: Scope,
    backoff: BackoffPolicy,
    shared: Arc<Shared<T, X>>,
) -> Infallible {
    Reflector { client, scope, shared, machine: Machine::new(backoff), pages: Vec::new() }.run().await
}

struct Reflector<T, X> {
    client: Client,
    scope: Scope,
    shared: Arc<Shared<T, X>>,
    machine: Machine,
    /// The pages of a list that is not complete yet.
    pages: Vec<Arc<T>>,
}

/// Why a watch is over.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("{0}")]
    Request(#[from] Error),
    #[error("{0}")]
    Decode(#[from] DecodeError),
    #[error("the watch ended with an error: {0}")]
    Event(Box<Status>),
}

impl<T: Decode, X: Clone> Reflector<T, X> {
    async fn run(mut self) -> Infallible {
        loop {
            match self.machine.next(Instant::now(), rand::random()) {
                Next::Wait(wait) => sleep(wait).await,
                Next::List(request) => self.list(request).await,
                Next::Watch { version, timeout } => self.watch(version, timeout).await,
            }
        }
    }

    async fn list(&mut self, request: ListRequest) {
        let ListRequest { version, limit, page } = request;
        if page.is_none() {
            self.pages.clear();
        }
        let params = ListParams {
            label_selector: self.scope.label_selector.clone(),
            field_selector: self.scope.field_selector.clone(),
            limit,
            continue_token: page,
            resource_version: version,
        };
        let happened = match self.page(&params).await {
            Ok(happened) => happened,
            Err(trouble) => {
                self.pages.clear();
                let failure = trouble.failure();
                tracing::warn!(resource = %T::RESOURCE, err = %trouble, "list failed");
                Happened::ListFailed(failure)
            }
        };
        self.note(happened);
    }

    async fn page(&mut self, params: &ListParams) -> Result<Happened, Trouble> {
        let body = self.client.list(&T::RESOURCE, self.scope.namespace.as_deref(), params).await?;
        let list = decode_list::<T>(&body)?;
        drop(body);
        self.pages.extend(list.items.into_iter().map(|object| self.shared.arrived(object)));
        let version = list.meta.resource_version.to_string();
        if let Some(next) = list.meta.continue_token {
            return Ok(Happened::Page { next });
        }
        let objects = std::mem::take(&mut self.pages);
        tracing::debug!(resource = %T::RESOURCE, objects = objects.len(), version, "listed");
        self.shared.replace(objects, &version);
        Ok(Happened::Listed { version })
    }

    async fn watch(&mut self, version: String, timeout: Duration) {
        let params = WatchParams {
            label_selector: self.scope.label_selector.clone(),
            field_selector: self.scope.field_selector.clone(),
            resource_version: version,
            timeout_seconds: u32::try_from(timeout.as_secs()).ok(),
            allow_bookmarks: true,
        };
        let deadline = Instant::now() + timeout + OVERDUE;
        let opened = self.client.watch(&T::RESOURCE, self.scope.namespace.as_deref(), &params).await;
        let result = match opened {
            Ok(body) => self.follow(body, &params.resource_version, deadline).await,
            Err(error) => Err(error.into()),
        };
        let happened = match result {
            Ok(()) => Happened::WatchEnded,
            Err(trouble) => {
                let failure = trouble.failure();
                if failure == Failure::Expired {
                    tracing::debug!(resource = %T::RESOURCE, err = %trouble, "watch expired");
                } else {
                    tracing::warn!(resource = %T::RESOURCE, err = %trouble, "watch failed");
                }
                Happened::WatchFailed(failure)
            }
        };
        self.note(happened);
    }

    /// Applies what the watch brings until it ends, however it ends.
    async fn follow(&mut self, mut body: WatchBody, version: &str, deadline: Instant) -> Result<(), Trouble> {
        let mut events = WatchReader::<T>::new(Encoding::Json, version.into());
        loop {
            let chunk = match timeout_at(deadline, body.next()).await {
                Ok(Some(Ok(chunk))) => chunk,
                // However it ended, nothing is lost: the next watch begins after the last whole event.
                Ok(Some(Err(error))) => {
                    tracing::debug!(resource = %T::RESOURCE, err = %error, "watch broke");
                    return Ok(());
                }
                Ok(None) | Err(_) => return Ok(()),
            };
            events.push(&chunk);
            while let Some(event) = events.next_event()? {
                let reached = self.apply(event)?;
                self.note(Happened::Progress { version: reached });
            }
        }
    }

    /// Applies one event and returns the version after it.
    fn apply(&self, event: WatchEvent<T>) -> Result<String, Trouble> {
        match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                let version = object.resource_version().to_string();
                self.shared.upsert(object);
                Ok(version)
            }
            WatchEvent::Deleted(object) => {
                let version = object.resource_version().to_string();
                self.shared.delete(object);
                Ok(version)
            }
            WatchEvent::Bookmark { resource_version, initial_events_end: _ } => {
                let version = resource_version.to_string();
                self.shared.bookmark(&version);
                Ok(version)
            }
            WatchEvent::Error(status) => Err(Trouble::Event(Box::new(status))),
        }
    }

    fn note(&mut self, happened: Happened) {
        self.machine.happened(happened, Instant::now(), rand::random());
    }
}

impl Trouble {
    fn failure(&self) -> Failure {
        match self {
            Self::Request(Error::Transport { kind, .. }) => match kind {
                TransportKind::Connect | TransportKind::Reset | TransportKind::Timeout => Failure::Unreachable,
                _ => Failure::Other,
            },
            Self::Request(error) => {
                error.status().map_or(Failure::Other, |status| status_failure(status, error.retry_after()))
            }
            Self::Decode(_) => Failure::Other,
            Self::Event(status) => {
                let seconds = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
                status_failure(status, (seconds > 0).then(|| Duration::from_secs(u64::from(seconds))))
            }
        }
    }
}

fn status_failure(status: &Status, retry_after: Option<Duration>) -> Failure {
    if status.is_expired() {
        Failure::Expired
    } else if status.is_too_large_resource_version() {
        Failure::Ahead
    } else if status.code == 429 {
        Failure::Busy { retry_after }
    } else {
        Failure::Other
    }
}
