//! A TCP stream that can be reset and counts its bytes.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::traffic::Meter;

/// Handle with which a request ends its connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Kill(CancellationToken);

impl Kill {
    /// Resets the connection: the peer gets an error, not an end of stream.
    pub(super) fn reset(&self) {
        self.0.cancel();
    }

    /// Resolves when the connection is to be dropped.
    pub(super) async fn requested(&self) {
        self.0.cancelled().await;
    }

    /// Resets the connection and never resolves; the connection task drops the future.
    pub(super) async fn reset_and_never_answer<T>(&self) -> T {
        self.reset();
        std::future::pending().await
    }
}

/// TCP stream that sends RST instead of FIN if its [`Kill`] requests it, and that counts its bytes.
#[derive(Debug)]
pub(super) struct Socket {
    stream: TcpStream,
    kill: Kill,
    meter: Arc<Meter>,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, kill: Kill, meter: Arc<Meter>) -> Self {
        // Nagle's algorithm would delay small watch events until an acknowledgement.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "setting TCP_NODELAY failed");
        }
        Self { stream, kill, meter }
    }

    fn count(&self, written: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(bytes)) = written {
            self.meter.sent(*bytes);
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.kill.0.is_cancelled()
            && let Err(error) = self.stream.set_zero_linger()
        {
            tracing::debug!(%error, "setting SO_LINGER failed; the connection is closed instead of reset");
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        self.meter.received(buffer.filled().len() - before);
        polled
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.count(&polled);
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.count(&polled);
        polled
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
