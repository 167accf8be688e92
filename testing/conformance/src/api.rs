//! Requests to an API server, and the client that sends them.

use anyhow::{Result, bail};
use http::{Method, StatusCode};
use kube_controller_client::{Client, ClientOptions, Config};
use serde_json::Value;

use crate::Kind;

/// User agent of the player.
pub(crate) const PLAYER: &str = "kube-endpoints-conformance";

/// A request to the API server.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// HTTP method.
    pub method: Method,
    /// Path and query.
    pub path: String,
    /// Content type and document of the body, if there is one.
    pub body: Option<(&'static str, Value)>,
}

impl Request {
    /// Returns a GET of `path`.
    pub fn get(path: String) -> Self {
        Self { method: Method::GET, path, body: None }
    }

    /// Returns a POST of an object to the collection at `path`.
    pub fn create(path: String, object: Value) -> Self {
        Self { method: Method::POST, path, body: Some(("application/json", object)) }
    }

    /// Returns a PATCH of the object at `path` with a JSON merge patch.
    pub fn merge(path: String, patch: Value) -> Self {
        Self { method: Method::PATCH, path, body: Some(("application/merge-patch+json", patch)) }
    }

    /// Returns a DELETE of the object at `path`, with these `DeleteOptions`.
    pub fn delete(path: String, options: Option<Value>) -> Self {
        Self { method: Method::DELETE, path, body: options.map(|options| ("application/json", options)) }
    }
}

/// Client of an API server, without rate limit.
#[derive(Debug, Clone)]
pub struct Api {
    client: Client,
}

impl Api {
    /// Creates a client. Nothing is sent yet.
    ///
    /// # Errors
    /// The configuration cannot be used.
    pub fn new(config: &Config) -> Result<Self> {
        let options = ClientOptions { user_agent: PLAYER.to_owned(), qps: 0.0, burst: 0, ..ClientOptions::default() };
        Ok(Self { client: Client::new(config, options)? })
    }

    /// Returns the underlying client, for watches.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Sends a request. Returns the status code and the document of the response; null if the body is not JSON.
    ///
    /// # Errors
    /// The server cannot be reached or does not answer.
    pub async fn send(&self, request: Request) -> Result<(StatusCode, Value)> {
        let Request { method, path, body } = request;
        let (content_type, body) = match body {
            Some((content_type, body)) => (Some(content_type), serde_json::to_vec(&body)?),
            None => (None, Vec::new()),
        };
        let (code, answer) = self.client.raw(method, &path, content_type, body).await?;
        // Errors of proxies and of unknown paths are not JSON; for them the status code is sufficient.
        Ok((code, serde_json::from_slice(&answer).unwrap_or_default()))
    }

    /// Sends a request and returns the document of the response.
    ///
    /// # Errors
    /// As [`send`](Self::send), or the status code is not 2xx. The error contains the message of the server.
    pub async fn ok(&self, request: Request) -> Result<Value> {
        let what = format!("{} {}", request.method, request.path);
        let (code, answer) = self.send(request).await?;
        if code.is_success() {
            return Ok(answer);
        }
        bail!("{what}: {code}: {}", answer.get("message").and_then(Value::as_str).unwrap_or("no message"))
    }

    /// Lists the objects of a kind in a namespace, or in all namespaces (`""`). `query` is appended to the path, such
    /// as `?labelSelector=app`.
    ///
    /// # Errors
    /// As [`ok`](Self::ok).
    pub async fn list(&self, kind: Kind, namespace: &str, query: &str) -> Result<Vec<Value>> {
        match self.ok(Request::get(kind.collection(namespace) + query)).await?["items"].take() {
            Value::Array(items) => Ok(items),
            _ => Ok(Vec::new()),
        }
    }
}
