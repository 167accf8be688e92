//! The API server that an informer lists and watches.

#[cfg(feature = "client")]
mod client;
mod error;
mod source;

use std::{fmt, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{FutureExt as _, Stream, StreamExt as _, future::BoxFuture, stream};
use kube_wire::{DecodeContext, Encoding, ListParams, Resource, WatchParams};
use tokio::time::sleep;

pub use self::error::ListWatchError;
pub(crate) use self::{
    error::{Class, retry_after},
    source::Source,
};

/// Maximum delay of a retry for which the server requests none.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(2);

/// API server that an [`Informer`](crate::Informer) lists and watches (client-go: `ListerWatcher`).
///
/// Implemented for `kube_controller_client::Client` with the feature `client`, the default. Other sources are for example
/// recordings, and clients with another HTTP stack.
///
/// A method sends one request and returns the response as it arrives. It need not retry, since the informer does, but
/// must bound the time until the response starts. The informer bounds the time to read it. Dropping the response or the
/// future ends the request.
///
/// ```
/// use std::future::ready;
///
/// use kube_informer::{Informer, ListWatch, ListWatchError, ListWatchFuture, ListWatchResponse};
/// use kube_wire::{Encoding, ListParams, Resource, Status, WatchParams};
///
/// /// Serves one list, and watches that never send an event.
/// struct Recording(&'static str);
///
/// impl ListWatch for Recording {
///     fn list<'a>(&'a self, _: &'a Resource, _: Option<&'a str>, _: &'a ListParams) -> ListWatchFuture<'a> {
///         Box::pin(ready(Ok(ListWatchResponse::complete(Encoding::Json, self.0))))
///     }
///     fn watch<'a>(&'a self, _: &'a Resource, _: Option<&'a str>, params: &'a WatchParams) -> ListWatchFuture<'a> {
///         Box::pin(async {
///             if params.send_initial_events {
///                 // A server without streaming lists; the informer requests a list then.
///                 let status = Status { code: 422, reason: "Invalid".to_owned(), ..Status::default() };
///                 return Err(ListWatchError::status(status, "streaming lists are not supported"));
///             }
///             Ok(ListWatchResponse::new(Encoding::Json, futures::stream::pending()))
///         })
///     }
///     fn get<'a>(&'a self, _: &'a Resource, _: &'a str, _: &'a str) -> ListWatchFuture<'a> {
///         Box::pin(ready(Err(ListWatchError::other("not recorded"))))
///     }
/// }
/// # #[derive(serde::Deserialize)]
/// # struct Pod { metadata: kube_wire::ObjectHead }
/// # kube_wire::object!(Pod, kube_wire::Resource::namespaced("", "v1", "pods", "Pod"));
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let recording = Recording(r#"{"kind":"PodList","items":[{"metadata":{"name":"web"}}],"metadata":{"resourceVersion":"7"}}"#);
/// let pods = Informer::<Pod>::builder(recording).build();
/// let store = pods.store_synced();
/// tokio::select! {
///     _ = store.synced() => assert_eq!(pods.lister().len(), 1),
///     () = pods.run(Default::default()) => {}
/// }
/// # }
/// ```
pub trait ListWatch: Send + Sync + 'static {
    /// Requests a list of a resource in `namespace`, or in all namespaces if `None`. The URL has
    /// [`ListParams::path_and_query`], and the header `Accept` is [`Accept::header`](kube_wire::Accept::header) of
    /// `params.accept`.
    ///
    /// # Errors
    ///
    /// No response, or one with an error status or an unknown content type.
    fn list<'a>(
        &'a self,
        resource: &'a Resource,
        namespace: Option<&'a str>,
        params: &'a ListParams,
    ) -> ListWatchFuture<'a>;

    /// Opens a watch of a resource in `namespace`, or in all namespaces if `None`. The URL has
    /// [`WatchParams::path_and_query`], and the header `Accept` is [`Accept::header`](kube_wire::Accept::header) of
    /// `params.accept`.
    ///
    /// # Errors
    ///
    /// Those of [`list`](Self::list).
    fn watch<'a>(
        &'a self,
        resource: &'a Resource,
        namespace: Option<&'a str>,
        params: &'a WatchParams,
    ) -> ListWatchFuture<'a>;

    /// Reads one object, in JSON; `namespace` is empty for cluster-scoped resources. The URL has
    /// [`Resource::object_path`]. Called only by informers with a [`Guard`](crate::Guard).
    ///
    /// # Errors
    ///
    /// Those of [`list`](Self::list).
    fn get<'a>(&'a self, resource: &'a Resource, namespace: &'a str, name: &'a str) -> ListWatchFuture<'a>;

    /// Waits before the informer repeats a request whose failure was the server's: no response, 429, or a status of 500 or
    /// above. `requested` is the delay that the server requests with a 429, at most 30 s.
    ///
    /// By default, each informer waits for `requested`, or for a random time from 0.5 s to 2 s. A source that several
    /// informers share can let them retry one at a time, and end the wait when a request of another succeeds, as the
    /// client of `kube-controller-client` does.
    fn wait_to_retry(&self, requested: Option<Duration>) -> BoxFuture<'_, ()> {
        sleep(requested.unwrap_or_else(|| MAX_RETRY_DELAY.mul_f64(kube_ambient::random_range(0.25..1.0)))).boxed()
    }

    /// Returns the encoding to request for types that have a protobuf decoder; protobuf by default. If the server has no
    /// protobuf for a resource, the informer requests JSON.
    fn encoding(&self) -> Encoding {
        Encoding::Protobuf
    }

    /// Returns whether the responses have the metadata of the objects alone, as lists and objects of the kind
    /// `PartialObjectMetadata`; `false` by default.
    fn is_metadata_only(&self) -> bool {
        false
    }

    /// Returns the context to decode objects in; none by default.
    fn decode_context(&self) -> Option<Arc<dyn DecodeContext>> {
        None
    }
}

/// Future of the response to one request of a [`ListWatch`].
pub type ListWatchFuture<'a> = BoxFuture<'a, Result<ListWatchResponse, ListWatchError>>;

/// Body of a successful response of a [`ListWatch`], in chunks of any size.
pub struct ListWatchResponse {
    encoding: Encoding,
    chunks: Pin<Box<dyn Stream<Item = Result<Bytes, ListWatchError>> + Send>>,
}

impl ListWatchResponse {
    /// Returns a response that arrives in chunks. `encoding` is the one of its content type.
    pub fn new(encoding: Encoding, chunks: impl Stream<Item = Result<Bytes, ListWatchError>> + Send + 'static) -> Self {
        Self { encoding, chunks: Box::pin(chunks) }
    }

    /// Returns a response that has arrived.
    pub fn complete(encoding: Encoding, body: impl Into<Bytes>) -> Self {
        Self::new(encoding, stream::iter([Ok(body.into())]))
    }

    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    pub(crate) async fn next(&mut self) -> Option<Result<Bytes, ListWatchError>> {
        self.chunks.next().await
    }

    pub(crate) async fn collect(mut self) -> Result<Vec<u8>, ListWatchError> {
        let mut body = Vec::new();
        while let Some(chunk) = self.next().await {
            body.extend_from_slice(&chunk?);
        }
        Ok(body)
    }
}

impl fmt::Debug for ListWatchResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListWatchResponse").field("encoding", &self.encoding).finish_non_exhaustive()
    }
}
