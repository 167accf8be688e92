//! A request before it is authenticated and sent.

use bytes::Bytes;
use http::{HeaderValue, Method};
use kube_wire::{Encoding, Resource};

use crate::query::percent_encode;

const JSON: HeaderValue = HeaderValue::from_static(Encoding::Json.media_type());
/// Accept header of client-go for protobuf: the server falls back to JSON for types without protobuf (custom
/// resources).
const PROTOBUF_OR_JSON: HeaderValue = HeaderValue::from_static("application/vnd.kubernetes.protobuf,application/json");

/// A request without authentication headers, which can be sent repeatedly.
pub(crate) struct Outgoing {
    pub(crate) method: Method,
    pub(crate) path_and_query: String,
    pub(crate) accept: Encoding,
    pub(crate) content_type: Option<HeaderValue>,
    pub(crate) body: Bytes,
}

impl Outgoing {
    pub(crate) fn json(method: Method, path_and_query: String, body: Vec<u8>) -> Self {
        Self { method, path_and_query, accept: Encoding::Json, content_type: Some(JSON), body: body.into() }
    }

    pub(crate) fn get(path_and_query: String) -> Self {
        let (method, accept) = (Method::GET, Encoding::Json);
        Self { method, path_and_query, accept, content_type: None, body: Bytes::new() }
    }

    /// Returns the `Accept` header.
    pub(crate) fn accept(&self) -> HeaderValue {
        match self.accept {
            Encoding::Json => JSON,
            Encoding::Protobuf => PROTOBUF_OR_JSON,
        }
    }
}

/// Returns the path of an object, or of its collection if `name` is empty.
pub(crate) fn path(resource: &Resource, namespace: &str, name: &str) -> String {
    let mut path = resource.path(Some(&percent_encode(namespace)));
    if !name.is_empty() {
        path.push('/');
        path.push_str(&percent_encode(name));
    }
    path
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{core::v1::Node, core::v1::Pod, discovery::v1::EndpointSlice};
    use kube_wire::Decode as _;

    use super::*;

    #[test]
    fn path_percent_encodes_namespace_and_name() {
        assert_eq!(path(&Pod::RESOURCE, "shop", ""), "/api/v1/namespaces/shop/pods");
        assert_eq!(path(&Node::RESOURCE, "", "node-1"), "/api/v1/nodes/node-1");
        assert_eq!(
            path(&EndpointSlice::RESOURCE, "shop/..", "web-1"),
            "/apis/discovery.k8s.io/v1/namespaces/shop%2F../endpointslices/web-1"
        );
    }
}
