//! The streamed body of a list or watch.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::{Stream, StreamExt as _, future::BoxFuture, stream::BoxStream};
use http::{HeaderMap, HeaderValue, header::CONTENT_TYPE};
use http_body_util::BodyDataStream;
use kube_wire::Encoding;
use tower::BoxError;

use crate::{Call, Error, failure::transport_error, service::ResponseBody};

/// Future that resolves when the connection of a watch is to be replaced.
pub(crate) type Replaced = BoxFuture<'static, ()>;

/// Stream of the response body of a list or watch, in chunks of arbitrary size. Dropping it cancels the request.
///
/// The stream of a watch also ends when its connection is replaced after a change of the configuration, see
/// [`Config::follow_files`](crate::Config::follow_files).
pub struct Body {
    call: Call,
    encoding: Encoding,
    chunks: BoxStream<'static, Result<Bytes, BoxError>>,
}

impl Body {
    /// Returns the stream of `body`, which ends like a watch that the server closes when `replaced` resolves.
    ///
    /// Fails with [`Error::InvalidResponse`] if the content type is neither JSON nor protobuf, such as the HTML page of
    /// a proxy.
    pub(crate) fn new(
        call: Call,
        headers: &HeaderMap,
        body: ResponseBody,
        replaced: Option<Replaced>,
    ) -> Result<Self, Error> {
        let chunks = BodyDataStream::new(body);
        let chunks = match replaced {
            Some(replaced) => chunks.take_until(replaced).boxed(),
            None => chunks.boxed(),
        };
        match encoding_of(headers) {
            Ok(encoding) => Ok(Self { call, encoding, chunks }),
            Err(found) => Err(unexpected_content_type(call, &found)),
        }
    }

    /// Returns the encoding of the body. It may differ from the requested one: servers have no protobuf for some types,
    /// such as custom resources.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }
}

impl Stream for Body {
    type Item = Result<Bytes, Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let chunk = this.chunks.poll_next_unpin(context);
        chunk.map(|chunk| chunk.map(|chunk| chunk.map_err(|error| transport_error(&this.call, error))))
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("call", &self.call).field("encoding", &self.encoding).finish_non_exhaustive()
    }
}

pub(crate) fn unexpected_content_type(call: Call, found: &str) -> Error {
    Error::InvalidResponse { call, source: format!("unexpected content type {found}").into() }
}

/// Returns the encoding in `Content-Type`; see [`Encoding::of_response`].
pub(crate) fn encoding_of(headers: &HeaderMap) -> Result<Encoding, String> {
    Encoding::of_response(headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes))
}
