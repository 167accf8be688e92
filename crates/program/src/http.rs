//! HTTP server of the probes and the metrics of a controller.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use kube_controller::Health;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::Controller;

/// Number of connections that are served at once. Further ones wait in the backlog of the listener.
const CONNECTIONS: usize = 32;
/// Time limit of a connection, for the request and its response.
const LIMIT: Duration = Duration::from_secs(10);
/// Maximum size of a request up to the empty line that ends its headers, in bytes.
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
async fn connection(mut stream: impl AsyncRead + AsyncWrite + Unpin, pages: Arc<Pages>) {
    let exchange = async {
        let head = read_head(&mut stream).await?;
        let mut line = head.split(|byte| *byte == b'\r').next().unwrap_or_default().split(|byte| *byte == b' ');
        let mut word = || line.next().and_then(|word| std::str::from_utf8(word).ok()).unwrap_or_default();
        let (method, target) = (word(), word());
        let response = match method {
            _ if !head.ends_with(b"\r\n\r\n") || !target.starts_with('/') => Response::text(400, "400 Bad Request\n"),
            "GET" | "HEAD" => pages.respond(target),
            _ => Response::text(405, "405 Method Not Allowed\n"),
        };
        let mut bytes = response.to_string().into_bytes();
        if method != "HEAD" {
            bytes.extend_from_slice(response.body.as_bytes());
        }
        stream.write_all(&bytes).await?;
        stream.shutdown().await
    };
    let _ = timeout(LIMIT, exchange).await;
}

/// Reads up to the end of the headers, the end of the stream, or [`HEAD`] bytes. What follows the headers is dropped.
async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    loop {
        if let Some(end) = head.windows(4).position(|it| it == b"\r\n\r\n") {
            head.truncate(end + 4);
            return Ok(head);
        }
        let left = HEAD.saturating_sub(head.len()) as u64;
        if left == 0 || (&mut *stream).take(left).read_buf(&mut head).await? == 0 {
            return Ok(head);
        }
    }
}

/// What the server serves.
struct Pages {
    health: Health,
    #[cfg(feature = "prometheus")]
    registry: Option<prometheus::Registry>,
}

impl Pages {
    fn respond(&self, target: &str) -> Response {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if let Some(response) = self.health.respond(path, query) {
            return Response { status: response.status(), content_type: TEXT, body: response.body };
        }
        #[cfg(feature = "prometheus")]
        if let (Some(registry), "/metrics") = (&self.registry, path) {
            return match prometheus::TextEncoder::new().encode_to_string(&registry.gather()) {
                Ok(body) => Response { status: 200, content_type: prometheus::TEXT_FORMAT, body },
                Err(error) => Response::text(500, &format!("cannot encode the metrics: {error}\n")),
            };
        }
        Response::text(404, "404 page not found\n")
    }
}

struct Response {
    status: u16,
    content_type: &'static str,
    body: String,
}

impl Response {
    fn text(status: u16, body: &str) -> Response {
        Response { status, content_type: TEXT, body: body.to_owned() }
    }
}

/// Formats the status line and the headers.
impl fmt::Display for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Response { status, content_type, body } = self;
        let reason = match status {
            200 => "OK",
            400 => "Bad Request",
            404 => "Not Found",
            405 => "Method Not Allowed",
            _ => "Internal Server Error",
        };
        write!(f, "HTTP/1.1 {status} {reason}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n", body.len())?;
        f.write_str("X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n")
    }
}

#[cfg(test)]
mod tests;
