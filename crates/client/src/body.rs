//! The body of an answer, as it arrives.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures::Stream;
use http::{HeaderMap, header::CONTENT_TYPE};
use http_body_util::BodyDataStream;
use kube_wire::Encoding;

use crate::{Call, Error, failure::lost, response_body::ResponseBody, transport::Replaced};

/// The bytes of a list or watch as they arrive, cut anywhere. Dropping it ends the request.
///
/// A watch also ends when its connection is replaced, see [`Config::follow_files`](crate::Config::follow_files).
#[derive(Debug)]
pub struct Body {
    call: Call,
    encoding: Encoding,
    stream: BodyDataStream<ResponseBody>,
    /// For watches: the end, before that of the stream.
    replaced: Option<Replaced>,
}

impl Body {
    /// Fails where the server sends something that is neither JSON nor protobuf (a proxy's page, say).
    pub(crate) fn new(
        call: Call,
        headers: &HeaderMap,
        body: ResponseBody,
        replaced: Option<Replaced>,
    ) -> Result<Self, Error> {
        match encoding_of(headers) {
            Ok(encoding) => Ok(Self { call, encoding, stream: BodyDataStream::new(body), replaced }),
            Err(found) => Err(Error::Answer { call, cause: format!("its content type is {found}") }),
        }
    }

    /// How to read the bytes, which may be another encoding than asked for: not all types have protobuf.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }
}

impl Stream for Body {
    type Item = Result<Bytes, Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if let Poll::Ready(chunk) = Pin::new(&mut this.stream).poll_next(context) {
            return Poll::Ready(chunk.map(|chunk| chunk.map_err(|error| lost(&this.call, &*error))));
        }
        match &mut this.replaced {
            // As if the server had ended the watch: the next one goes over a new connection.
            Some(replaced) => {
                ready!(replaced.poll(context));
                // A future must not be polled after its end, a stream may be.
                replaced.set(std::future::ready(()));
                Poll::Ready(None)
            }
            None => Poll::Pending,
        }
    }
}

/// What the headers say of the body; JSON where they say nothing, and the header itself where it is another type.
pub(crate) fn encoding_of(headers: &HeaderMap) -> Result<Encoding, String> {
    let Some(header) = headers.get(CONTENT_TYPE) else { return Ok(Encoding::Json) };
    let header = String::from_utf8_lossy(header.as_bytes());
    Encoding::of_content_type(&header).ok_or_else(|| header.into_owned())
}
