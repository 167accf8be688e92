//! API resources.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Mutex, PoisonError},
};

use crate::percent_encode;

/// API resource: group, version, plural, kind and scope.
///
/// ```
/// use kube_wire::Resource;
///
/// const SLICES: Resource = Resource::namespaced("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice");
/// assert_eq!(SLICES.api_version(), "discovery.k8s.io/v1");
/// assert_eq!(SLICES.path(Some("shop")), "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices");
/// assert_eq!(SLICES.path(None), "/apis/discovery.k8s.io/v1/endpointslices");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Resource {
    /// API group; empty for the core group.
    pub group: &'static str,
    /// API version, such as `v1`.
    pub version: &'static str,
    /// Plural name, used in URLs and RBAC rules.
    pub plural: &'static str,
    /// Kind, the value of the `kind` field.
    pub kind: &'static str,
    /// Whether the resource is namespaced.
    pub namespaced: bool,
}

impl Resource {
    /// Returns a namespaced resource, given its group (empty for the core group), version, plural and kind.
    pub const fn namespaced(
        group: &'static str,
        version: &'static str,
        plural: &'static str,
        kind: &'static str,
    ) -> Self {
        Self { group, version, plural, kind, namespaced: true }
    }

    /// Returns a cluster-scoped resource, given its group (empty for the core group), version, plural and kind.
    pub const fn cluster(group: &'static str, version: &'static str, plural: &'static str, kind: &'static str) -> Self {
        Self { group, version, plural, kind, namespaced: false }
    }

    /// Returns a resource that is known only at run time, for example by discovery.
    ///
    /// The strings are kept until the process ends, equal ones once.
    pub fn discovered(group: &str, version: &str, plural: &str, kind: &str, namespaced: bool) -> Self {
        let [group, version, plural, kind] = [group, version, plural, kind].map(kept);
        Self { group, version, plural, kind, namespaced }
    }

    /// Returns the value of `apiVersion`: `version` for the core group, else `group/version`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.to_owned() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Returns whether `text` equals [`api_version`](Self::api_version), without an allocation.
    pub(crate) fn is_of_version(&self, text: &str) -> bool {
        text.split_once('/').unwrap_or(("", text)) == (self.group, self.version)
    }

    /// Returns the URL path of the collection in `namespace`, or in all namespaces for `None`.
    ///
    /// The namespace is ignored if it is empty or the resource is cluster-scoped.
    pub fn path(&self, namespace: Option<&str>) -> String {
        let root = if self.group.is_empty() { "/api" } else { "/apis/" };
        let (group, version, plural) = (self.group, self.version, self.plural);
        match namespace {
            Some(namespace) if self.namespaced && !namespace.is_empty() => {
                format!("{root}{group}/{version}/namespaces/{namespace}/{plural}")
            }
            _ => format!("{root}{group}/{version}/{plural}"),
        }
    }

    /// Returns the URL path of an object, percent-encoded, or of its collection if `name` is empty.
    pub fn object_path(&self, namespace: &str, name: &str) -> String {
        let mut path = self.path(Some(&percent_encode(namespace)));
        if !name.is_empty() {
            path.push('/');
            path.push_str(&percent_encode(name));
        }
        path
    }
}

/// Returns a copy of `text` that is never freed.
fn kept(text: &str) -> &'static str {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(text) = kept.get(text) {
        return text;
    }
    let text: &'static str = Box::leak(text.into());
    kept.insert(text);
    text
}

/// Formats `pods` or `endpointslices.discovery.k8s.io`, as `schema.GroupResource.String` in Go.
impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.plural)?;
        if self.group.is_empty() { Ok(()) } else { write!(f, ".{}", self.group) }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const PODS: Resource = Resource::namespaced("", "v1", "pods", "Pod");
    const NODES: Resource = Resource::cluster("", "v1", "nodes", "Node");

    #[rstest]
    #[case(PODS, None, "/api/v1/pods")]
    #[case(PODS, Some("shop"), "/api/v1/namespaces/shop/pods")]
    #[case(PODS, Some(""), "/api/v1/pods")]
    #[case(NODES, Some("shop"), "/api/v1/nodes")]
    fn collection_paths(#[case] resource: Resource, #[case] namespace: Option<&str>, #[case] expect: &str) {
        assert_eq!(resource.path(namespace), expect);
    }

    #[test]
    fn object_path_percent_encodes_namespace_and_name() {
        assert_eq!(PODS.object_path("shop", ""), "/api/v1/namespaces/shop/pods");
        assert_eq!(NODES.object_path("", "node-1"), "/api/v1/nodes/node-1");
        assert_eq!(PODS.object_path("shop/..", "web-1"), "/api/v1/namespaces/shop%2F../pods/web-1");
    }

    #[test]
    fn discovered_resources_are_equal_and_kept_once() {
        let discover = || Resource::discovered("example.com", "v1", "widgets", "Widget", true);
        assert_eq!(discover(), Resource::namespaced("example.com", "v1", "widgets", "Widget"));
        assert!(std::ptr::eq(discover().plural, discover().plural));
    }

    #[test]
    fn display_equals_upstream() {
        assert_eq!(PODS.to_string(), "pods");
        assert_eq!(
            Resource::namespaced("coordination.k8s.io", "v1", "leases", "Lease").to_string(),
            "leases.coordination.k8s.io"
        );
    }
}
