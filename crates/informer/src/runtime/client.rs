//! A client whose writes enter the caches.

use std::sync::{Arc, PoisonError, RwLock};

use http::{Request, Response};
use http_body_util::BodyExt as _;
use kube::{Client, client::Body};

use super::{
    answer::{based_on, is_dry_run},
    target::Target,
    writes::Writable,
};

/// Caches that writes enter.
pub(super) type Registry = Arc<RwLock<Vec<Arc<dyn Writable>>>>;

/// Returns a client that sends all requests through `client`, and passes the answers to writes to the caches before it returns
/// them.
pub(super) fn observed(client: &Client, registry: Registry) -> Client {
    let (namespace, valid_until) = (client.default_namespace().to_owned(), *client.valid_until());
    let client = client.clone();
    let service = tower::service_fn(move |request: Request<Body>| {
        let changed: Vec<_> = registry
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .filter_map(|cache| Some((cache.target(request.method(), request.uri())?, cache.clone())))
            .collect();
        send(client.clone(), changed, request)
    });
    Client::new(service, namespace).with_valid_until(valid_until)
}

/// Sends a request, which changes objects of these caches.
async fn send(
    client: Client,
    mut changed: Vec<(Target, Arc<dyn Writable>)>,
    request: Request<Body>,
) -> Result<Response<Body>, kube::Error> {
    if changed.is_empty() {
        return client.send(request).await;
    }
    let (head, body) = request.into_parts();
    let body = body.collect_bytes().await?;
    changed.retain(|(target, _)| !(target.deletes && is_dry_run(&body)));
    let based_on = based_on(&body);
    let (head, body) = client.send(Request::from_parts(head, body.into())).await?.into_parts();
    let body = body.collect().await?.to_bytes();
    for (target, cache) in changed {
        cache.answered(&target, based_on.clone(), (head.status, &body)).await;
    }
    Ok(Response::from_parts(head, body.into()))
}
