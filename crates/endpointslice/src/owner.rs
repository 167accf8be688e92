//! Owners of slices.

use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use kube_endpoint_model::{
    EndpointSlice, Metadata, ObjectKey, OwnerReference, Resource, ResourceVersion, Service, Text, Uid,
};

/// Object that owns the slices of a plan: a Service, an Endpoints object, or any other namespaced object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Owner {
    /// API version of the owner, for instance `v1`.
    pub api_version: Text,
    /// Kind of the owner, for instance `Service`.
    pub kind: Text,
    /// Namespace of the owner and of its slices.
    pub namespace: Text,
    /// Name of the owner; the names of new slices start with it.
    pub name: Text,
    /// UID of the owner, which the owner references of its slices contain.
    pub uid: Uid,
    /// Resource version that events about the owner refer to; may be empty.
    pub resource_version: ResourceVersion,
    /// Whether the owner is being deleted. If so, no slice is created for it (RC-42).
    pub terminating: bool,
}

impl Owner {
    /// Returns an object of any kind as owner. `metadata` is an [`ObjectMeta`](kube_endpoint_model::ObjectMeta) of `kube-endpoint-model` or another type
    /// that implements [`Metadata`].
    ///
    /// ```
    /// use kube_endpoint_model::ObjectMeta;
    /// use kube_endpointslice::Owner;
    ///
    /// let metadata = ObjectMeta { namespace: "shop".into(), name: "edge".into(), uid: "2f1c".into(), ..ObjectMeta::default() };
    /// let owner = Owner::new("example.com/v1", "Gateway", &metadata);
    /// assert!(!owner.terminating);
    /// ```
    pub fn new(api_version: &str, kind: &str, metadata: &impl Metadata) -> Owner {
        let ObjectKey { namespace, name } = metadata.key();
        Owner {
            api_version: api_version.into(),
            kind: kind.into(),
            namespace,
            name,
            uid: metadata.uid(),
            resource_version: metadata.resource_version(),
            terminating: metadata.is_terminating(),
        }
    }

    /// Returns an object of a resource as owner.
    pub fn of_resource(resource: &Resource, metadata: &impl Metadata) -> Owner {
        Owner::new(&resource.api_version(), resource.kind, metadata)
    }

    /// Returns a Service as owner.
    pub fn service(service: &Service) -> Owner {
        Owner {
            api_version: "v1".into(),
            kind: "Service".into(),
            namespace: service.namespace.clone(),
            name: service.name.clone(),
            uid: service.uid.clone(),
            resource_version: service.resource_version.clone(),
            terminating: service.terminating,
        }
    }

    /// Returns an object of a `k8s-openapi` type as owner.
    pub fn of<K: k8s_openapi::Metadata<Ty = meta::ObjectMeta>>(object: &K) -> Owner {
        let metadata = object.metadata();
        let text = |text: &Option<String>| text.as_deref().map(Text::from).unwrap_or_default();
        Owner {
            api_version: K::API_VERSION.into(),
            kind: K::KIND.into(),
            namespace: text(&metadata.namespace),
            name: text(&metadata.name),
            uid: metadata.uid.as_deref().map(Uid::from).unwrap_or_default(),
            resource_version: metadata.resource_version.as_deref().map(ResourceVersion::from).unwrap_or_default(),
            terminating: metadata.deletion_timestamp.is_some(),
        }
    }

    /// Returns the namespace and name of the owner.
    pub fn key(&self) -> ObjectKey {
        ObjectKey { namespace: self.namespace.clone(), name: self.name.clone() }
    }

    /// Returns the owner reference of the slices, with `controller` and `blockOwnerDeletion` set.
    pub fn reference(&self) -> OwnerReference {
        OwnerReference {
            api_version: self.api_version.clone(),
            kind: self.kind.clone(),
            name: self.name.clone(),
            uid: self.uid.clone(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }
    }

    /// Returns whether a slice refers to this owner (RC-6), by kind, API version and UID.
    pub fn owns(&self, slice: &EndpointSlice) -> bool {
        slice
            .metadata
            .owner_references
            .iter()
            .any(|it| it.kind == self.kind && it.api_version == self.api_version && it.uid == self.uid)
    }

    /// Returns whether a slice refers to an object of the same kind and name with another UID, usually a deleted one
    /// (MI-15).
    pub(crate) fn predecessor_owns(&self, slice: &EndpointSlice) -> bool {
        let references = &slice.metadata.owner_references;
        references.iter().any(|it| it.kind == self.kind && it.name == self.name && it.uid != self.uid)
    }

    /// Returns the prefix of slice names (RC-36): the name of the owner and a dash if that is a valid prefix, otherwise
    /// the bare name.
    pub(crate) fn generate_name(&self) -> Text {
        let prefix = format!("{}-", self.name);
        if is_subdomain_prefix(&prefix) { prefix.into() } else { self.name.clone() }
    }
}

/// Returns whether the API server accepts a text as `generateName`: a DNS-1123 subdomain that may end with a dash,
/// since characters follow (upstream: `NameIsDNSSubdomain` with `prefix`).
fn is_subdomain_prefix(prefix: &str) -> bool {
    const MAX_LENGTH: usize = 253;
    let label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let edge = |byte: Option<u8>| byte.is_some_and(|byte| byte != b'-' && inner(byte));
        label.bytes().all(inner) && edge(label.bytes().next()) && edge(label.bytes().next_back())
    };
    let masked = match prefix.strip_suffix('-') {
        Some(rest) => format!("{rest}a"),
        None => prefix.to_owned(),
    };
    prefix.len() <= MAX_LENGTH && masked.split('.').all(label)
}

#[cfg(test)]
mod tests {
    use kube_endpoint_model::ObjectMeta;

    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("web", "web-")]
    #[case("1web.a", "1web.a-")]
    #[case("Web", "Web")]
    fn prefixes(#[case] name: &str, #[case] expected: &str) {
        let owner = Owner::service(&Service { name: name.into(), ..Service::default() });
        assert_eq!(&*owner.generate_name(), expected);
    }

    #[test]
    fn objects_of_other_kinds_are_owners() {
        let (namespace, name, uid) = ("shop".into(), "edge".into(), "u".into());
        let metadata = ObjectMeta { namespace, name, uid, resource_version: 7.into(), ..ObjectMeta::default() };
        let owner = Owner::of_resource(&Resource::namespaced("example.com", "v1", "pools", "Pool"), &metadata);
        assert_eq!(owner, Owner::new("example.com/v1", "Pool", &metadata));
        assert_eq!(
            (owner.key().to_string().as_str(), &owner.resource_version, owner.terminating),
            ("shop/edge", &7.into(), false)
        );
        let going = ObjectMeta { deletion_timestamp: Some(jiff::Timestamp::UNIX_EPOCH), ..metadata };
        assert!(Owner::new("example.com/v1", "Pool", &going).terminating);
    }

    #[test]
    fn a_name_that_fills_the_limit_is_its_own_prefix() {
        let long = format!("{}.{}", "a".repeat(126), "b".repeat(126));
        let owner = Owner::service(&Service { name: long.as_str().into(), ..Service::default() });
        assert_eq!(&*owner.generate_name(), long);
    }
}
