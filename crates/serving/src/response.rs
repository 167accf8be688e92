//! Responses of pages.

use bytes::Bytes;
pub use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue};
use http_body_util::Full;
use serde_json::json;

/// A response with a body in memory.
pub type Response = http::Response<Full<Bytes>>;

const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const NOSNIFF: HeaderName = HeaderName::from_static("x-content-type-options");

/// Returns a response with this content type, which caches do not store.
pub fn of(code: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(NOSNIFF, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

/// Returns a response of plain text in UTF-8.
pub fn text(code: StatusCode, body: impl Into<Bytes>) -> Response {
    of(code, TEXT, body)
}

/// Returns a document as JSON, with status 200.
pub fn json(body: &serde_json::Value) -> Response {
    of(StatusCode::OK, JSON, body.to_string())
}

pub(crate) fn yaml(body: &serde_json::Value) -> Response {
    match serde_saphyr::to_string(body) {
        Ok(text) => of(StatusCode::OK, YAML, text),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
    }
}

/// Returns the response of a path that does not exist, with status 404.
pub fn not_found() -> Response {
    text(StatusCode::NOT_FOUND, "404 page not found\n")
}

pub(crate) fn method_not_allowed() -> Response {
    text(StatusCode::METHOD_NOT_ALLOWED, "405 method not allowed\n")
}

/// Returns the answer to a request that is over a limit. The client may retry after 1 s.
pub(crate) fn too_many_requests() -> Response {
    let message = "Too many requests, please try again later.";
    let mut response = status(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// Returns an error as a `Status` object of the API.
pub(crate) fn status(code: StatusCode, reason: &str, message: &str) -> Response {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code.as_u16(),
    });
    of(code, JSON, format!("{status}\n"))
}
