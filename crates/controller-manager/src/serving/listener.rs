//! Connections: accepted, encrypted, and not waited for longer than is due.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

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

/// How long a client may take to agree on encryption, and to send the head of a request, the first and each later one.
const HANDSHAKE: Duration = Duration::from_secs(10);
const HEAD: Duration = Duration::from_secs(30);
/// The head of a request, in bytes; also the least that hyper reads at once.
const HEAD_SIZE: u16 = 16 << 10;
/// A client on HTTP/2 that does not answer a ping within the second, sent after the first, is gone.
const PING: Duration = Duration::from_secs(30);
const PONG: Duration = Duration::from_secs(15);
/// Requests of one connection that are answered at once.
const AT_ONCE: u32 = 16;
/// Connections that are open at once, well under the 1,024 files that a process may usually open. When one more comes, the
/// oldest goes: whoever holds many idle ones must not keep others out.
const MOST: usize = 512;

/// Serves connections, for ever. Those that are open end when this is dropped.
pub(super) async fn serve(listener: &TcpListener, tls: &Tls, routes: &Arc<Routes>) {
    let mut connections = JoinSet::new();
    let mut oldest_first: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        tokio::select! {
            // Ended ones first: there are no more of them than were accepted, so that both get their turn.
            biased;
            Some(ended) = connections.join_next() => {
                if let Err(error) = ended && error.is_panic() {
                    tracing::error!(err = %error, "A connection ended in a panic");
                }
            }
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    make_room(&mut oldest_first);
                    let connection = serve_connection(stream, tls.acceptor(), Arc::clone(routes));
                    oldest_first.push_back(connections.spawn(connection));
                }
                // A connection that broke before it was accepted, or no file left: neither ends the server.
                Err(error) => {
                    tracing::warn!(err = %error, "A connection could not be accepted");
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

/// Ends the oldest connection when there are as many as there may be.
fn make_room(oldest_first: &mut VecDeque<AbortHandle>) {
    if oldest_first.len() >= MOST {
        oldest_first.retain(|connection| !connection.is_finished());
    }
    if oldest_first.len() >= MOST
        && let Some(oldest) = oldest_first.pop_front()
    {
        oldest.abort();
    }
}

async fn serve_connection(stream: TcpStream, acceptor: TlsAcceptor, routes: Arc<Routes>) {
    let stream = match timeout(HANDSHAKE, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return tracing::debug!(err = %error, "A TLS handshake failed"),
        Err(_) => return tracing::debug!("A TLS handshake took too long"),
    };
    let session = stream.get_ref().1;
    let certificate = session.peer_certificates().and_then(<[_]>::first);
    let user = certificate.and_then(|certificate| User::of_certificate(certificate));
    let speaks_h2 = session.alpn_protocol() == Some(H2);
    let service = service_fn(move |request| {
        let (routes, user) = (Arc::clone(&routes), user.clone());
        async move { Ok::<_, Infallible>(routes.answer(user.as_ref(), &request).await) }
    });
    let stream = TokioIo::new(stream);
    let ended = if speaks_h2 {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.timer(TokioTimer::new()).keep_alive_interval(PING).keep_alive_timeout(PONG);
        builder.max_concurrent_streams(AT_ONCE).max_header_list_size(HEAD_SIZE.into());
        builder.serve_connection(stream, service).await
    } else {
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(HEAD_SIZE.into());
        builder.serve_connection(stream, service).await
    };
    if let Err(error) = ended {
        tracing::debug!(err = %error, "A connection ended early");
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test]
    async fn the_oldest_makes_room() {
        let (mut connections, mut oldest_first) = (JoinSet::new(), VecDeque::new());
        for _ in 0..MOST {
            make_room(&mut oldest_first);
            oldest_first.push_back(connections.spawn(pending::<()>()));
        }
        assert_eq!(oldest_first.len(), MOST, "nobody had to go");
        let oldest = oldest_first[0].id();
        make_room(&mut oldest_first);
        assert_eq!(oldest_first.len(), MOST - 1);
        assert_eq!(connections.join_next().await.unwrap().unwrap_err().id(), oldest);
        // One that went by itself leaves room.
        oldest_first[5].abort();
        oldest_first.push_back(connections.spawn(async {}));
        while connections.len() > MOST - 2 {
            connections.join_next().await;
        }
        make_room(&mut oldest_first);
        assert_eq!(oldest_first.len(), MOST - 2);
    }
}
