//! Watch of the Lease between two attempts, which detects a release or renewal immediately.

use std::pin::Pin;

use display_full_error::DisplayFullErrorExt as _;
use futures::StreamExt as _;
use k8s_openapi::api::coordination::v1::Lease;
use kube_controller_client::{Body, Client, Error, Resource, WatchParams};
use kube_wire::{Encoding, ResourceVersion, WatchEvent, WatchReader};

use crate::LeaseName;

const LEASES: Resource = Resource::namespaced("coordination.k8s.io", "v1", "leases", "Lease");

/// Timeout of the watch on the server, in seconds; the next attempt opens it again.
const TIMEOUT_SECONDS: u32 = 300;

struct OpenWatch {
    body: Body,
    events: WatchReader<Lease>,
}

type Opening = Pin<Box<dyn Future<Output = Result<Body, Error>> + Send>>;

/// A watch of one Lease. It never fails: after an error it returns nothing until it is [opened](Self::open) again.
pub(crate) struct LeaseWatch {
    client: Client,
    name: LeaseName,
    state: WatchState,
}

enum WatchState {
    Closed,
    Opening(Opening),
    Open(Box<OpenWatch>),
}

impl LeaseWatch {
    pub(crate) fn new(client: Client, name: LeaseName) -> Self {
        Self { client, name, state: WatchState::Closed }
    }

    /// Opens the watch at resource version `version`, unless it is open.
    pub(crate) fn open(&mut self, version: &str) {
        if matches!(self.state, WatchState::Closed) {
            let (client, namespace) = (self.client.clone(), self.name.namespace.clone());
            let params = WatchParams {
                field_selector: Some(format!("metadata.name={}", self.name.name)),
                resource_version: version.into(),
                timeout_seconds: Some(TIMEOUT_SECONDS),
                ..WatchParams::default()
            };
            let opening = async move { client.watch(&LEASES, Some(&namespace), &params).await };
            self.state = WatchState::Opening(Box::pin(opening));
        }
    }

    pub(crate) fn close(&mut self) {
        self.state = WatchState::Closed;
    }

    /// Waits for the next state of the Lease. Pending forever while the watch is closed. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Lease {
        loop {
            match &mut self.state {
                WatchState::Closed => std::future::pending().await,
                WatchState::Opening(opening) => {
                    self.state = match opening.await {
                        Ok(body) => WatchState::Open(Box::new(OpenWatch {
                            body,
                            events: WatchReader::new(Encoding::Json, ResourceVersion::default()),
                        })),
                        Err(error) => {
                            tracing::debug!(err = %error.display_full(), "Cannot watch the Lease, polling only");
                            WatchState::Closed
                        }
                    };
                }
                WatchState::Open(watch) => match watch.events.next_event() {
                    Ok(Some(WatchEvent::Added(lease) | WatchEvent::Modified(lease))) => return lease,
                    Ok(Some(WatchEvent::Deleted(_) | WatchEvent::Bookmark { .. } | WatchEvent::Undecodable { .. })) => {
                    }
                    Ok(None) => match watch.body.next().await {
                        Some(Ok(chunk)) => watch.events.push(&chunk),
                        Some(Err(_)) | None => self.state = WatchState::Closed,
                    },
                    Ok(Some(WatchEvent::Error(_))) | Err(_) => self.state = WatchState::Closed,
                },
            }
        }
    }
}
