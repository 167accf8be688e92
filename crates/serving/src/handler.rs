//! Handles requests: authenticates and authorizes them, then answers by path.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::authentication::{Authentication, Identity};
use crate::authorization::{Authorization, Decision};
use crate::metrics::{Limit, ServingMetrics};
use crate::peer::Peer;
use crate::response::{self, Response};
use crate::routes::{Route, Routes};
use crate::user::User;

/// Maximum number of responses, except those of probes, that are being sent. Bounds the memory that clients can use which
/// do not read them.
const MAX_RESPONSES: usize = 8;
/// Time for which a request waits for another response to be sent.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Who may read what.
pub(crate) struct Access {
    pub(crate) authentication: Authentication,
    pub(crate) authorization: Authorization,
}

/// Everything needed to answer a request.
pub(crate) struct Handler {
    /// `None`: every request is allowed.
    access: Option<Access>,
    routes: Routes,
    metrics: ServingMetrics,
    /// Limits the number of responses that are being sent.
    responses: Arc<Semaphore>,
}

/// A response, and whether its client is authenticated.
pub(crate) struct Answer {
    pub(crate) response: Response,
    pub(crate) authenticated: bool,
}

impl Handler {
    pub(crate) fn new(access: Option<Access>, routes: Routes, metrics: ServingMetrics) -> Handler {
        Handler { access, routes, metrics, responses: Arc::new(Semaphore::new(MAX_RESPONSES)) }
    }

    /// Answers a request. `certificate` is the user of the connection's verified client certificate; without one, the
    /// headers decide. Request bodies are not read.
    pub(crate) async fn handle<B>(&self, certificate: Option<&User>, peer: Peer, request: &Request<B>) -> Answer {
        let rejected = |response| Answer { response, authenticated: false };
        let Some(Access { authentication, authorization }) = &self.access else {
            return rejected(self.respond(request).await);
        };
        match authentication.user(certificate, peer, request.headers()).await {
            Identity::User(user) => {
                let response = match self.refused(authorization, &user, peer, request).await {
                    Some(response) => response,
                    None => self.respond(request).await,
                };
                Answer { authenticated: user != User::anonymous(), response }
            }
            Identity::Invalid => rejected(response::status(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized")),
            Identity::NotReviewed => rejected(self.too_many(Limit::TokenReviews)),
        }
    }

    /// Returns the response to a request that `user` is not authorized for; `None` if it is allowed.
    async fn refused<B>(
        &self,
        authorization: &Authorization,
        user: &User,
        peer: Peer,
        request: &Request<B>,
    ) -> Option<Response> {
        let path = request.uri().path();
        let verb = request.method().as_str().to_ascii_lowercase();
        match authorization.decide(user, peer, &verb, path).await {
            Decision::Allowed => None,
            Decision::Denied => {
                let message = format!("forbidden: User {:?} cannot {verb} path {path:?}", user.name);
                Some(response::status(StatusCode::FORBIDDEN, "Forbidden", &message))
            }
            Decision::NotReviewed => Some(self.too_many(Limit::SubjectAccessReviews)),
            Decision::Failed(reason) => {
                tracing::warn!(user = user.name, path, err = reason, "Unable to authorize the request");
                let message = format!("Internal Server Error: {path:?}: {reason}");
                Some(response::status(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", &message))
            }
        }
    }

    async fn respond<B>(&self, request: &Request<B>) -> Response {
        match self.routes.route(request) {
            Route::Short(response) => response,
            Route::Page(page) => match permit(&self.responses).await {
                Some(permit) => hold(permit, page()).await,
                None => self.too_many(Limit::Responses),
            },
            Route::SlowPage(page) => match permit(&self.responses).await {
                Some(permit) => {
                    // The page keeps the permit: it goes on if the client closes the connection.
                    match spawn_blocking(move || (page(), permit)).await {
                        Ok((response, permit)) => hold(permit, response).await,
                        Err(error) => {
                            tracing::error!(path = request.uri().path(), err = %error, "A page has panicked");
                            response::text(StatusCode::INTERNAL_SERVER_ERROR, "the page has panicked\n")
                        }
                    }
                }
                None => self.too_many(Limit::Responses),
            },
        }
    }

    fn too_many(&self, limit: Limit) -> Response {
        self.metrics.rejected(limit);
        response::too_many_requests()
    }
}

/// Waits until a response may be sent; `None` after [`RESPONSE_TIMEOUT`].
async fn permit(responses: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    timeout(RESPONSE_TIMEOUT, Arc::clone(responses).acquire_owned()).await.ok()?.ok()
}

/// Returns the response, which gives the permit up once all of its body has been written to the socket.
async fn hold(permit: OwnedSemaphorePermit, response: Response) -> Response {
    let (parts, body) = response.into_parts();
    let Ok(body) = body.collect().await;
    let held = HeldBody { bytes: body.to_bytes(), _permit: permit };
    Response::from_parts(parts, Full::new(Bytes::from_owner(held)))
}

/// A body with the permit to send it.
struct HeldBody {
    bytes: Bytes,
    _permit: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for HeldBody {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::sync::{Mutex, mpsc};

    use futures::poll;
    use kube_controller::Health;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn responses_that_are_not_read_are_limited() {
        let responses = Arc::new(Semaphore::new(MAX_RESPONSES));
        let mut held = Vec::new();
        for _ in 0..MAX_RESPONSES {
            let permit = permit(&responses).await.unwrap();
            held.push(hold(permit, response::text(StatusCode::OK, "page")).await);
        }
        assert!(permit(&responses).await.is_none());
        // The body alone keeps the permission, and a part of it does.
        let body = held.pop().unwrap().into_body().collect().await.unwrap().to_bytes();
        let rest = body.slice(2..);
        drop(body);
        assert!(permit(&responses).await.is_none());
        assert_eq!(rest, "ge");
        drop(rest);
        assert!(permit(&responses).await.is_some());
    }

    /// A page that may block cannot be cancelled.
    #[tokio::test]
    async fn pages_whose_clients_have_gone_are_limited() {
        let (release, released) = mpsc::channel::<()>();
        let released = Mutex::new(released);
        let routes = Routes::new(Health::default()).slow_page("/slow", move |_| {
            // Ends with an error: the test drops the sender.
            let _ = released.lock().map(|it| it.recv());
            response::text(StatusCode::OK, "page")
        });
        let handler = Handler::new(None, routes, ServingMetrics::default());
        let (request, peer) = (Request::get("/slow").body(()).unwrap(), Peer::from(IpAddr::from([127, 0, 0, 1])));
        for _ in 0..MAX_RESPONSES {
            let mut answer = Box::pin(handler.handle(None, peer, &request));
            assert!(poll!(&mut answer).is_pending(), "the page is rendered");
        }
        let answer = timeout(2 * RESPONSE_TIMEOUT, handler.handle(None, peer, &request)).await.unwrap();
        assert_eq!(answer.response.status(), StatusCode::TOO_MANY_REQUESTS);
        drop(release);
    }
}
