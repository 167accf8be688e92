//! The types of `k8s-openapi`, read whole.

use k8s_openapi::{
    ClusterResourceScope, Metadata, NamespaceResourceScope, apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use serde::de::DeserializeOwned;

use crate::{Decode, DecodeError, Object, Resource, ResourceVersion, Uid, json};

/// Whether objects of a scope live in namespaces.
pub trait Scope {
    #[doc(hidden)]
    const NAMESPACED: bool;
}

impl Scope for ClusterResourceScope {
    const NAMESPACED: bool = false;
}

impl Scope for NamespaceResourceScope {
    const NAMESPACED: bool = true;
}

impl<K> Object for K
where
    K: Metadata<Ty = ObjectMeta> + Send + Sync + 'static,
{
    fn namespace(&self) -> &str {
        self.metadata().namespace.as_deref().unwrap_or_default()
    }

    fn name(&self) -> &str {
        self.metadata().name.as_deref().unwrap_or_default()
    }

    fn uid(&self) -> Uid {
        self.metadata().uid.as_deref().map(Uid::from).unwrap_or_default()
    }

    fn resource_version(&self) -> ResourceVersion {
        self.metadata().resource_version.as_deref().map(ResourceVersion::from).unwrap_or_default()
    }
}

impl<K> Decode for K
where
    K: Metadata<Ty = ObjectMeta> + DeserializeOwned + Send + Sync + 'static,
    K::Scope: Scope,
{
    const RESOURCE: Resource = Resource {
        group: K::GROUP,
        version: K::VERSION,
        plural: K::URL_PATH_SEGMENT,
        kind: K::KIND,
        namespaced: <K::Scope as Scope>::NAMESPACED,
    };

    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
        json::from_slice(K::KIND, bytes)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{core::v1::Node, discovery::v1::EndpointSlice};

    use super::*;
    use crate::decode_list;

    #[test]
    fn knows_where_types_live() {
        assert_eq!(
            EndpointSlice::RESOURCE.path(Some("shop")),
            "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices"
        );
        assert_eq!(Node::RESOURCE, Resource::cluster("", "v1", "nodes", "Node"));
    }

    #[test]
    fn reads_items_that_do_not_say_what_they_are() {
        let list = decode_list::<Node>(
            br#"{"kind":"NodeList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a","uid":"u","resourceVersion":"3"}}]}"#,
        );
        let node = &list.unwrap().items[0];
        assert_eq!(node.key().to_string(), "a");
        assert_eq!((Object::uid(node), Object::resource_version(node)), ("u".into(), 3.into()));
    }
}
