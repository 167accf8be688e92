//! In-process transport: a tower service instead of a connection.
//!
//! The future of a call and the body of its response do all work when polled; no task is spawned.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::header::AUTHORIZATION;
use http::{Request, Response, Uri};
use http_body::{Body, Frame, SizeHint};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tower::{BoxError, Service};

use super::body::RequestBody;
use super::handler;
use super::lag::Lag;
use super::outgoing::Outgoing;
use super::socket::Kill;
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
        Ok(response.map(|body| ResponseBody { body, epoch, dropped: None, ended: false }))
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
        let mut request = as_received(request).map(RequestBody::in_process);
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

fn reset() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, "connection reset by the API server")
}

/// Body of a response of [`InProcess`]: the whole document, or the frames of a watch as they occur.
///
/// # Errors
/// [`ConnectionReset`](io::ErrorKind::ConnectionReset), once, if the server is restarted, restored or dropped, or by a
/// fault. A watch ends without an error when the server [shuts down](crate::Server::shutdown).
#[derive(Debug)]
pub struct ResponseBody {
    body: Outgoing,
    epoch: CancellationToken,
    /// Resolves when the epoch ends; created when the body is first pending.
    dropped: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    ended: bool,
}

impl ResponseBody {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.epoch.is_cancelled() {
            return Poll::Ready(Some(Err(reset())));
        }
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            return Poll::Ready(frame.map(|frame| frame.map_err(|_aborted| reset())));
        }
        let epoch = &self.epoch;
        let dropped = self.dropped.get_or_insert_with(|| Box::pin(epoch.clone().cancelled_owned()));
        dropped.as_mut().poll(cx).map(|()| Some(Err(reset())))
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let polled = self.poll(cx);
        self.ended = matches!(polled, Poll::Ready(None | Some(Err(_))));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.ended { SizeHint::with_exact(0) } else { self.body.size_hint() }
    }
}
