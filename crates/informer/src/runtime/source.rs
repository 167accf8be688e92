//! A client of `kube` as a source.

use std::time::Duration;

use futures::TryStreamExt as _;
use http::{
    HeaderValue, Request,
    header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER},
};
use http_body_util::{BodyDataStream, BodyExt as _};
use kube::{Client, client::Body};
use kube_wire::{Accept, Encoding, ListParams, Resource, Status, WatchParams, retry_after_seconds};
use tokio::time::timeout;

use crate::{ListWatch, ListWatchError, ListWatchFuture, ListWatchResponse};

/// Maximum time from a request to the head of its response, and to the end of an error response: kube-apiserver ends each
/// request except watches after 60 s.
const TIMEOUT: Duration = Duration::from_secs(90);

/// Lists and watches through a client of `kube`, with its connections, credentials and layers.
#[derive(Clone)]
pub(super) struct KubeSource {
    client: Client,
    /// Whether only the metadata of objects are requested.
    is_metadata_only: bool,
}

impl KubeSource {
    pub(super) fn new<K: kube::Resource>(client: Client) -> Self {
        Self { client, is_metadata_only: K::metadata_api() }
    }

    /// Requests objects, or lists, which have the suffix `List`.
    async fn open(&self, path: String, accept: Accept, suffix: &str) -> Result<ListWatchResponse, ListWatchError> {
        let accept = match accept.header() {
            accept if self.is_metadata_only => format!("{accept};as=PartialObjectMetadata{suffix};g=meta.k8s.io;v=v1"),
            accept => accept.to_owned(),
        };
        let request = Request::get(path).header(ACCEPT, accept).body(Body::empty());
        let request = request.map_err(ListWatchError::other)?;
        let response = match timeout(TIMEOUT, self.client.send(request)).await {
            Ok(response) => response.map_err(ListWatchError::unreachable)?,
            Err(_) => {
                return Err(ListWatchError::unreachable(format!("no response within {} s", TIMEOUT.as_secs())));
            }
        };
        let (head, body) = response.into_parts();
        let encoding = Encoding::of_response(head.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes));
        if head.status.is_success() {
            let encoding =
                encoding.map_err(|found| ListWatchError::other(format!("unexpected content type {found}")))?;
            let chunks = BodyDataStream::new(body).map_err(ListWatchError::unreachable);
            return Ok(ListWatchResponse::new(encoding, chunks));
        }
        // If the body cannot be read, the status code alone makes the error.
        let body = match timeout(TIMEOUT, body.collect()).await {
            Ok(Ok(body)) => body.to_bytes(),
            _ => bytes::Bytes::new(),
        };
        let phrase = head.status.canonical_reason().unwrap_or("<unknown status code>");
        let mut status = Status::of_response(head.status.as_u16(), phrase, encoding.unwrap_or_default(), &body);
        let retry_after = head.headers.get(RETRY_AFTER).and_then(|it| it.to_str().ok());
        if let Some(seconds) = retry_after.and_then(retry_after_seconds) {
            status.set_retry_after(seconds);
        }
        let message = status.to_string();
        Err(ListWatchError::status(status, message))
    }
}

impl ListWatch for KubeSource {
    fn list<'a>(
        &'a self,
        resource: &'a Resource,
        namespace: Option<&'a str>,
        params: &'a ListParams,
    ) -> ListWatchFuture<'a> {
        Box::pin(self.open(params.path_and_query(resource, namespace), params.accept, "List"))
    }

    fn watch<'a>(
        &'a self,
        resource: &'a Resource,
        namespace: Option<&'a str>,
        params: &'a WatchParams,
    ) -> ListWatchFuture<'a> {
        Box::pin(self.open(params.path_and_query(resource, namespace), params.accept, ""))
    }

    fn get<'a>(&'a self, resource: &'a Resource, namespace: &'a str, name: &'a str) -> ListWatchFuture<'a> {
        Box::pin(self.open(resource.object_path(namespace, name), Accept::default(), ""))
    }

    fn encoding(&self) -> Encoding {
        Encoding::Json
    }

    fn is_metadata_only(&self) -> bool {
        self.is_metadata_only
    }
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, future::ready};

    use http::Response;
    use http_body_util::Full;
    use k8s_openapi::api::core::v1::Pod;
    use kube::core::PartialObjectMeta;
    use rstest::rstest;

    use super::*;
    use crate::list_watch::Class;

    const PODS: Resource = Resource::namespaced("", "v1", "pods", "Pod");

    #[tokio::test]
    async fn metadata_are_requested_alone() {
        let serve = |request: Request<Body>| {
            let accept = request.headers()[ACCEPT].to_str().expect("text").to_owned();
            let response = Response::builder().header("content-type", "application/json");
            ready(Ok::<_, Infallible>(response.body(Full::from(accept)).expect("a response")))
        };
        let source = KubeSource::new::<PartialObjectMeta<Pod>>(Client::new(tower::service_fn(serve), "default"));
        let accept = Accept { without_managed_fields: true, ..Accept::default() };
        let list = ListParams { accept, ..ListParams::default() };
        let bodies = [
            source.list(&PODS, None, &list).await.unwrap().collect().await.unwrap(),
            source.watch(&PODS, None, &WatchParams::default()).await.unwrap().collect().await.unwrap(),
            source.get(&PODS, "shop", "web").await.unwrap().collect().await.unwrap(),
        ];
        let json = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
        let dropping = "application/json;drop=metadata.managedFields;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
        assert_eq!(bodies.map(|it| String::from_utf8(it).expect("UTF-8")), [dropping, json, json]);
    }

    async fn listed(
        code: u16,
        header: (&'static str, &'static str),
        body: &'static str,
    ) -> Result<String, ListWatchError> {
        let serve = move |request: Request<Body>| {
            assert_eq!(request.uri(), "/api/v1/namespaces/shop/pods?limit=1");
            assert_eq!(request.headers()[ACCEPT], "application/json");
            let response = Response::builder().status(code).header(header.0, header.1);
            ready(Ok::<_, Infallible>(response.body(Full::from(body)).expect("a response")))
        };
        let source = KubeSource::new::<Pod>(Client::new(tower::service_fn(serve), "default"));
        let params = ListParams { limit: Some(1), ..ListParams::default() };
        let body = source.list(&PODS, Some("shop"), &params).await?.collect().await?;
        Ok(String::from_utf8(body).expect("UTF-8"))
    }

    #[tokio::test]
    async fn a_list_is_the_body() {
        assert_eq!(listed(200, ("content-type", "application/json"), "{}").await.unwrap(), "{}");
    }

    #[rstest]
    #[case::status(403, ("x", ""), r#"{"kind":"Status","code":403,"message":"pods is forbidden"}"#, "pods is forbidden", 0)]
    #[case::page(502, ("content-type", "text/html"), "<html>", "the server answered 502 Bad Gateway: <html>", 0)]
    #[case::busy(429, ("retry-after", "7"), "{}", "the server answered 429 Too Many Requests: {}", 7)]
    #[case::late(429, ("retry-after", "86400"), "{}", "the server answered 429 Too Many Requests: {}", 30)]
    #[tokio::test]
    async fn an_error_has_the_status(
        #[case] code: u16,
        #[case] header: (&'static str, &'static str),
        #[case] body: &'static str,
        #[case] message: &str,
        #[case] retry_after: u32,
    ) {
        let error = listed(code, header, body).await.unwrap_err();
        let Class::Status(status) = error.class() else { panic!("{error:?}") };
        let seconds = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
        assert_eq!((&*error.to_string(), status.code, seconds), (message, code, retry_after));
    }

    #[tokio::test]
    async fn a_page_of_a_proxy_is_no_list() {
        let error = listed(200, ("content-type", "text/html"), "<html>").await.unwrap_err();
        assert_eq!(error.to_string(), "unexpected content type text/html");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_does_not_answer_is_unreachable() {
        let serve = |_: Request<Body>| std::future::pending::<Result<Response<Full<bytes::Bytes>>, Infallible>>();
        let source = KubeSource::new::<Pod>(Client::new(tower::service_fn(serve), "default"));
        let error = source.watch(&PODS, None, &WatchParams::default()).await.unwrap_err();
        assert!(matches!(error.class(), Class::Unreachable), "{error:?}");
    }
}
