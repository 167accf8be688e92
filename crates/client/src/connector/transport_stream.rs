//! The transport stream under TLS.

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
use tokio::io::BufReader;

use super::Tcp;

/// Size of the read buffer in bytes. rustls reads at most 4 KiB at once, so that without a buffer below it a slice of
/// 20 KiB would cost six system calls.
const READ_BUFFER: usize = 32 << 10;

/// A TCP connection, or a TLS connection to an https proxy, with a read buffer.
pub(crate) struct TransportStream(TokioIo<BufReader<TokioIo<MaybeHttpsStream<Tcp>>>>);

impl TransportStream {
    pub(super) fn new(stream: MaybeHttpsStream<Tcp>) -> TransportStream {
        TransportStream(TokioIo::new(BufReader::with_capacity(READ_BUFFER, TokioIo::new(stream))))
    }
}

impl Connection for TransportStream {
    fn connected(&self) -> Connected {
        self.0.inner().get_ref().inner().connected()
    }
}

impl Read for TransportStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl Write for TransportStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(context, buffers)
    }
}
