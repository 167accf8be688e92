//! HTTP server of the probes and the metrics of a controller.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use kube_controller::Health;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::Controller;

/// Number of connections that are served at once. Further ones wait in the backlog of the listener.
const CONNECTIONS: usize = 32;
/// Time limit of a connection, for the request and its response.
const LIMIT: Duration = Duration::from_secs(10);
/// Maximum size of a request up to the empty line that ends its headers, in bytes: the least that hyper accepts.
const HEAD: usize = 8 * 1024;
/// Pause after a failed accept, for example because the process has too many open files.
const PAUSE: Duration = Duration::from_millis(100);

const TEXT: &str = "text/plain; charset=utf-8";

impl<X: 'static> Controller<X> {
    /// Serves the [health checks](Self::health) at `/livez`, `/readyz` and `/healthz` and, if the controller was built with
    /// `with_metrics`, the metrics of its registry at `/metrics`, from [`run`](Self::run) on. Standbys serve them too.
    ///
    /// It is plain HTTP/1.1 without authentication, for the kubelet and for Prometheus in a trusted network: bind the
    /// listener accordingly. Each connection carries one request. Bounds: 32 connections at once, 10 s for each of them, and
    /// 8 KiB for a request. For TLS or authorization, use a server of the program with [`health`](Self::health).
    pub fn serve(self, listener: TcpListener) -> Self {
        let pages = Arc::new(Pages {
            health: self.health(),
            #[cfg(feature = "prometheus")]
            registry: self.registry().cloned(),
        });
        self.task("http", move |stop| serve(listener, pages, stop))
    }
}

async fn serve(listener: TcpListener, pages: Arc<Pages>, stop: CancellationToken) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if connections.len() < CONNECTIONS => match accepted {
                Ok((stream, _)) => drop(connections.spawn(connection(stream, Arc::clone(&pages)))),
                Err(_) => drop(stop.run_until_cancelled(sleep(PAUSE)).await),
            },
        }
    }
}

/// Answers one request. A client that disconnects, or is too slow, gets no answer.
async fn connection(stream: impl AsyncRead + AsyncWrite + Unpin, pages: Arc<Pages>) {
    let service = service_fn(move |request: Request<Incoming>| {
        let response = match *request.method() {
            Method::GET | Method::HEAD => pages.respond(request.uri()),
            _ => text(StatusCode::METHOD_NOT_ALLOWED, "405 method not allowed\n"),
        };
        async { Ok::<_, Infallible>(response) }
    });
    let mut builder = http1::Builder::new();
    // `LIMIT` includes the time for the head.
    builder.keep_alive(false).max_buf_size(HEAD).header_read_timeout(None);
    let _ = timeout(LIMIT, builder.serve_connection(TokioIo::new(stream), service)).await;
}

/// What the server serves.
struct Pages {
    health: Health,
    #[cfg(feature = "prometheus")]
    registry: Option<prometheus::Registry>,
}

impl Pages {
    fn respond(&self, uri: &Uri) -> Response<Full<Bytes>> {
        if let Some(response) = self.health.respond(uri.path(), uri.query().unwrap_or_default()) {
            let status = if response.passed { StatusCode::OK } else { StatusCode::INTERNAL_SERVER_ERROR };
            return text(status, response.body);
        }
        #[cfg(feature = "prometheus")]
        if let (Some(registry), "/metrics") = (&self.registry, uri.path()) {
            return match prometheus::TextEncoder::new().encode_to_string(&registry.gather()) {
                Ok(body) => page(StatusCode::OK, prometheus::TEXT_FORMAT, body),
                Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("cannot encode the metrics: {error}\n")),
            };
        }
        text(StatusCode::NOT_FOUND, "404 page not found\n")
    }
}

fn text(status: StatusCode, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    page(status, TEXT, body)
}

fn page(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

#[cfg(test)]
mod tests;
