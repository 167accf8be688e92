//! The client of `kube-controller-client` as a source.

use std::{sync::Arc, time::Duration};

use futures::TryStreamExt as _;
use kube_controller_client::{Body, Client, Error, TransportKind};
use kube_wire::{DecodeContext, Encoding, ListParams, Resource, WatchParams};

use super::{ListWatch, ListWatchError, ListWatchResponse};

/// Lists and watches are sent once, because the informer repeats them.
impl ListWatch for Client {
    async fn list(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        params: &ListParams,
    ) -> Result<ListWatchResponse, ListWatchError> {
        Ok(self.without_retries().list_chunks(resource, namespace, params).await?.into())
    }

    async fn watch(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        params: &WatchParams,
    ) -> Result<ListWatchResponse, ListWatchError> {
        Ok(Client::watch(&self.without_retries(), resource, namespace, params).await?.into())
    }

    async fn get(&self, resource: &Resource, namespace: &str, name: &str) -> Result<ListWatchResponse, ListWatchError> {
        Ok(self.get_chunks(resource, namespace, name).await?.into())
    }

    async fn wait_to_retry(&self, requested: Option<Duration>) {
        self.availability().wait_to_retry(requested).await;
    }

    fn encoding(&self) -> Encoding {
        self.content_type()
    }

    fn decode_context(&self) -> Option<Arc<dyn DecodeContext>> {
        Client::decode_context(self)
    }
}

impl From<Body> for ListWatchResponse {
    fn from(body: Body) -> Self {
        Self::new(body.encoding(), body.map_err(ListWatchError::from))
    }
}

impl From<Error> for ListWatchError {
    fn from(error: Error) -> Self {
        match &error {
            Error::Api { status, .. } => Self::status((**status).clone(), error),
            Error::Transport {
                kind: TransportKind::Connect | TransportKind::Reset | TransportKind::Timeout, ..
            } => Self::unreachable(error),
            _ => Self::other(error),
        }
    }
}
