//! Accepting connections.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::front;
use super::socket::{Kill, Socket};
use crate::shared::Shared;

/// Serves connections until the server stops, and then those that are open until they have ended.
pub(crate) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = shared.stopping.cancelled() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve_connection(stream, Arc::clone(&shared)));
                }
                // A connection that broke before it was accepted, or no file descriptor left: neither ends the server.
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
                }
            },
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// Speaks HTTP/1.1 or, when the client begins with it, HTTP/2.
async fn serve_connection(stream: TcpStream, shared: Arc<Shared>) {
    let stopping = shared.stopping.clone();
    let epoch = shared.epoch();
    let kill = Kill::default();
    let stream = Socket::new(stream, kill.clone());
    let killed = kill.clone();
    let service = service_fn(move |request| {
        let answer = front::answer(Arc::clone(&shared), kill.clone(), request);
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new());
    builder.http2().timer(TokioTimer::new());
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = killed.wanted() => return,
        () = epoch.cancelled() => return,
        () = stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection ended early");
    }
}
