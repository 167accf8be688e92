//! Routes requests: authenticates and authorizes them, then answers by path.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::ACCEPT;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use kube_controller::Health;
use prometheus::Registry;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::authentication::{Authentication, Identity};
use super::authorization::{Authorization, Decision};
use super::exposition;
use super::metrics::{Limit, ServingMetrics};
use super::pages::Pages;
use super::peer::Peer;
use super::response::{self, Response};
use super::shadow_page::ShadowPage;
use super::user::User;

/// Path of the metrics of health checks.
const SLIS: &str = "/metrics/slis";
/// Maximum number of responses, except those of probes, that are being sent. Bounds the memory that clients can use which
/// do not read them.
const MAX_RESPONSES: usize = 8;
/// Time for which a request waits for another response to be sent.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Everything needed to answer a request.
pub(super) struct Routes {
    pub(super) authentication: Authentication,
    pub(super) authorization: Authorization,
    pub(super) health: Health,
    pub(super) registry: Registry,
    pub(super) pages: Pages,
    pub(super) shadow: ShadowPage,
    pub(super) metrics: ServingMetrics,
    pub(super) responses: Responses,
}

/// A response, and whether its client is authenticated.
pub(super) struct Answer {
    pub(super) response: Response,
    pub(super) authenticated: bool,
}

impl Routes {
    /// Answers a request. `certificate` is the user of the connection's verified client certificate; without one, the
    /// headers decide. Request bodies are not read.
    pub(super) async fn handle<B>(&self, certificate: Option<&User>, peer: Peer, request: &Request<B>) -> Answer {
        let rejected = |response| Answer { response, authenticated: false };
        match self.authentication.user(certificate, peer, request.headers()).await {
            Identity::User(user) => {
                Answer { authenticated: user != User::anonymous(), response: self.respond(&user, peer, request).await }
            }
            Identity::Invalid => rejected(response::status(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized")),
            Identity::NotReviewed => rejected(self.too_many(Limit::TokenReviews)),
        }
    }

    async fn respond<B>(&self, user: &User, peer: Peer, request: &Request<B>) -> Response {
        let path = request.uri().path();
        let verb = request.method().as_str().to_ascii_lowercase();
        match self.authorization.decide(user, peer, &verb, path).await {
            Decision::Allowed => {}
            Decision::Denied => {
                let message = format!("forbidden: User {:?} cannot {verb} path {path:?}", user.name);
                return response::status(StatusCode::FORBIDDEN, "Forbidden", &message);
            }
            Decision::NotReviewed => return self.too_many(Limit::SubjectAccessReviews),
            Decision::Failed(reason) => {
                tracing::warn!(user = user.name, path, err = reason, "Unable to authorize the request");
                let message = format!("Internal Server Error: {path:?}: {reason}");
                return response::status(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", &message);
            }
        }
        if path == SLIS && request.method() == Method::DELETE {
            self.health.reset_metrics();
            return response::text(StatusCode::OK, "metrics reset\n");
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return response::method_not_allowed();
        }
        match self.probe(path, request.uri().query().unwrap_or_default()) {
            Some(response) => response,
            None => match self.responses.permit().await {
                Some(permit) => permit.hold(self.page(path, request)).await,
                None => self.too_many(Limit::Responses),
            },
        }
    }

    fn too_many(&self, limit: Limit) -> Response {
        self.metrics.rejected(limit);
        response::too_many_requests()
    }

    fn page<B>(&self, path: &str, request: &Request<B>) -> Response {
        let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
        match path {
            "/metrics" => return exposition::respond(&self.registry.gather(), accept),
            SLIS => {
                return match self.health.metrics() {
                    Ok(families) => exposition::respond(&families, accept),
                    Err(error) => response::text(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
                };
            }
            "/configz" => return self.pages.configz(),
            "/flagz" => return self.pages.flagz(accept),
            "/shadow" => return self.shadow.respond(accept, request.uri().query().unwrap_or_default()),
            "/statusz" => return self.pages.statusz(accept),
            _ => {}
        }
        response::not_found()
    }

    /// Returns the response of a health check; `None` if the path is none of a check.
    fn probe(&self, path: &str, query: &str) -> Option<Response> {
        let checked = self.health.respond(path, query)?;
        let code = if checked.passed { StatusCode::OK } else { StatusCode::INTERNAL_SERVER_ERROR };
        Some(response::text(code, checked.body))
    }
}

/// Limits the number of responses that are being sent.
pub(super) struct Responses(Arc<Semaphore>);

impl Responses {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(MAX_RESPONSES)))
    }

    /// Waits until a response may be sent; `None` after [`RESPONSE_TIMEOUT`].
    async fn permit(&self) -> Option<Permit> {
        let permit = timeout(RESPONSE_TIMEOUT, Arc::clone(&self.0).acquire_owned()).await;
        Some(Permit { _permit: permit.ok()?.ok()? })
    }
}

/// Permission to send a response, until it is dropped.
struct Permit {
    _permit: OwnedSemaphorePermit,
}

impl Permit {
    /// Returns the response, which gives the permission up once all of its body has been written to the socket.
    async fn hold(self, response: Response) -> Response {
        let (parts, body) = response.into_parts();
        let Ok(body) = body.collect().await;
        let held = HeldBody { bytes: body.to_bytes(), _permit: self };
        Response::from_parts(parts, Full::new(Bytes::from_owner(held)))
    }
}

/// A body with the permission to send it.
struct HeldBody {
    bytes: Bytes,
    _permit: Permit,
}

impl AsRef<[u8]> for HeldBody {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn responses_that_are_not_read_are_limited() {
        let responses = Responses::new();
        let mut held = Vec::new();
        for _ in 0..MAX_RESPONSES {
            held.push(responses.permit().await.unwrap().hold(response::text(StatusCode::OK, "page")).await);
        }
        assert!(responses.permit().await.is_none());
        // The body alone keeps the permission, and a part of it does.
        let body = held.pop().unwrap().into_body().collect().await.unwrap().to_bytes();
        let rest = body.slice(2..);
        drop(body);
        assert!(responses.permit().await.is_none());
        assert_eq!(rest, "ge");
        drop(rest);
        assert!(responses.permit().await.is_some());
    }
}
