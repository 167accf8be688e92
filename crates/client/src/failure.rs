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
    let (mut next, mut without_io) = (Some(error), TransportKind::Other);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<legacy::Error>()
            && error.is_connect()
        {
            return TransportKind::Connect;
        }
        if let Some(error) = error.downcast_ref::<hyper::Error>() {
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
            return io_kind(error.kind());
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
    use display_full_error::DisplayFullErrorExt as _;

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
}
