//! The client of `kube-controller-client` as a source.

use std::{sync::Arc, time::Duration};

use futures::{TryStreamExt as _, future::BoxFuture};
use kube_controller_client::{Body, Client, Error, TransportKind};
use kube_wire::{DecodeContext, Encoding, ListParams, Resource, WatchParams};

use super::{ListWatch, ListWatchError, ListWatchFuture, ListWatchResponse};

/// Lists and watches are sent once, because the informer repeats them.
impl ListWatch for Client {
    fn list<'a>(
        &'a self,
        resource: &'a Resource,
        namespace: Option<&'a str>,
        params: &'a ListParams,
    ) -> ListWatchFuture<'a> {
        Box::pin(async move { Ok(self.without_retries().list_chunks(resource, namespace, params).await?.into()) })
    }

    fn watch<'a>(
        &'a self,
        resource: &'a Resource,
        namespace: Option<&'a str>,
        params: &'a WatchParams,
    ) -> ListWatchFuture<'a> {
        Box::pin(async move { Ok(Client::watch(&self.without_retries(), resource, namespace, params).await?.into()) })
    }

    fn get<'a>(&'a self, resource: &'a Resource, namespace: &'a str, name: &'a str) -> ListWatchFuture<'a> {
        Box::pin(async move { Ok(self.get_chunks(resource, namespace, name).await?.into()) })
    }

    fn wait_to_retry(&self, requested: Option<Duration>) -> BoxFuture<'_, ()> {
        Box::pin(async move { self.availability().wait_to_retry(requested).await })
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
