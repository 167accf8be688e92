//! HTTP client for the tests.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, request};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client as Http;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kube_dev_apiserver::{Config, Server};
use serde_json::{Value, json};

/// Time after which a wait fails. Only a hang reaches it, on any machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(300);

pub(crate) const PODS: &str = "/api/v1/namespaces/default/pods";
pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
pub(crate) const SERVICES: &str = "/api/v1/namespaces/default/services";
pub(crate) const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

/// A server and an HTTP client for it.
pub(crate) struct TestApi {
    pub(crate) server: Server,
    http: Http<HttpConnector, Full<Bytes>>,
    /// Bearer token to send.
    pub(crate) token: Option<String>,
}

impl TestApi {
    pub(crate) async fn start(config: Config) -> Self {
        let server = Server::start(config).await.unwrap();
        Self { server, http: Http::builder(TokioExecutor::new()).build_http(), token: None }
    }

    /// Retries until the client has replaced its reset connections.
    pub(crate) async fn reconnect(&self) {
        while self.try_send(Method::GET, "/version", "", String::new()).await.is_err() {}
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        media_type: &str,
        body: String,
    ) -> http::Response<Incoming> {
        self.try_send(method, path, media_type, body).await.unwrap()
    }

    /// Sends a request; fails if the connection does.
    pub(crate) async fn try_send(
        &self,
        method: Method,
        path: &str,
        media_type: &str,
        body: String,
    ) -> Result<http::Response<Incoming>, hyper_util::client::legacy::Error> {
        let request = self
            .request(method, path, media_type)
            .header("user-agent", "it/1 (test)")
            .header("authorization", self.token.as_ref().map_or_else(String::new, |token| format!("Bearer {token}")))
            .body(Full::new(Bytes::from(body)))
            .unwrap();
        self.http.request(request).await
    }

    /// Sends JSON and returns the status code and the response: JSON, or plain text as a string.
    pub(crate) async fn json(&self, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let media_type = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
        let body = if body.is_null() { String::new() } else { body.to_string() };
        answer(self.send(method, path, media_type, body).await).await
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        self.json(Method::GET, path, &Value::Null).await
    }

    /// Sends a GET with an `Accept` header, and returns status code, content type and JSON.
    pub(crate) async fn get_as(&self, path: &str, accept: &str) -> (u16, String, Value) {
        let response = self.send_as(Method::GET, path, "", accept, String::new()).await;
        let content_type = response.headers()["content-type"].to_str().unwrap().to_owned();
        let (code, body) = answer(response).await;
        (code, content_type, body)
    }

    pub(crate) async fn send_as(
        &self,
        method: Method,
        path: &str,
        media_type: &str,
        accept: &str,
        body: impl Into<Bytes>,
    ) -> http::Response<Incoming> {
        let request = self.request(method, path, media_type).header("accept", accept);
        self.http.request(request.body(Full::new(body.into())).unwrap()).await.unwrap()
    }

    fn request(&self, method: Method, path: &str, media_type: &str) -> request::Builder {
        let url = format!("{}{path}", self.server.url());
        Request::builder().method(method).uri(url).header("content-type", media_type)
    }

    pub(crate) async fn create(&self, path: &str, object: Value) -> Value {
        let (code, object) = self.json(Method::POST, path, &object).await;
        assert_eq!(code, 201, "{object}");
        object
    }

    pub(crate) async fn watch(&self, path: &str) -> Events {
        let response = self.send(Method::GET, path, "", String::new()).await;
        assert_eq!(response.status(), 200);
        Events::of(response)
    }
}

pub(crate) fn named(name: &str) -> Value {
    json!({"metadata": {"name": name}})
}

/// Returns status code and body of a response: JSON, or plain text as a string.
pub(crate) async fn answer(response: http::Response<Incoming>) -> (u16, Value) {
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let text = || String::from_utf8_lossy(&bytes).into_owned();
    (code, serde_json::from_slice(&bytes).unwrap_or_else(|_| text().into()))
}

/// Reader of the events of a watch.
pub(crate) struct Events {
    body: Incoming,
    buffer: Vec<u8>,
}

impl Events {
    pub(crate) fn of(response: http::Response<Incoming>) -> Self {
        Self { body: response.into_body(), buffer: Vec::new() }
    }

    /// Returns the next event; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        self.try_next().await.unwrap()
    }

    /// Returns the next event; fails if the stream is aborted.
    pub(crate) async fn try_next(&mut self) -> Result<Option<Value>, hyper::Error> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Ok(Some(serde_json::from_slice(&line).unwrap()));
            }
            let frame = tokio::time::timeout(LIMIT, self.body.frame());
            let Some(frame) = frame.await.expect("no event") else { return Ok(None) };
            let frame = frame?;
            self.buffer.extend_from_slice(&frame.into_data().unwrap());
        }
    }

    /// Returns the next event as `TYPE name`; for a bookmark, as `BOOKMARK version`; `END` at the end of the stream.
    pub(crate) async fn next_short(&mut self) -> String {
        let Some(event) = self.next().await else { return "END".to_owned() };
        let meta = &event["object"]["metadata"];
        let what = meta["name"].as_str().or(meta["resourceVersion"].as_str()).unwrap_or_default();
        format!("{} {what}", event["type"].as_str().unwrap())
    }
}
