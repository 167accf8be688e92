//! The socket of a connection: resets connections that are displaced, and ends those whose client does not read.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// Time limit of a write that makes no progress.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// State of a socket that is shared with its owner.
#[derive(Debug, Default)]
pub(crate) struct SocketState {
    reset: AtomicBool,
    stalled: AtomicBool,
}

impl SocketState {
    /// Marks the socket, which is then reset instead of closed when it is dropped: nothing is left in the kernel, neither
    /// data to be sent nor the state `TIME_WAIT`.
    pub(crate) fn reset_on_drop(&self) {
        self.reset.store(true, Ordering::Relaxed);
    }

    /// Returns whether the client has read nothing for too long.
    pub(crate) fn has_stalled(&self) -> bool {
        self.stalled.load(Ordering::Relaxed)
    }
}

/// A TCP stream whose writes fail if the client reads nothing for 10 s.
pub(crate) struct Socket {
    stream: TcpStream,
    state: Arc<SocketState>,
    /// Set while a write waits.
    write_timeout: Option<Pin<Box<Sleep>>>,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, state: Arc<SocketState>) -> Self {
        Self { stream, state, write_timeout: None }
    }

    /// Waits until the client has sent something, or has closed the connection.
    pub(crate) async fn first_byte(&self) -> io::Result<()> {
        // `readable` may return although there is nothing to read.
        self.stream.peek(&mut [0]).await.map(drop)
    }

    fn limit<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.write_timeout = None;
            return written;
        }
        let timeout = self.write_timeout.get_or_insert_with(|| Box::pin(sleep(WRITE_TIMEOUT)));
        match timeout.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                self.state.stalled.store(true, Ordering::Relaxed);
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.state.reset.load(Ordering::Relaxed) {
            // An error means that the connection is gone already.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.limit(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.limit(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.limit(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
