//! Lists and watches, whose bodies the caller decodes.

use bytes::Bytes;
use kube_wire::Resource;

use super::{Client, sending::api_error};
use crate::{Body, Call, Error, ListParams, WatchParams, body::Replaced, outgoing::Outgoing, service::Service};

/// Lists and watches of a resource.
impl Client {
    /// Lists a resource in `namespace`, or in all namespaces if `None`, and returns the whole body, to be decoded with
    /// `kube_wire::decode_list`.
    ///
    /// The body is always JSON: `params.accept` is ignored. [`list_chunks`](Self::list_chunks) does not buffer long
    /// lists.
    ///
    /// # Errors
    ///
    /// [`Error::Api`], [`Error::Transport`], [`Error::Request`] or [`Error::ShuttingDown`].
    pub async fn list(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        params: &ListParams,
    ) -> Result<Bytes, Error> {
        let call = Call::new("list", resource, namespace.unwrap_or_default(), "");
        self.call(&call, &Outgoing::get(params.path_and_query(resource, namespace))).await
    }

    /// Lists a resource in `namespace`, or in all namespaces if `None`, and returns the body as it arrives, to be
    /// decoded with `kube_wire::ListReader`.
    ///
    /// [`Timeouts::request`](crate::Timeouts::request) bounds the time to the response headers only, not the body.
    ///
    /// # Errors
    ///
    /// Those of [`list`](Self::list), and [`Error::InvalidResponse`] if the content type is neither JSON nor protobuf.
    pub async fn list_chunks(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        params: &ListParams,
    ) -> Result<Body, Error> {
        let call = Call::new("list", resource, namespace.unwrap_or_default(), "");
        let outgoing = Outgoing { accept: params.accept, ..Outgoing::get(params.path_and_query(resource, namespace)) };
        self.open(&self.shared.transport.calls(), call, &outgoing, None).await
    }

    /// Reads one object, in JSON, and returns the body as it arrives. `namespace` is empty for cluster-scoped resources.
    ///
    /// [`Timeouts::request`](crate::Timeouts::request) bounds the time to the response headers only, not the body;
    /// [`get`](Self::get) bounds and decodes the body, too.
    ///
    /// # Errors
    ///
    /// Those of [`list_chunks`](Self::list_chunks).
    pub async fn get_chunks(&self, resource: &Resource, namespace: &str, name: &str) -> Result<Body, Error> {
        let call = Call::new("get", resource, namespace, name);
        let outgoing = Outgoing::get(resource.object_path(namespace, name));
        self.open(&self.shared.transport.calls(), call, &outgoing, None).await
    }

    /// Watches a resource in `namespace`, or in all namespaces if `None`, and returns the body as it arrives, to be
    /// decoded with `kube_wire::WatchReader`. Dropping the body ends the watch.
    ///
    /// As in client-go, the first attempt does not pass the rate limiter; retries do.
    ///
    /// # Errors
    ///
    /// Those of [`list_chunks`](Self::list_chunks).
    pub async fn watch(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        params: &WatchParams,
    ) -> Result<Body, Error> {
        let call = Call::new("watch", resource, namespace.unwrap_or_default(), "");
        let outgoing = Outgoing { accept: params.accept, ..Outgoing::get(params.path_and_query(resource, namespace)) };
        let (service, replaced) = self.shared.transport.watches();
        self.open(&service, call, &outgoing, Some(replaced)).await
    }

    /// Sends a request and returns the body of a successful response as it arrives. `replaced` is set for watches,
    /// which skip the rate limiter and end when it resolves.
    async fn open(
        &self,
        service: &Service,
        mut call: Call,
        outgoing: &Outgoing,
        replaced: Option<Replaced>,
    ) -> Result<Body, Error> {
        let response = self.send(service, &mut call, outgoing, replaced.is_none()).await?;
        if !response.status().is_success() {
            return Err(api_error(&call, response, self.shared.options.timeouts.request).await);
        }
        let (head, body) = response.into_parts();
        Body::new(call, &head.headers, body, replaced)
    }
}
