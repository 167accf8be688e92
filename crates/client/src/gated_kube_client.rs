//! A client of `kube` behind a write gate.

use std::sync::Arc;

use http::{Method, Request, header::UPGRADE};
use kube::client::Body;
use tower::BoxError;

use crate::{WriteGate, gate::Gate};

/// Error of a write of a [gated client of `kube`](gated_kube_client) whose gate is closed: this process is not the leader.
/// The request was not sent, or was dropped before the response; in the latter case the server may have applied it.
///
/// The client returns it as the source of a `kube::Error::Service`:
///
/// ```
/// use kube_controller_client::NotLeading;
///
/// fn is_not_leading(error: &kube::Error) -> bool {
///     matches!(error, kube::Error::Service(source) if source.is::<NotLeading>())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{method} {path}: not sent, or no answer waited for: this process does not lead")]
#[non_exhaustive]
pub struct NotLeading {
    /// Method of the request.
    pub method: Method,
    /// Path of the request, without its query.
    pub path: String,
}

/// Returns a client of `kube` whose writes fail with [`NotLeading`] while `gate` is closed: the counterpart of
/// [`Client::gated`](crate::Client::gated) for `kube::Api` and `kube::runtime`. `client` itself stays without a gate.
///
/// Reads are not gated: requests with the methods GET and HEAD, watches included. All others are, also those that change
/// no object, such as reviews, token requests and dry runs, and requests to upgrade a connection (`exec`, `attach`,
/// `portforward`). Send those that a standby needs through `client`.
///
/// The gate is checked each time a write is polled, and the write is dropped when the gate closes: one that waits for a
/// connection, or for a retry of `kube`, is not sent later. A write already sent may have been applied by the server, and an
/// upgraded connection stays open. A layer of `client` that sends requests in a task of its own is not covered.
///
/// # Panics
///
/// Outside of a tokio runtime, as `kube::Client::new`.
pub fn gated_kube_client(client: kube::Client, gate: Arc<dyn WriteGate>) -> kube::Client {
    let (namespace, valid_until) = (client.default_namespace().to_owned(), *client.valid_until());
    let gate = Gate(Some(gate));
    let service = tower::service_fn(move |request: Request<Body>| {
        let (client, gate) = (client.clone(), gate.clone());
        async move {
            if is_read(&request) {
                return client.send(request).await.map_err(BoxError::from);
            }
            let (method, path) = (request.method().clone(), request.uri().path().to_owned());
            match gate.run_while_open(client.send(request)).await {
                Some(answer) => answer.map_err(BoxError::from),
                None => Err(NotLeading { method, path }.into()),
            }
        }
    });
    kube::Client::new(service, namespace).with_valid_until(valid_until)
}

/// Whether a request only reads. `kube` executes commands in containers with the method GET, on an upgraded connection.
fn is_read(request: &Request<Body>) -> bool {
    matches!(*request.method(), Method::GET | Method::HEAD) && !request.headers().contains_key(UPGRADE)
}
