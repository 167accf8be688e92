//! The client of `kube` as a source.

use std::time::Duration;

use bytes::Bytes;
use futures::TryStreamExt as _;
use http::{
    HeaderMap, Request, Response,
    header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER},
};
use http_body_util::{BodyDataStream, BodyExt as _};
use kube::{Client, Error, client::Body};
use kube_wire::{Accept, Encoding, ListParams, Resource, Status, WatchParams};
use tokio::time::timeout;

use super::{ListWatch, ListWatchError, ListWatchResponse};

/// Maximum time until a response starts, and until the body of an error has arrived, as in `kube-controller-client`.
/// `kube` has no such bound by default.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(90);

/// Requests go through the connections, credentials and layers of the client. A read timeout of the client, which `kube`
/// does not set by default, ends quiet watches; the informer resumes them.
impl ListWatch for Client {
    async fn list(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        params: &ListParams,
    ) -> Result<ListWatchResponse, ListWatchError> {
        open(self, "list", &params.path_and_query(resource, namespace), params.accept).await
    }

    async fn watch(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        params: &WatchParams,
    ) -> Result<ListWatchResponse, ListWatchError> {
        open(self, "watch", &params.path_and_query(resource, namespace), params.accept).await
    }

    async fn get(&self, resource: &Resource, namespace: &str, name: &str) -> Result<ListWatchResponse, ListWatchError> {
        open(self, "get", &resource.object_path(namespace, name), Accept::default()).await
    }
}

/// Sends a GET request and returns a successful response.
async fn open(
    client: &Client,
    verb: &'static str,
    path_and_query: &str,
    accept: Accept,
) -> Result<ListWatchResponse, ListWatchError> {
    let path = path_and_query.split('?').next().unwrap_or_default();
    // `kube` repeats the message of a source in its own, so that the source is left out.
    let message = move |error: &dyn std::error::Error| format!("{verb} {path}: {error}");
    let request = Request::get(path_and_query).header(ACCEPT, accept.header()).body(Body::empty());
    let request = request.map_err(|error| ListWatchError::other(message(&error)))?;
    let response = timeout(RESPONSE_TIMEOUT, client.send(request)).await.map_err(|_| {
        ListWatchError::unreachable(format!("{verb} {path}: no response within {} s", RESPONSE_TIMEOUT.as_secs()))
    })?;
    let response = response.map_err(|error| match &error {
        Error::Service(_) | Error::HyperError(_) => ListWatchError::unreachable(message(&error)),
        _ => ListWatchError::other(message(&error)),
    })?;
    let encoding = encoding_of(response.headers());
    if !response.status().is_success() {
        let status = status_of(response, encoding.unwrap_or_default()).await;
        let message = format!("{verb} {path}: {status}");
        return Err(ListWatchError::status(status, message));
    }
    let encoding =
        encoding.map_err(|found| ListWatchError::other(format!("{verb} {path}: unexpected content type {found}")))?;
    let path = path.to_owned();
    let chunks = BodyDataStream::new(response.into_body())
        .map_err(move |error| ListWatchError::unreachable(format!("{verb} {path}: {error}")));
    Ok(ListWatchResponse::new(encoding, chunks))
}

/// Returns the encoding in `Content-Type`, JSON if the header is absent, or the header value as the error.
fn encoding_of(headers: &HeaderMap) -> Result<Encoding, String> {
    let Some(header) = headers.get(CONTENT_TYPE) else { return Ok(Encoding::Json) };
    let header = String::from_utf8_lossy(header.as_bytes());
    Encoding::of_content_type(&header).ok_or_else(|| header.into_owned())
}

/// Returns the status of a response that is not successful. If the body cannot be read, the code alone makes it.
async fn status_of(response: Response<Body>, encoding: Encoding) -> Status {
    let (head, body) = response.into_parts();
    let body = match timeout(RESPONSE_TIMEOUT, body.collect()).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(_)) | Err(_) => Bytes::default(),
    };
    let phrase = head.status.canonical_reason().unwrap_or("<unknown status code>");
    let mut status = Status::of_response(head.status.as_u16(), phrase, encoding, &body);
    let retry_after = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    if let Some(seconds) = retry_after {
        status.set_retry_after(seconds);
    }
    status
}

#[cfg(test)]
mod tests {
    use std::{future::ready, io};

    use rstest::rstest;
    use tower::BoxError;

    use super::*;
    use crate::list_watch::error::Class;

    const PODS: Resource = Resource::namespaced("", "v1", "pods", "Pod");

    /// Returns a client with one response to all requests.
    fn client(respond: impl Fn(Request<Body>) -> Result<Response<Body>, BoxError> + Clone + Send + 'static) -> Client {
        let service = tower::service_fn(move |request| ready(respond(request)));
        Client::new(service, "default")
    }

    fn response(code: u16, header: (&'static str, &'static str), body: &'static str) -> Response<Body> {
        let response = Response::builder().status(code).header(header.0, header.1);
        response.body(Body::from(body.as_bytes().to_vec())).expect("a response")
    }

    #[tokio::test]
    async fn requests_are_those_of_the_parameters() {
        let client = client(|request| {
            let accept = request.headers()[ACCEPT].to_str().unwrap_or_default();
            let body = format!("{} {} {accept}", request.method(), request.uri());
            Ok(Response::new(Body::from(body.into_bytes())))
        });
        let params = WatchParams { accept: Encoding::Protobuf.into(), ..WatchParams::default() };
        let body = client.watch(&PODS, Some("shop"), &params).await.expect("succeeds").collect().await.expect("a body");
        assert_eq!(
            String::from_utf8_lossy(&body),
            "GET /api/v1/namespaces/shop/pods?watch=true application/vnd.kubernetes.protobuf,application/json"
        );
        let body = client.get(&PODS, "shop", "web").await.expect("succeeds").collect().await.expect("a body");
        assert_eq!(String::from_utf8_lossy(&body), "GET /api/v1/namespaces/shop/pods/web application/json");
    }

    #[rstest]
    #[case::status(
        response(410, ("content-type", "application/json"), r#"{"kind":"Status","code":410,"reason":"Expired","message":"too old"}"#),
        "list /api/v1/pods: too old"
    )]
    #[case::page_of_a_proxy(
        response(502, ("content-type", "text/html"), "<html>"),
        "list /api/v1/pods: the server answered 502 Bad Gateway: <html>"
    )]
    #[case::no_api_server(
        response(200, ("content-type", "text/html"), "<html>"),
        "list /api/v1/pods: unexpected content type text/html"
    )]
    #[tokio::test]
    async fn error_names_the_call_and_the_response(#[case] response: Response<Body>, #[case] expect: &str) {
        let response = std::sync::Mutex::new(Some(response));
        let response = std::sync::Arc::new(response);
        let client = client(move |_| response.lock().expect("lock").take().ok_or_else(|| "one request".into()));
        let error = client.list(&PODS, None, &ListParams::default()).await.expect_err("succeeded");
        assert_eq!(error.to_string(), expect);
    }

    #[tokio::test]
    async fn delay_of_the_header_is_kept() {
        let client = client(|_| Ok(response(429, ("retry-after", "7"), "")));
        let error = client.list(&PODS, None, &ListParams::default()).await.expect_err("succeeded");
        let Class::Status(status) = error.class() else { panic!("{error:?}") };
        assert_eq!((status.code, status.details.as_ref().map(|it| it.retry_after_seconds)), (429, Some(7)));
    }

    #[tokio::test(start_paused = true)]
    async fn no_response_means_unreachable() {
        let refused = client(|_| Err(io::Error::from(io::ErrorKind::ConnectionRefused).into()));
        let error = refused.list(&PODS, None, &ListParams::default()).await.expect_err("succeeded");
        assert!(matches!(error.class(), Class::Unreachable), "{error:?}");
        assert_eq!(error.to_string(), "list /api/v1/pods: ServiceError: connection refused");

        let silent = Client::new(
            tower::service_fn(|_: Request<Body>| std::future::pending::<Result<Response<Body>, BoxError>>()),
            "default",
        );
        let error = silent.list(&PODS, None, &ListParams::default()).await.expect_err("succeeded");
        assert!(matches!(error.class(), Class::Unreachable), "{error:?}");
        assert_eq!(error.to_string(), "list /api/v1/pods: no response within 90 s");
    }
}
