//! The object that owns the slices of a plan.

use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use kube_endpoint_model::{EndpointSlice, ObjectKey, ObjectMeta, OwnerReference, ResourceVersion, Service, Text, Uid};

/// The object whose endpoints a plan is about: a Service, an Endpoints object, or anything with an identity.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Owner {
    /// API version, such as `v1`.
    pub api_version: Text,
    /// Kind.
    pub kind: Text,
    /// Namespace of the owner and its slices.
    pub namespace: Text,
    /// Name; new slices are named after it.
    pub name: Text,
    /// Identity.
    pub uid: Uid,
    /// Version; what events about the owner refer to. May be empty.
    pub resource_version: ResourceVersion,
    /// Whether the owner is being deleted: nothing is created for it any more (EC-29).
    pub terminating: bool,
}

impl Owner {
    /// An object of any kind as owner.
    ///
    /// ```
    /// use kube_endpoint_model::ObjectMeta;
    /// use kube_endpointslice::Owner;
    ///
    /// let metadata = ObjectMeta { namespace: "shop".into(), name: "edge".into(), uid: "2f1c".into(), ..ObjectMeta::default() };
    /// let owner = Owner::new("example.com/v1", "Gateway", &metadata);
    /// assert!(!owner.terminating);
    /// ```
    pub fn new(api_version: &str, kind: &str, metadata: &ObjectMeta) -> Owner {
        Owner {
            api_version: api_version.into(),
            kind: kind.into(),
            namespace: metadata.namespace.clone(),
            name: metadata.name.clone(),
            uid: metadata.uid.clone(),
            resource_version: metadata.resource_version.clone(),
            terminating: metadata.deletion_timestamp.is_some(),
        }
    }

    /// A Service as owner.
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

    /// An object of a type of `k8s-openapi` as owner.
    pub fn of<K: k8s_openapi::Metadata<Ty = meta::ObjectMeta>>(object: &K) -> Owner {
        Owner::new(K::API_VERSION, K::KIND, &object.metadata().into())
    }

    /// Namespace and name.
    pub fn key(&self) -> ObjectKey {
        ObjectKey { namespace: self.namespace.clone(), name: self.name.clone() }
    }

    /// The reference that slices carry.
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

    /// Whether a slice refers to this very owner (RC-6): by kind, API version and identity.
    pub fn owns(&self, slice: &EndpointSlice) -> bool {
        slice
            .metadata
            .owner_references
            .iter()
            .any(|it| it.kind == self.kind && it.api_version == self.api_version && it.uid == self.uid)
    }

    /// Whether a slice refers to an earlier object of this kind and name (MI-15): it outlived its owner.
    pub(crate) fn predecessor_owns(&self, slice: &EndpointSlice) -> bool {
        let references = &slice.metadata.owner_references;
        references.iter().any(|it| it.kind == self.kind && it.name == self.name && it.uid != self.uid)
    }

    /// The prefix the server makes slice names from (RC-36): the owner's name and a dash where that can begin a name,
    /// otherwise the bare name.
    pub(crate) fn generate_name(&self) -> Text {
        let prefix = format!("{}-", self.name);
        if is_subdomain_prefix(&prefix) { prefix.into() } else { self.name.clone() }
    }
}

/// Whether text can begin a DNS-1123 subdomain, as the API server judges `generateName`: a dash at the end is fine,
/// since characters follow.
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
    fn a_name_that_fills_the_limit_is_its_own_prefix() {
        let long = format!("{}.{}", "a".repeat(126), "b".repeat(126));
        let owner = Owner::service(&Service { name: long.as_str().into(), ..Service::default() });
        assert_eq!(&*owner.generate_name(), long);
    }
}
