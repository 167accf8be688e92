//! A socket that can be reset.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::traffic::Meter;

/// Ends a connection from within one of its requests.
#[derive(Debug, Clone, Default)]
pub(super) struct Kill {
    token: CancellationToken,
    by_reset: Arc<AtomicBool>,
}

impl Kill {
    /// Has the connection reset, so that its peer sees an error and not an end.
    pub(super) fn reset(&self) {
        self.by_reset.store(true, Ordering::Relaxed);
        self.token.cancel();
    }

    /// Resolves when the connection is to be dropped.
    pub(super) async fn wanted(&self) {
        self.token.cancelled().await;
    }

    /// Resets, and waits for the end that comes with it.
    pub(super) async fn reset_and_never_answer<T>(&self) -> T {
        self.reset();
        std::future::pending().await
    }
}

/// A TCP stream that is reset instead of closed when its [`Kill`] says so, and whose bytes are counted.
#[derive(Debug)]
pub(super) struct Socket {
    stream: TcpStream,
    kill: Kill,
    meter: Arc<Meter>,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, kill: Kill, meter: Arc<Meter>) -> Self {
        // Small frames that wait for an acknowledgement would delay every watch event.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY cannot be set");
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
        if self.kill.by_reset.load(Ordering::Relaxed)
            && let Err(error) = self.stream.set_zero_linger()
        {
            tracing::debug!(%error, "a connection is closed instead of reset");
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
