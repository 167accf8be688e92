//! A request before it is authenticated and sent.

use bytes::Bytes;
use http::{HeaderValue, Method};
use kube_wire::{Accept, Encoding};

const JSON: HeaderValue = HeaderValue::from_static(Encoding::Json.media_type());

/// A request without authentication headers, which can be sent repeatedly.
pub(crate) struct Outgoing {
    pub(crate) method: Method,
    pub(crate) path_and_query: String,
    pub(crate) accept: Accept,
    pub(crate) content_type: Option<HeaderValue>,
    pub(crate) body: Bytes,
}

impl Outgoing {
    pub(crate) fn json(method: Method, path_and_query: String, body: Vec<u8>) -> Self {
        Self { method, path_and_query, accept: Accept::default(), content_type: Some(JSON), body: body.into() }
    }

    pub(crate) fn get(path_and_query: String) -> Self {
        let (method, accept) = (Method::GET, Accept::default());
        Self { method, path_and_query, accept, content_type: None, body: Bytes::new() }
    }
}
