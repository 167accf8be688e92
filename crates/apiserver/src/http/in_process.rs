//! Requests without a socket: a tower service in place of a connection.
//!
//! The future of a call and the body of its answer do all work when they are polled; no task is spawned.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::header::{CONTENT_LENGTH, Entry};
use http::{HeaderValue, Request, Response, Uri};
use http_body::{Body, Frame, SizeHint};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tower::{BoxError, Service};

use super::body::RequestBody;
use super::front;
use super::lag::Lag;
use super::outgoing::Outgoing;
use super::socket::Kill;
use crate::shared::Shared;

/// Tower service that answers the requests of one [`Server`](crate::Server) in process, from
/// [`Server::service`](crate::Server::service).
///
/// Scheme and authority of a request are ignored. Dropping the future of a call cancels it: a write that is not stored yet
/// is not stored. The service outlives its server, and all calls then fail.
///
/// # Errors
/// [`ConnectionReset`](io::ErrorKind::ConnectionReset) where a connection would be reset: by a fault, a restart or restore
/// of the server, and its end. [`ConnectionRefused`](io::ErrorKind::ConnectionRefused) if the server had ended before the
/// call.
#[derive(Debug, Clone)]
pub struct InProcess {
    shared: Arc<Shared>,
    lag: Option<Lag>,
}

impl InProcess {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, lag: None }
    }

    /// Returns the same service with reads that `lag` holds back.
    #[must_use]
    pub fn behind(&self, lag: &Lag) -> Self {
        Self { lag: Some(lag.clone()), ..self.clone() }
    }

    async fn answer(
        shared: Arc<Shared>,
        epoch: CancellationToken,
        request: Request<RequestBody>,
    ) -> io::Result<Response<AnswerBody>> {
        let kill = Kill::default();
        let answer = tokio::select! {
            // The ends come first, so that nothing is stored after a restart by a call from before it.
            biased;
            () = kill.wanted() => return Err(reset()),
            () = epoch.cancelled() => return Err(reset()),
            () = shared.stopping.cancelled() => return Err(reset()),
            answer = front::answer(Arc::clone(&shared), kill.clone(), None, request) => answer,
        };
        Ok(answer.map(|body| AnswerBody { body, epoch, dropped: None, over: false }))
    }
}

impl<B> Service<Request<B>> for InProcess
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    type Response = Response<AnswerBody>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Response<AnswerBody>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if self.shared.stopping.is_cancelled() {
            let error = io::Error::new(io::ErrorKind::ConnectionRefused, "the API server has ended");
            return Box::pin(std::future::ready(Err(error)));
        }
        let mut request = as_received(request).map(RequestBody::in_process);
        if let Some(lag) = &self.lag {
            request.extensions_mut().insert(lag.clone());
        }
        // Taken now and not when the future is first polled: a restart in between ends this call.
        Box::pin(Self::answer(Arc::clone(&self.shared), self.shared.epoch(), request))
    }
}

/// Makes a request what a connection would deliver: a path without authority, and the length of the body in a header.
fn as_received<B: Body>(mut request: Request<B>) -> Request<B> {
    if request.uri().authority().is_some()
        && let Some(path) = request.uri().path_and_query()
    {
        *request.uri_mut() = Uri::from(path.clone());
    }
    if let Some(length) = request.body().size_hint().exact().filter(|length| *length > 0)
        && let Entry::Vacant(header) = request.headers_mut().entry(CONTENT_LENGTH)
    {
        header.insert(HeaderValue::from(length));
    }
    request
}

fn reset() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, "connection reset by the API server")
}

/// Body of an answer of [`InProcess`].
///
/// # Errors
/// [`ConnectionReset`](io::ErrorKind::ConnectionReset), once, as for calls. A watch ends without an error when the server
/// is [shut down](crate::Server::shutdown).
#[derive(Debug)]
pub struct AnswerBody {
    body: Outgoing,
    epoch: CancellationToken,
    /// Waits for the end of the epoch; only there once the body had to wait.
    dropped: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    over: bool,
}

impl AnswerBody {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.epoch.is_cancelled() {
            return Poll::Ready(Some(Err(reset())));
        }
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            return Poll::Ready(frame.map(|frame| frame.map_err(|_broken| reset())));
        }
        let epoch = &self.epoch;
        let dropped = self.dropped.get_or_insert_with(|| Box::pin(epoch.clone().cancelled_owned()));
        dropped.as_mut().poll(cx).map(|()| Some(Err(reset())))
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.over {
            return Poll::Ready(None);
        }
        let polled = self.poll(cx);
        self.over = matches!(polled, Poll::Ready(None | Some(Err(_))));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.over || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.over { SizeHint::with_exact(0) } else { self.body.size_hint() }
    }
}
