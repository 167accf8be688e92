//! Accepts connections and serves HTTP on them.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use http::header::USER_AGENT;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::socket::{Kill, Socket};
use super::{body, handler};
use crate::identity::User;
use crate::shared::Shared;
use crate::traffic::Meter;
use crate::transport::user_of_certificate;

const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// Pause after a connection that could not be accepted.
const ACCEPT_RETRY: Duration = Duration::from_millis(10);

/// Accepts connections until the server stops, then waits until the open ones have ended.
pub(crate) async fn serve(listener: TcpListener, acceptor: Option<TlsAcceptor>, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = shared.stopping.cancelled() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve_connection(stream, acceptor.clone(), Arc::clone(&shared)));
                }
                // The connection was aborted, or no file descriptor is left. Neither may stop the server.
                Err(error) => {
                    tracing::warn!(%error, "accepting a connection failed; retrying in {ACCEPT_RETRY:?}");
                    tokio::time::sleep(ACCEPT_RETRY).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// Performs the TLS handshake if the server uses TLS, then serves HTTP.
async fn serve_connection(stream: TcpStream, acceptor: Option<TlsAcceptor>, shared: Arc<Shared>) {
    let kill = Kill::default();
    let meter = Arc::<Meter>::default();
    let socket = Socket::new(stream, kill.clone(), Arc::clone(&meter));
    let Some(acceptor) = acceptor else {
        return serve_http(socket, None, kill, meter, shared).await;
    };
    let accepted = tokio::select! {
        accepted = tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(socket)) => accepted,
        () = shared.stopping.cancelled() => return,
    };
    match accepted {
        Ok(Ok(stream)) => {
            let certificates = stream.get_ref().1.peer_certificates().unwrap_or_default();
            let user = certificates.first().and_then(|certificate| user_of_certificate(certificate));
            serve_http(stream, user, kill, meter, shared).await;
        }
        Ok(Err(error)) => tracing::debug!(%error, "TLS handshake failed"),
        Err(_) => tracing::debug!("TLS handshake timed out"),
    }
}

/// Serves HTTP/1.1, or HTTP/2 if the client starts with its preface. `user` is that of the certificate.
async fn serve_http<S>(stream: S, user: Option<User>, kill: Kill, meter: Arc<Meter>, shared: Arc<Shared>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let stopping = shared.stopping.clone();
    let epoch = shared.epoch();
    let killed = kill.clone();
    let user = user.map(Arc::new);
    let service = service_fn(move |request: Request<Incoming>| {
        let user_agent = request.headers().get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        meter.set_user_agent(user_agent, &shared.traffic);
        let response = handler::handle(Arc::clone(&shared), kill.clone(), user.clone(), request.map(body::boxed));
        async move { Ok::<_, Infallible>(response.await) }
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new());
    builder.http2().timer(TokioTimer::new());
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = killed.requested() => return,
        () = epoch.cancelled() => return,
        () = stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "connection ended with an error");
    }
}
