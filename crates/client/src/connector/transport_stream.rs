//! The transport stream under TLS: direct, tunnelled or to a forwarding proxy.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_rustls::MaybeHttpsStream;
use hyper_util::{
    client::legacy::connect::{Connected, Connection},
    rt::TokioIo,
};
use tokio::{io::BufReader, net::TcpStream};

type Tcp = TokioIo<TcpStream>;

/// Size of the read buffer in bytes. rustls reads at most 4 KiB at once, so that without a buffer below it a slice of
/// 20 KiB would cost six system calls.
const READ_BUFFER: usize = 32 << 10;

/// A TCP connection, or a TLS connection to an https proxy.
pub(crate) struct TransportStream {
    stream: TokioIo<BufReader<TokioIo<MaybeHttpsStream<Tcp>>>>,
    /// Whether a proxy forwards the requests, which then contain the absolute URL.
    forwarded: bool,
}

impl TransportStream {
    pub(super) fn direct(stream: Tcp) -> TransportStream {
        TransportStream::new(MaybeHttpsStream::Http(stream), false)
    }

    pub(super) fn tunnel(stream: MaybeHttpsStream<Tcp>) -> TransportStream {
        TransportStream::new(stream, false)
    }

    pub(super) fn forwarded(stream: MaybeHttpsStream<Tcp>) -> TransportStream {
        TransportStream::new(stream, true)
    }

    fn new(stream: MaybeHttpsStream<Tcp>, forwarded: bool) -> TransportStream {
        let stream = BufReader::with_capacity(READ_BUFFER, TokioIo::new(stream));
        TransportStream { stream: TokioIo::new(stream), forwarded }
    }
}

impl Connection for TransportStream {
    fn connected(&self) -> Connected {
        self.stream.inner().get_ref().inner().connected().proxy(self.forwarded)
    }
}

impl Read for TransportStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl Write for TransportStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, buffers)
    }
}
