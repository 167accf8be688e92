//! API resources of the types, and their decoding from the wire.

use kube_wire::protobuf::Fields;
use kube_wire::{Decode, DecodeError, Object, ObjectKey, Resource, ResourceVersion, Uid};

use crate::pod::PodBuilder;
use crate::protobuf::Message as _;
use crate::{EndpointSlice, Endpoints, Node, Pod, Service, Text, node, service};

/// Implements [`Object`] and [`Decode`] for a type, given the type of its message, its resource, and the paths of its
/// namespace and its metadata.
macro_rules! decode {
    ($type:ty, $message:ty, $resource:expr, $this:ident => $namespace:expr, $metadata:expr) => {
        impl Object for $type {
            fn namespace(&$this) -> &str {
                $namespace
            }
            fn name(&$this) -> &str {
                &$metadata.name
            }
            fn uid(&$this) -> Uid {
                $metadata.uid.clone()
            }
            fn resource_version(&$this) -> ResourceVersion {
                $metadata.resource_version.clone()
            }
            fn content_eq(&self, other: &Self) -> bool {
                self == other
            }
            fn key(&$this) -> ObjectKey {
                ObjectKey { namespace: Text::clone($namespace), name: $metadata.name.clone() }
            }
        }

        impl Decode for $type {
            const RESOURCE: Resource = $resource;
            const PROTOBUF: bool = true;
            const READS_MANAGED_FIELDS: bool = false;
            fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
                kube_wire::json::from_slice(Self::RESOURCE.kind, bytes)
            }
            fn from_protobuf(bytes: &[u8]) -> Result<Self, DecodeError> {
                let mut it = <$message>::default();
                it.merge(Fields::new(bytes)).map_err(|error| error.reading(Self::RESOURCE.kind))?;
                Ok(Self::from(it))
            }
        }
    };
}

/// Namespace of cluster-scoped objects.
const CLUSTER: &Text = &Text::new();

decode!(Pod, PodBuilder, Resource::namespaced("", "v1", "pods", "Pod"), self => &self.namespace, self);
decode!(Service, service::Document, Resource::namespaced("", "v1", "services", "Service"), self => &self.namespace, self);
decode!(Node, node::Document, Resource::cluster("", "v1", "nodes", "Node"), self => CLUSTER, self);
decode!(
    Endpoints,
    Endpoints,
    Resource::namespaced("", "v1", "endpoints", "Endpoints"),
    self => &self.metadata.namespace,
    self.metadata
);
decode!(
    EndpointSlice,
    EndpointSlice,
    Resource::namespaced("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"),
    self => &self.metadata.namespace,
    self.metadata
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
        assert_eq!(slice.key().to_string(), "ns/web-x");
        assert_eq!((slice.uid(), slice.resource_version()), ("u".into(), 4.into()));
        let node = Node::from_json(br#"{"metadata":{"name":"n","resourceVersion":"5"}}"#).unwrap();
        assert_eq!(node.key().to_string(), "n");
    }
}
