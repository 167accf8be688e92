//! Classification of transport errors.

use std::{error::Error as StdError, io};

use hyper_util::client::legacy;
use tower::BoxError;

use crate::{Call, Error, TransportKind};

pub(crate) fn transport_error(call: &Call, source: BoxError) -> Error {
    Error::Transport { call: call.clone(), kind: kind(&*source), source }
}

/// Returns the kind of the first error in the source chain that determines one.
fn kind(error: &(dyn StdError + 'static)) -> TransportKind {
    let mut next = Some(error);
    let (mut is_connected, mut without_io) = (false, TransportKind::Other);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<legacy::Error>() {
            if error.is_connect() {
                return TransportKind::Connect;
            }
            is_connected = true;
        }
        if let Some(error) = error.downcast_ref::<hyper::Error>() {
            is_connected = true;
            // hyper reports a timeout for an unanswered HTTP/2 ping; it closes the connection, so this is a reset.
            if error.is_incomplete_message() || error.is_closed() || error.is_canceled() || error.is_timeout() {
                return TransportKind::Reset;
            }
            // GOAWAY and RST_STREAM, as an `h2::Error` that has no source.
            if !error.is_user() && !error.is_parse() {
                without_io = TransportKind::Reset;
            }
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return match io_kind(error.kind()) {
                // Of an established connection: the request may have been sent.
                TransportKind::Connect if is_connected => TransportKind::Reset,
                kind => kind,
            };
        }
        next = error.source();
    }
    without_io
}

fn io_kind(kind: io::ErrorKind) -> TransportKind {
    use io::ErrorKind as E;
    match kind {
        E::ConnectionReset | E::ConnectionAborted | E::BrokenPipe | E::UnexpectedEof | E::NotConnected => {
            TransportKind::Reset
        }
        E::ConnectionRefused | E::HostUnreachable | E::NetworkUnreachable => TransportKind::Connect,
        E::TimedOut => TransportKind::Timeout,
        _ => TransportKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::Pin,
        task::{Context, Poll},
    };

    use bytes::Bytes;
    use display_full_error::DisplayFullErrorExt as _;
    use http::Uri;
    use http_body_util::Full;
    use hyper::rt::{Read, ReadBufCursor, Write};
    use hyper_util::{
        client::legacy::{
            Client,
            connect::{Connected, Connection},
        },
        rt::TokioExecutor,
    };
    use rstest::rstest;
    use tower::service_fn;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("request failed")]
    struct Wrapped(#[source] io::Error);

    #[test]
    fn chain_contains_the_call_and_all_causes() {
        let cause = io::Error::new(io::ErrorKind::ConnectionReset, "connection reset by peer");
        let error = transport_error(&Call::new("update", "endpoints", "shop", "web"), Wrapped(cause).into());
        assert_eq!(error.to_string_full(), "update endpoints shop/web: request failed: connection reset by peer");
    }

    /// A connection whose reads fail after a request was written.
    struct Failing {
        read: io::ErrorKind,
        is_written: bool,
    }

    impl Read for Failing {
        fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
            if self.is_written { Poll::Ready(Err(self.read.into())) } else { Poll::Pending }
        }
    }

    impl Write for Failing {
        fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            self.is_written = true;
            cx.waker().wake_by_ref();
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    impl Connection for Failing {
        fn connected(&self) -> Connected {
            Connected::new()
        }
    }

    /// `EHOSTUNREACH` also ends an established connection whose packets are not acknowledged.
    #[rstest]
    #[case::before(None, io::ErrorKind::HostUnreachable, TransportKind::Connect)]
    #[case::unreachable(Some(io::ErrorKind::HostUnreachable), io::ErrorKind::Other, TransportKind::Reset)]
    #[case::refused(Some(io::ErrorKind::ConnectionRefused), io::ErrorKind::Other, TransportKind::Reset)]
    #[case::timed_out(Some(io::ErrorKind::TimedOut), io::ErrorKind::Other, TransportKind::Timeout)]
    #[tokio::test]
    async fn unreachable_on_a_connection_is_a_reset(
        #[case] read: Option<io::ErrorKind>,
        #[case] connect: io::ErrorKind,
        #[case] expect: TransportKind,
    ) {
        let connector = service_fn(move |_: Uri| {
            let connection = read.map(|read| Failing { read, is_written: false });
            std::future::ready(connection.ok_or_else(|| io::Error::from(connect)))
        });
        let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build(connector);
        let error = client.get(Uri::from_static("http://server/")).await.unwrap_err();
        assert_eq!(kind(&error), expect, "{error:?}");
    }
}
