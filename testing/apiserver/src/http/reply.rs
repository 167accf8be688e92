//! Response constructors.

use std::convert::Infallible;

use bytes::Bytes;
use futures::Stream;
use futures::StreamExt as _;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, WARNING};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};

use super::accept;
use crate::protobuf;
use crate::status::StatusError;

pub(super) type Body = UnsyncBoxBody<Bytes, Infallible>;
pub(super) type Reply = Response<Body>;

fn reply(status: StatusCode, content_type: &'static str, body: Body) -> Reply {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

/// Returns a response with a complete JSON document.
pub(super) fn json(status: StatusCode, body: impl Into<Bytes>) -> Reply {
    reply(status, "application/json", Full::new(body.into()).boxed_unsync())
}

/// Returns a 200 response with one or more JSON documents that are encoded while they are sent.
pub(super) fn json_stream(chunks: impl Stream<Item = Bytes> + Send + 'static) -> Reply {
    let frames = chunks.map(|chunk| Ok(Frame::data(chunk)));
    reply(StatusCode::OK, "application/json", StreamBody::new(frames).boxed_unsync())
}

/// Sets the content type to protobuf, or to its streaming variant for a watch.
pub(super) fn in_protobuf(mut reply: Reply, watch: bool) -> Reply {
    let media_type = if watch { protobuf::STREAM_TYPE } else { protobuf::MEDIA_TYPE };
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    reply
}

/// Returns a 200 response with plain text.
pub(super) fn text(body: impl Into<Bytes>) -> Reply {
    text_as(StatusCode::OK, body)
}

fn text_as(status: StatusCode, body: impl Into<Bytes>) -> Reply {
    reply(status, "text/plain; charset=utf-8", Full::new(body.into()).boxed_unsync())
}

/// Returns a 200 response with a document that is not JSON.
pub(super) fn bytes_as(content_type: &'static str, body: Vec<u8>) -> Reply {
    reply(StatusCode::OK, content_type, Full::new(body.into()).boxed_unsync())
}

/// Adds one `Warning` header per message.
pub(super) fn with_warnings(mut reply: Reply, warnings: &[String]) -> Reply {
    for warning in warnings {
        let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
        // A message that is not a valid header value is dropped; the response is still sent.
        if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{quoted}\"")) {
            reply.headers_mut().append(WARNING, value);
        }
    }
    reply
}

/// Error of a response, for the request log: the body is encoded.
#[derive(Debug, Clone)]
pub(super) struct LoggedError {
    pub(super) message: String,
    pub(super) denied: bool,
}

pub(super) fn json_error(error: &StatusError) -> Reply {
    json(code_of(error), error.encode())
}

/// Returns an error response with a `Status` in the encoding that the client prefers, and with the warnings of the error.
pub(super) fn error_for(error: &StatusError, headers: &HeaderMap) -> Reply {
    let reply = if error.is_plain_text() {
        text_as(code_of(error), format!("{error}\n"))
    } else if accept::prefers_protobuf(headers) {
        let body = protobuf::status(&error.encode());
        reply(code_of(error), protobuf::MEDIA_TYPE, Full::new(body.into()).boxed_unsync())
    } else {
        json_error(error)
    };
    let mut reply = with_warnings(reply, &error.warnings);
    reply.extensions_mut().insert(LoggedError { message: error.to_string(), denied: error.denied });
    reply
}

fn code_of(error: &StatusError) -> StatusCode {
    StatusCode::from_u16(error.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
