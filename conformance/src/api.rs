//! Requests as values, and what sends them.

use anyhow::{Context as _, Result, anyhow, bail};
use http::{Method, StatusCode};
use kube_controller_client::{Client, ClientOptions, Config};
use serde::Deserialize;
use serde_json::Value;

use crate::Kind;

/// A request to the API server.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// Path and query.
    pub path: String,
    /// What the body is, if there is one.
    pub body: Option<(&'static str, Value)>,
}

impl Request {
    /// Reads `path`.
    pub fn get(path: String) -> Self {
        Self { method: Method::GET, path, body: None }
    }

    /// Creates an object in the collection at `path`.
    pub fn create(path: String, object: Value) -> Self {
        Self { method: Method::POST, path, body: Some(("application/json", object)) }
    }

    /// Applies a JSON merge patch to the object at `path`.
    pub fn merge(path: String, patch: Value) -> Self {
        Self { method: Method::PATCH, path, body: Some(("application/merge-patch+json", patch)) }
    }

    /// Deletes the object at `path`, with the options given.
    pub fn delete(path: String, options: Option<Value>) -> Self {
        Self { method: Method::DELETE, path, body: options.map(|options| ("application/json", options)) }
    }
}

/// A list as the API server gives it.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct List {
    /// About the list.
    #[serde(default)]
    pub metadata: ListMetadata,
    /// The objects, in the server's order.
    #[serde(default)]
    pub items: Vec<Value>,
}

/// What a list says of itself.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListMetadata {
    /// Watches begin here.
    pub resource_version: String,
}

/// A connection to an API server, without a limit on requests.
#[derive(Debug, Clone)]
pub struct Api {
    client: Client,
}

impl Api {
    /// Sets up the connection; nothing is sent yet.
    pub fn new(config: &Config) -> Result<Self> {
        let options = ClientOptions {
            user_agent: "kube-endpoints-conformance".to_owned(),
            qps: 0.0,
            burst: 0,
            ..ClientOptions::default()
        };
        Ok(Self { client: Client::new(config, options)? })
    }

    /// The client, for what is not a single request.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Sends a request and returns the code and the document that came back.
    pub async fn send(&self, request: Request) -> Result<(StatusCode, Value)> {
        let Request { method, path, body } = request;
        let (content_type, body) = match body {
            Some((content_type, body)) => (Some(content_type), serde_json::to_vec(&body)?),
            None => (None, Vec::new()),
        };
        let (code, answer) = self.client.raw(method, &path, content_type, body).await?;
        // Errors of proxies and of unknown paths are not JSON; the code says enough then.
        Ok((code, serde_json::from_slice(&answer).unwrap_or_default()))
    }

    /// Sends a request that has to succeed.
    pub async fn ok(&self, request: Request) -> Result<Value> {
        let what = format!("{} {}", request.method, request.path);
        let (code, answer) = self.send(request).await?;
        if code.is_success() {
            return Ok(answer);
        }
        bail!("{what}: {code}: {}", answer.get("message").and_then(Value::as_str).unwrap_or("no explanation"))
    }

    /// Lists all objects of a kind in a namespace, or in all of them (`""`).
    pub async fn list(&self, kind: Kind, namespace: &str, query: &str) -> Result<List> {
        let path = kind.collection(namespace) + query;
        let what = anyhow!("GET {path}: not a list");
        let answer = self.ok(Request::get(path)).await?;
        List::deserialize(answer).context(what)
    }
}
