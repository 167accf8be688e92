//! In-process transport: a tower service instead of a connection.
//!
//! The future of a call and the body of its response do all work when polled; no task is spawned.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use futures::{StreamExt as _, stream};
use http::header::AUTHORIZATION;
use http::{Request, Response, Uri};
use http_body::Body;
use http_body_util::{BodyExt as _, StreamBody};
use tokio_util::sync::CancellationToken;
use tower::{BoxError, Service};

use super::body::RequestBody;
use super::lag::Lag;
use super::outgoing::{Outgoing, reset};
use super::socket::Kill;
use super::{body, handler};
use crate::identity::User;
use crate::shared::Shared;

/// Tower service that handles the requests of one [`Server`](crate::Server) in process; returned by
/// [`Server::service`](crate::Server::service).
///
/// Scheme and authority of a request are ignored. Dropping the future of a call cancels it: a write that is not yet
/// stored is not stored afterwards. The service can outlive its server; its calls then fail.
///
/// # Errors
/// [`ConnectionReset`](io::ErrorKind::ConnectionReset) where a connection would be reset: by a fault, by a restart or
/// restore of the server, and when it is shut down or dropped. [`ConnectionRefused`](io::ErrorKind::ConnectionRefused)
/// if the server had ended before the call.
#[derive(Debug, Clone)]
pub struct InProcess {
    shared: Arc<Shared>,
    lag: Option<Lag>,
    user: Option<Arc<User>>,
}

impl InProcess {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, lag: None, user: None }
    }

    /// Returns the same service for requests of `user`, as with a client certificate. A bearer token in a request takes
    /// its place.
    ///
    /// Without a user, requests are [anonymous](crate::Anonymous), so that nearly all are refused under
    /// [`Authorization::Rbac`](crate::Authorization::Rbac).
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::Pod;
    /// use kube::{Api, Client};
    /// use kube_dev_apiserver::{Authorization, Config, Server, User};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::in_process(Config { authorization: Authorization::Rbac, ..Config::default() })?;
    /// let client = Client::new(server.service().as_user(User::new("alice")), "default");
    /// let pods: Api<Pod> = Api::default_namespaced(client);
    /// let error = pods.get("web").await.unwrap_err();
    /// assert!(error.to_string().contains(r#"User "alice" cannot get resource "pods""#));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn as_user(&self, user: User) -> Self {
        Self { user: Some(Arc::new(user)), ..self.clone() }
    }

    /// Returns the same service with lists and watches delayed by `lag`.
    #[must_use]
    pub fn behind(&self, lag: &Lag) -> Self {
        Self { lag: Some(lag.clone()), ..self.clone() }
    }

    async fn handle(
        shared: Arc<Shared>,
        epoch: CancellationToken,
        user: Option<Arc<User>>,
        request: Request<RequestBody>,
    ) -> io::Result<Response<ResponseBody>> {
        let kill = Kill::default();
        let response = tokio::select! {
            // Cancellation is polled first, so that a call from before a restart stores nothing after it.
            biased;
            () = kill.requested() => return Err(reset()),
            () = epoch.cancelled() => return Err(reset()),
            () = shared.stopping.cancelled() => return Err(reset()),
            response = handler::handle(Arc::clone(&shared), kill.clone(), user, request) => response,
        };
        Ok(response.map(|body| until(epoch, body)))
    }
}

impl<B> Service<Request<B>> for InProcess
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    type Response = Response<ResponseBody>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Response<ResponseBody>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if self.shared.stopping.is_cancelled() {
            let error = io::Error::new(io::ErrorKind::ConnectionRefused, "the API server has shut down");
            return Box::pin(std::future::ready(Err(error)));
        }
        let mut request = as_received(request).map(body::boxed);
        if let Some(lag) = &self.lag {
            request.extensions_mut().insert(lag.clone());
        }
        let user = self.user.clone().filter(|_| !request.headers().contains_key(AUTHORIZATION));
        // Taken now rather than at the first poll, so that a restart in between fails this call.
        Box::pin(Self::handle(Arc::clone(&self.shared), self.shared.epoch(), user, request))
    }
}

/// Adapts a request to what a connection delivers: a URI without authority.
fn as_received<B>(mut request: Request<B>) -> Request<B> {
    if request.uri().authority().is_some()
        && let Some(path) = request.uri().path_and_query()
    {
        *request.uri_mut() = Uri::from(path.clone());
    }
    request
}

/// Body of a response of [`InProcess`]: the whole document, or the frames of a watch as they occur.
///
/// # Errors
/// [`ConnectionReset`](io::ErrorKind::ConnectionReset), once, if the server is restarted, restored or dropped, or by a
/// fault. A watch ends without an error when the server [shuts down](crate::Server::shutdown).
pub type ResponseBody = Outgoing;

/// Returns a body that is reset at the end of the epoch.
fn until(epoch: CancellationToken, body: Outgoing) -> ResponseBody {
    let frames = stream::unfold(Some(body), move |body| {
        let epoch = epoch.clone();
        async move {
            let mut body = body?;
            let frame = tokio::select! {
                // The end of the epoch first: a dropped server ends watches, too.
                biased;
                () = epoch.cancelled() => Err(reset()),
                frame = body.frame() => frame?,
            };
            let rest = frame.is_ok().then_some(body);
            Some((frame, rest))
        }
    });
    StreamBody::new(frames.fuse()).boxed_unsync()
}
