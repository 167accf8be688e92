//! A minimal HTTP client, since it shares the machine with the server.

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::Error;

/// A connection that serves one request at a time.
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    /// Drives the connection; dropped with this value.
    _driver: JoinSet<()>,
}

impl Connection {
    pub(crate) async fn open(address: std::net::SocketAddr) -> Result<Self, Error> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        let mut driver = JoinSet::new();
        driver.spawn(async move {
            let _ = connection.await;
        });
        Ok(Self { sender, _driver: driver })
    }

    pub(crate) async fn send(
        &mut self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<http::Response<hyper::body::Incoming>, Error> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "scale")
            .header("content-type", "application/json")
            .body(Full::new(body))?;
        self.sender.ready().await?;
        Ok(self.sender.send_request(request).await?)
    }

    /// Sends a write and discards the response body.
    ///
    /// # Errors
    /// If the connection fails or the status is not a success.
    pub(crate) async fn write(&mut self, method: Method, path: &str, body: Bytes) -> Result<(), Error> {
        let response = self.send(method, path, body).await?;
        let status = response.status();
        let answer = response.into_body().collect().await?.to_bytes();
        if !status.is_success() {
            return Err(format!("{path}: {status}: {}", String::from_utf8_lossy(&answer)).into());
        }
        Ok(())
    }
}
