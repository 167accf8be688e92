//! Response bodies, modified by faults where any match.

use std::io;

use bytes::{BufMut as _, Bytes, BytesMut};
use futures::stream;
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, StreamBody};
use tokio::time::{Instant, sleep, sleep_until};

use super::reply::Body;
use super::socket::Kill;
use super::watch;
use crate::faults::{End, OpenWatch, StreamFaults};
use crate::status::StatusError;

/// Response body as sent to the connection.
pub(super) type Outgoing = UnsyncBoxBody<Bytes, io::Error>;

pub(super) fn reset() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, "connection reset by the API server")
}

/// Wraps a body that no fault modifies.
pub(super) fn unmodified(body: Body) -> Outgoing {
    body.map_err(|never| match never {}).boxed_unsync()
}

/// Wraps a body that faults modify, or that of a watch, which `Faults::cut_watches` can end.
pub(super) fn with_faults(
    body: Body,
    faults: Option<StreamFaults>,
    watch: Option<OpenWatch>,
    kill: Kill,
    in_protobuf: bool,
) -> Outgoing {
    let end = faults.as_ref().and_then(|faults| faults.end).map(|(after, how)| (Instant::now() + after, how));
    let body_with_faults =
        FaultyBody { body, faults, watch, kill, end, pending: Bytes::new(), in_protobuf, ended: false };
    StreamBody::new(stream::unfold(body_with_faults, |mut body_with_faults| async move {
        let frame = body_with_faults.next().await?;
        Some((frame, body_with_faults))
    }))
    .boxed_unsync()
}

struct FaultyBody {
    body: Body,
    faults: Option<StreamFaults>,
    watch: Option<OpenWatch>,
    kill: Kill,
    end: Option<(Instant, End)>,
    /// Bytes taken from `body` and not sent yet.
    pending: Bytes,
    /// Encoding of the error event that ends the watch.
    in_protobuf: bool,
    ended: bool,
}

impl FaultyBody {
    async fn next(&mut self) -> Option<io::Result<Frame<Bytes>>> {
        if self.ended {
            return None;
        }
        let (end_at, how) = self.end.map_or((None, End::Cleanly), |(at, how)| (Some(at), how));
        let cut = self.watch.as_ref().map(|watch| watch.cut.clone());
        tokio::select! {
            // First, so that a busy watch cannot postpone its end.
            biased;
            () = async { sleep_until(end_at.unwrap_or_else(Instant::now)).await }, if end_at.is_some() => self.finish(how),
            () = async { if let Some(cut) = &cut { cut.cancelled().await } }, if cut.is_some() => self.finish(End::Cleanly),
            frame = self.piece() => frame.map(Ok),
        }
    }

    /// Returns the next part of the body once its delay has passed. Cancel-safe: bytes taken from the body are stored
    /// in `pending` before the first await.
    async fn piece(&mut self) -> Option<Frame<Bytes>> {
        if self.pending.is_empty() {
            let frame = match self.body.frame().await? {
                Ok(frame) => frame,
                Err(never) => match never {},
            };
            match frame.into_data() {
                Ok(data) if self.faults.as_ref().is_some_and(|faults| faults.repeat) => {
                    self.pending = duplicate_events(&data, self.in_protobuf);
                }
                Ok(data) => self.pending = data,
                Err(trailers) => return Some(trailers),
            }
            if let Some(delay) = self.faults.as_mut().and_then(StreamFaults::draw_delay) {
                sleep(delay).await;
            }
        }
        match self.faults.as_mut().and_then(|faults| faults.draw_piece(self.pending.len())) {
            Some((piece, pause)) => {
                if !pause.is_zero() {
                    sleep(pause).await;
                }
                Some(Frame::data(self.pending.split_to(piece.min(self.pending.len()))))
            }
            None => Some(Frame::data(std::mem::take(&mut self.pending))),
        }
    }

    fn finish(&mut self, how: End) -> Option<io::Result<Frame<Bytes>>> {
        self.ended = true;
        match how {
            End::Cleanly => None,
            End::Expired => {
                Some(Ok(Frame::data(watch::error_event(&StatusError::expired_by_fault(), self.in_protobuf))))
            }
            End::Reset => {
                self.kill.reset();
                Some(Err(reset()))
            }
        }
    }
}

/// Returns every watch event in `events` twice. The input ends at an event boundary.
fn duplicate_events(mut events: &[u8], in_protobuf: bool) -> Bytes {
    let mut twice = BytesMut::with_capacity(events.len() * 2);
    while !events.is_empty() {
        let length = match events.first_chunk() {
            Some(length) if in_protobuf => u32::from_be_bytes(*length) as usize + size_of::<u32>(),
            _ => events.iter().position(|byte| *byte == b'\n').map_or(events.len(), |end| end + 1),
        };
        let (event, rest) = events.split_at(length.min(events.len()));
        twice.put_slice(event);
        twice.put_slice(event);
        events = rest;
    }
    twice.freeze()
}
