//! Accepts TLS connections and serves HTTP/1.1 and HTTP/2 on them, with limits on time, size and number.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::routes::Routes;
use super::tls::{H2, Tls};
use super::user::User;

/// Time limit of the TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit for the head of each HTTP/1.1 request on a connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum size of a request head, in bytes. hyper allows no HTTP/1.1 buffer below 8 KiB.
const MAX_HEAD_SIZE: u16 = 16 << 10;
/// Interval of HTTP/2 pings.
const PING_INTERVAL: Duration = Duration::from_secs(30);
/// Time limit of the answer to an HTTP/2 ping, after which the connection is closed.
const PING_TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum number of concurrent requests on one HTTP/2 connection.
const MAX_CONCURRENT_STREAMS: u32 = 16;
/// Maximum number of open connections, half the usual limit of 1,024 file descriptors. A further connection closes the
/// oldest, so that a client with many idle connections cannot exclude others.
const MAX_CONNECTIONS: usize = 512;

/// Accepts and serves connections. Never returns; dropping the future closes all connections.
pub(super) async fn serve(listener: &TcpListener, tls: &Tls, routes: &Arc<Routes>) {
    let mut connections = JoinSet::new();
    let mut oldest_first: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        tokio::select! {
            // Ended connections first: there are no more of them than accepted ones, so that neither branch starves.
            biased;
            Some(ended) = connections.join_next() => {
                if let Err(error) = ended && error.is_panic() {
                    tracing::error!(err = %error, "A connection's task panicked");
                }
            }
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    close_oldest_if_full(&mut oldest_first);
                    let connection = serve_connection(stream, tls.acceptor(), Arc::clone(routes));
                    oldest_first.push_back(connections.spawn(connection));
                }
                // The client disconnected before `accept`, or there is no free file descriptor: close the oldest
                // connection and continue.
                Err(error) => {
                    tracing::warn!(err = %error, "Unable to accept a connection, closing the oldest");
                    oldest_first.retain(|connection| !connection.is_finished());
                    if let Some(oldest) = oldest_first.pop_front() {
                        oldest.abort();
                    }
                    sleep(Duration::from_millis(10)).await;
                }
            },
        }
    }
}

/// Closes the oldest connection if [`MAX_CONNECTIONS`] are open.
fn close_oldest_if_full(oldest_first: &mut VecDeque<AbortHandle>) {
    if oldest_first.len() >= MAX_CONNECTIONS {
        oldest_first.retain(|connection| !connection.is_finished());
    }
    if oldest_first.len() >= MAX_CONNECTIONS
        && let Some(oldest) = oldest_first.pop_front()
    {
        oldest.abort();
    }
}

async fn serve_connection(stream: TcpStream, acceptor: TlsAcceptor, routes: Arc<Routes>) {
    let stream = match timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return tracing::debug!(err = %error, "TLS handshake failed"),
        Err(_) => return tracing::debug!("TLS handshake timed out"),
    };
    let session = stream.get_ref().1;
    let certificate = session.peer_certificates().and_then(<[_]>::first);
    let user = certificate.and_then(|certificate| User::of_certificate(certificate));
    let is_h2 = session.alpn_protocol() == Some(H2);
    let service = service_fn(move |request| {
        let (routes, user) = (Arc::clone(&routes), user.clone());
        async move { Ok::<_, Infallible>(routes.handle(user.as_ref(), &request).await) }
    });
    let stream = TokioIo::new(stream);
    let result = if is_h2 {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.timer(TokioTimer::new()).keep_alive_interval(PING_INTERVAL).keep_alive_timeout(PING_TIMEOUT);
        builder.max_concurrent_streams(MAX_CONCURRENT_STREAMS).max_header_list_size(MAX_HEAD_SIZE.into());
        builder.serve_connection(stream, service).await
    } else {
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(MAX_HEAD_SIZE.into());
        builder.serve_connection(stream, service).await
    };
    if let Err(error) = result {
        tracing::debug!(err = %error.display_full(), "Connection ended with an error");
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test]
    async fn oldest_connection_is_closed_at_the_limit() {
        let (mut connections, mut oldest_first) = (JoinSet::new(), VecDeque::new());
        for _ in 0..MAX_CONNECTIONS {
            close_oldest_if_full(&mut oldest_first);
            oldest_first.push_back(connections.spawn(pending::<()>()));
        }
        assert_eq!(oldest_first.len(), MAX_CONNECTIONS, "expected no connection to be closed");
        let oldest = oldest_first[0].id();
        close_oldest_if_full(&mut oldest_first);
        assert_eq!(oldest_first.len(), MAX_CONNECTIONS - 1);
        assert_eq!(connections.join_next().await.unwrap().unwrap_err().id(), oldest);
        // Connections that have ended do not count.
        oldest_first[5].abort();
        oldest_first.push_back(connections.spawn(async {}));
        while connections.len() > MAX_CONNECTIONS - 2 {
            connections.join_next().await;
        }
        close_oldest_if_full(&mut oldest_first);
        assert_eq!(oldest_first.len(), MAX_CONNECTIONS - 2);
    }
}
