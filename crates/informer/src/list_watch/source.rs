//! A source without its type, so that the informer and its reflector do not depend on it.

use std::{sync::Arc, time::Duration};

use kube_wire::{Decode, DecodeContext, Dynamic, Encoding, ListParams, ListReader, Resource, ResourceVersion};
use serde_json::Value;
use tokio::time::timeout;

use super::{ListWatch, ListWatchError, ListWatchResponse};

/// Resource of the objects of which only the metadata are requested.
const METADATA: Resource = Resource::namespaced("meta.k8s.io", "v1", "", "PartialObjectMetadata");

/// Maximum time to read the response to a request of one object, or of the current resource version.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub(crate) struct Source {
    pub(crate) requests: Arc<dyn ListWatch>,
    context: Option<Arc<dyn DecodeContext>>,
}

impl Source {
    pub(crate) fn new(source: impl ListWatch) -> Self {
        let context = source.decode_context();
        Self { requests: Arc::new(source), context }
    }

    /// Returns a reader of a list that was requested from the source.
    pub(crate) fn list_reader<T: Decode>(&self, resource: &Resource, encoding: Encoding) -> ListReader<T> {
        ListReader::of(if self.requests.is_metadata_only() { &METADATA } else { resource }, encoding)
    }

    /// Calls `decode` in the context of the source, if it has one.
    pub(crate) fn decode<R>(&self, decode: impl FnOnce() -> R) -> R {
        match &self.context {
            Some(context) => context.run(decode),
            None => decode(),
        }
    }

    /// Reads one object of any type; `None` if it does not exist. If the process may not get it, it is read by a list
    /// of its name from the most recent state.
    pub(crate) async fn get(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Dynamic>, ListWatchError> {
        let body = match self.requests.get(resource, namespace, name).await {
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) if error.is_forbidden() => {
                let (object, _) = self.list_by_name(resource, namespace, name, ListParams::default()).await?;
                return Ok(object);
            }
            response => collect(response?).await?,
        };
        Dynamic::from_json(&body).map(Some).map_err(ListWatchError::other)
    }

    /// Reads one object by a list of its name from the most recent state; `None` if it does not exist, or if the selectors of
    /// `params` do not match it. Also returns the version of the list.
    pub(crate) async fn list_by_name<T: Decode>(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        mut params: ListParams,
    ) -> Result<(Option<T>, ResourceVersion), ListWatchError> {
        let by_name = format!("metadata.name={name}");
        params.field_selector = Some(params.field_selector.map_or(by_name.clone(), |it| format!("{by_name},{it}")));
        let namespace = Some(namespace).filter(|it| !it.is_empty());
        let body = collect(self.requests.list(resource, namespace, &params).await?).await?;
        let mut list = self.list_reader::<T>(resource, Encoding::Json);
        list.push(&body);
        let mut found = None;
        while let Some(item) = self.decode(|| list.next_item()).map_err(ListWatchError::other)? {
            found = Some(item.map_err(|it| ListWatchError::other(it.error))?);
        }
        Ok((found, list.finish().map_err(ListWatchError::other)?.resource_version))
    }

    /// Returns the current resource version of a resource on the server: that of a list with `limit=1`, read from etcd.
    pub(crate) async fn latest_version(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
    ) -> Result<ResourceVersion, ListWatchError> {
        let params = ListParams { limit: Some(1), ..ListParams::default() };
        let body = collect(self.requests.list(resource, namespace, &params).await?).await?;
        let list: Value = serde_json::from_slice(&body).map_err(ListWatchError::other)?;
        Ok(list["metadata"]["resourceVersion"].as_str().unwrap_or_default().into())
    }
}

async fn collect(response: ListWatchResponse) -> Result<Vec<u8>, ListWatchError> {
    match timeout(READ_TIMEOUT, response.collect()).await {
        Ok(body) => body,
        Err(_) => Err(ListWatchError::unreachable(format!("response not complete after {} s", READ_TIMEOUT.as_secs()))),
    }
}
