//! Where the objects live in the API and how they are read from the wire.

use kube_wire::{Decode, DecodeError, Object, ObjectKey, Resource};

use crate::{EndpointSlice, Endpoints, Node, Pod, Service};

/// Implements [`Object`] and [`Decode`] for a type: its resource, then the paths of namespace, name, uid and version.
macro_rules! decode {
    ($type:ty, $resource:expr, $($at:ident).+, namespaced) => {
        decode!($type, $resource, $($at).+, |it| ObjectKey { namespace: it.namespace.clone(), name: it.name.clone() });
    };
    ($type:ty, $resource:expr, $($at:ident).+, cluster) => {
        decode!($type, $resource, $($at).+, |it| ObjectKey { namespace: "".into(), name: it.name.clone() });
    };
    ($type:ty, $resource:expr, $this:ident $(. $at:ident)*, |$it:ident| $key:expr) => {
        impl Object for $type {
            fn key(&self) -> ObjectKey {
                let $this = self;
                let $it = &$this $(. $at)*;
                $key
            }
            fn uid(&self) -> &str {
                let $this = self;
                &$this $(. $at)*.uid
            }
            fn resource_version(&self) -> &str {
                let $this = self;
                &$this $(. $at)*.resource_version
            }
        }

        impl Decode for $type {
            const RESOURCE: Resource = $resource;
            fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
                kube_wire::json::from_slice(Self::RESOURCE.kind, bytes)
            }
        }
    };
}

decode!(Pod, Resource::namespaced("", "v1", "pods", "Pod"), it, namespaced);
decode!(Service, Resource::namespaced("", "v1", "services", "Service"), it, namespaced);
decode!(Node, Resource::cluster("", "v1", "nodes", "Node"), it, cluster);
decode!(Endpoints, Resource::namespaced("", "v1", "endpoints", "Endpoints"), it.metadata, namespaced);
decode!(
    EndpointSlice,
    Resource::namespaced("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"),
    it.metadata,
    namespaced
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_from_the_metadata() {
        let slice = EndpointSlice::from_json(
            br#"{"metadata":{"namespace":"ns","name":"web-x","uid":"u","resourceVersion":"4"},"addressType":"IPv4"}"#,
        )
        .unwrap();
        assert_eq!((slice.key().to_string().as_str(), slice.uid(), slice.resource_version()), ("ns/web-x", "u", "4"));
        let node = Node::from_json(br#"{"metadata":{"name":"n","resourceVersion":"5"}}"#).unwrap();
        assert_eq!(node.key().to_string(), "n");
    }

    #[test]
    fn an_object_of_the_wrong_shape_is_an_error_that_names_the_field() {
        let error = Pod::from_json(br#"{"metadata":{"name":"p"},"status":{"podIPs":"10.0.0.1"}}"#).unwrap_err();
        assert!(error.to_string().contains("Pod") && error.to_string().contains("status"), "{error}");
    }
}
