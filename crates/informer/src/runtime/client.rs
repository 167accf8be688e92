//! A client whose writes enter the caches.

use std::sync::{Arc, PoisonError, RwLock};

use http::{Request, Response};
use http_body_util::BodyExt as _;
use kube::{Client, client::Body};

use super::writes::Writable;

/// Caches that writes enter.
pub(super) type Registry = Arc<RwLock<Vec<Arc<dyn Writable>>>>;

/// Returns a client that sends all requests through `client`, and passes the responses to writes to the caches before it
/// returns them.
pub(super) fn observed(client: &Client, registry: Registry) -> Client {
    let namespace = client.default_namespace().to_owned();
    let client = client.clone();
    let service = tower::service_fn(move |request| send(client.clone(), registry.clone(), request));
    Client::new(service, namespace)
}

async fn send(client: Client, registry: Registry, request: Request<Body>) -> Result<Response<Body>, kube::Error> {
    let changed: Vec<_> = registry
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .iter()
        .filter_map(|cache| Some((cache.target(request.method(), request.uri())?, cache.clone())))
        .collect();
    let response = client.send(request).await?;
    if changed.is_empty() {
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    let body = body.collect().await?.to_bytes();
    for (target, cache) in changed {
        cache.answered(&target, parts.status, &body);
    }
    Ok(Response::from_parts(parts, body.into()))
}
