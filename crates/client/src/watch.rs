//! The body of a watch.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures::Stream;
use http_body_util::BodyDataStream;
use hyper::body::Incoming;

use crate::{Call, Error, failure::lost};

/// The bytes of a watch as they arrive, cut anywhere. Dropping it ends the watch.
#[derive(Debug)]
pub struct WatchBody {
    call: Call,
    body: BodyDataStream<Incoming>,
}

impl WatchBody {
    pub(crate) fn new(call: Call, body: Incoming) -> Self {
        Self { call, body: BodyDataStream::new(body) }
    }
}

impl Stream for WatchBody {
    type Item = Result<Bytes, Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let chunk = ready!(Pin::new(&mut this.body).poll_next(context));
        Poll::Ready(chunk.map(|chunk| chunk.map_err(|error| lost(&this.call, &error))))
    }
}
