//! Serves one connection: the TLS handshake, if there is one, then HTTP/1.1 or HTTP/2.

use std::convert::Infallible;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use http::{Request, StatusCode};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use rustls::pki_types::CertificateDer;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::server::TlsStream;
use tokio_util::either::Either;

use crate::connections::{Admission, Stage};
use crate::handler::Answer;
use crate::lifetime::{Expiry, Lifetime};
use crate::listener::Shared;
use crate::metrics::Closed;
use crate::peer::Peer;
use crate::response::{self, Response};
use crate::socket::{Socket, SocketState};
use crate::user::User;

/// Time limit from the accepted connection to the end of the TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Time for which a connection that has to end may still answer requests.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of a request head, in bytes. hyper allows no HTTP/1.1 buffer below 8 KiB.
const MAX_HEAD_SIZE: u16 = 16 << 10;
const PING_INTERVAL: Duration = Duration::from_secs(30);
/// Time limit of the answer to an HTTP/2 ping, after which the connection is closed.
const PING_TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum number of concurrent requests on one HTTP/2 connection.
const MAX_CONCURRENT_STREAMS: u32 = 16;
/// HTTP/2 window of each request, in bytes: request bodies are not read, so that none is let in.
const STREAM_WINDOW: u32 = 1 << 10;
/// HTTP/2 window of each connection, in bytes; the smallest that the protocol allows.
const CONNECTION_WINDOW: u32 = (1 << 16) - 1;
/// Maximum size of the data of one HTTP/2 response that is buffered for sending, in bytes.
const MAX_SEND_BUFFER: usize = 64 << 10;

pub(crate) async fn serve(
    socket: Socket,
    peer: Peer,
    admission: Admission,
    state: Arc<SocketState>,
    shared: Arc<Shared>,
) {
    // Before the configuration is read, so that no change is missed.
    let ca_changes = shared.tls.as_ref().map(|tls| tls.ca_changes());
    let reason = match timeout(HANDSHAKE_TIMEOUT, open(socket, &admission, &shared)).await {
        Ok(Ok(opened)) => {
            let chain = match &opened {
                Either::Left(_) => None,
                Either::Right(stream) => stream.get_ref().1.peer_certificates(),
            };
            let connection = Arc::new(Connection::new(chain, peer, admission, Arc::clone(&shared)));
            // Boxed: connections that never get here do not need the memory.
            let closed = Box::pin(connection.serve(opened, ca_changes)).await;
            if state.has_stalled() { Some(Closed::WriteTimeout) } else { closed }
        }
        Ok(Err(error)) => {
            tracing::debug!(err = %error, "TLS handshake failed");
            Some(Closed::HandshakeFailed)
        }
        Err(_) => Some(Closed::HandshakeTimeout),
    };
    if let Some(reason) = reason {
        tracing::debug!(reason = reason.label(), "Closed a connection");
        shared.metrics.closed(reason);
    }
}

/// A connection that can be read from: plain, or with TLS.
type Opened = Either<Socket, Box<TlsStream<Socket>>>;

/// Waits for the first byte of the client, and with TLS for the turn of the connection, then runs the handshake. A client that
/// sends nothing uses up no turn.
async fn open(socket: Socket, admission: &Admission, shared: &Shared) -> std::io::Result<Opened> {
    socket.first_byte().await?;
    let Some(tls) = &shared.tls else {
        admission.advance(Stage::Anonymous);
        return Ok(Either::Left(socket));
    };
    shared.handshakes.turn().await;
    admission.advance(Stage::Anonymous);
    Ok(Either::Right(Box::new(tls.acceptor().accept(socket).await?)))
}

/// A connection whose client has sent something, after the handshake if there is one.
struct Connection {
    /// User of the verified client certificate, and the end of its validity.
    certificate: Option<(User, Option<Expiry>)>,
    peer: Peer,
    admission: Admission,
    lifetime: Lifetime,
    shared: Arc<Shared>,
}

impl Connection {
    fn new(chain: Option<&[CertificateDer<'_>]>, peer: Peer, admission: Admission, shared: Arc<Shared>) -> Connection {
        let chain = chain.unwrap_or_default();
        let user = chain.first().and_then(|certificate| User::of_certificate(certificate));
        let certificate = user.map(|user| (user, Expiry::of(chain)));
        let connection = Connection { certificate, peer, admission, lifetime: Lifetime::new(), shared };
        if connection.certificate.is_some() {
            connection.authenticated();
        }
        connection
    }

    fn authenticated(&self) {
        self.admission.advance(Stage::Authenticated);
        self.lifetime.authenticated();
    }

    /// Serves requests until the client closes the connection or it has to end: then running requests are answered for up to
    /// 5 s. Returns the reason in the second case.
    async fn serve(self: Arc<Self>, stream: Opened, ca_changes: Option<watch::Receiver<()>>) -> Option<Closed> {
        let connection = Arc::clone(&self);
        let service = service_fn(move |request| {
            let connection = Arc::clone(&connection);
            async move { Ok::<_, Infallible>(connection.answer(&request).await) }
        });
        let mut builder = auto::Builder::new(TokioExecutor::new());
        // `Lifetime` has the time limit of a head.
        builder.http1().timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(MAX_HEAD_SIZE.into());
        let mut http2 = builder.http2();
        http2.timer(TokioTimer::new()).keep_alive_interval(PING_INTERVAL).keep_alive_timeout(PING_TIMEOUT);
        http2.max_concurrent_streams(MAX_CONCURRENT_STREAMS).max_header_list_size(MAX_HEAD_SIZE.into());
        http2.initial_stream_window_size(STREAM_WINDOW).initial_connection_window_size(CONNECTION_WINDOW);
        http2.max_send_buf_size(MAX_SEND_BUFFER);
        // Clients of plain text upgrade nothing.
        let builder = if self.shared.tls.is_some() { builder } else { builder.http1_only() };
        let mut http = pin!(builder.serve_connection(TokioIo::new(stream), service));
        let reason = tokio::select! {
            biased;
            result = http.as_mut() => {
                if let Err(error) = result {
                    tracing::debug!(err = %error.display_full(), "Connection ended with an error");
                }
                return None;
            }
            reason = self.ended(ca_changes) => reason,
        };
        http.as_mut().graceful_shutdown();
        let _ = timeout(CLOSE_TIMEOUT, http).await;
        Some(reason)
    }

    async fn answer(&self, request: &Request<Incoming>) -> Response {
        let _open = self.lifetime.request();
        let user = match &self.certificate {
            Some((_, Some(expiry))) if expiry.has_passed() => {
                return response::status(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized");
            }
            certificate => certificate.as_ref().map(|(user, _)| user),
        };
        let Answer { response, authenticated } = self.shared.handler.handle(user, self.peer, request).await;
        if authenticated {
            self.authenticated();
        }
        response
    }

    async fn ended(&self, ca_changes: Option<watch::Receiver<()>>) -> Closed {
        let ca_changed = async {
            let Some(mut changes) = ca_changes else { return pending().await };
            if changes.changed().await.is_err() {
                // The server is being dropped, and its connections with it.
                pending::<()>().await;
            }
        };
        tokio::select! {
            biased;
            () = ca_changed => Closed::ClientCaChanged,
            reason = self.lifetime.ended() => reason,
        }
    }
}
