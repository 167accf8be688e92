//! The object that a request changes.

use http::{Method, Uri};
use kube_wire::Resource;

/// The object that a write changes, or the collection in which it creates one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// Empty for cluster-scoped resources.
    pub(super) namespace: String,
    /// Empty for a create.
    pub(super) name: String,
    pub(super) deletes: bool,
}

impl Target {
    /// Returns what a request changes of a resource; `None` if it changes no single object of it for sure: another resource, a
    /// read, a dry run (but for one in the body of a deletion), the deletion of a collection, a subresource that is created (an
    /// eviction, a token).
    pub(super) fn of(resource: &Resource, method: &Method, uri: &Uri) -> Option<Self> {
        let is_dry_run = uri.query().is_some_and(|query| query.split('&').any(|it| it.starts_with("dryRun=")));
        if is_dry_run {
            return None;
        }
        let collection = resource.path(None);
        let (namespace, rest) = if resource.namespaced {
            let root = collection.strip_suffix(resource.plural)?;
            let (namespace, rest) = uri.path().strip_prefix(root)?.strip_prefix("namespaces/")?.split_once('/')?;
            (namespace, rest.strip_prefix(resource.plural)?)
        } else {
            ("", uri.path().strip_prefix(&*collection)?)
        };
        let mut segments = rest.split('/');
        let segments = (segments.next()?, segments.next(), segments.next(), segments.next());
        let (name, deletes) = match (method.as_str(), segments) {
            ("POST", ("", None, ..)) => ("", false),
            // More would be an object in a Namespace of that name, or the path behind a proxy.
            ("PUT" | "PATCH", ("", Some(name), _, None)) => (name, false),
            ("DELETE", ("", Some(name), None, _)) => (name, true),
            _ => return None,
        };
        Some(Self { namespace: namespace.to_owned(), name: name.to_owned(), deletes })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const PODS: Resource = Resource::namespaced("", "v1", "pods", "Pod");
    const WIDGETS: Resource = Resource::namespaced("example.com", "v1", "widgets", "Widget");
    const NAMESPACES: Resource = Resource::cluster("", "v1", "namespaces", "Namespace");

    #[rstest]
    #[case::create(PODS, "POST", "/api/v1/namespaces/shop/pods?fieldManager=x", Some(("shop", "", false)))]
    #[case::replace(PODS, "PUT", "/api/v1/namespaces/shop/pods/web", Some(("shop", "web", false)))]
    #[case::status(WIDGETS, "PATCH", "/apis/example.com/v1/namespaces/a/widgets/w/status", Some(("a", "w", false)))]
    #[case::delete(PODS, "DELETE", "/api/v1/namespaces/shop/pods/web", Some(("shop", "web", true)))]
    #[case::cluster_scope(NAMESPACES, "DELETE", "/api/v1/namespaces/shop", Some(("", "shop", true)))]
    #[case::finalize(NAMESPACES, "PUT", "/api/v1/namespaces/shop/finalize", Some(("", "shop", false)))]
    #[case::object_in_a_namespace(NAMESPACES, "POST", "/api/v1/namespaces/shop/pods", None)]
    #[case::replaced_in_a_namespace(NAMESPACES, "PUT", "/api/v1/namespaces/shop/pods/web", None)]
    #[case::patched_in_a_namespace(NAMESPACES, "PATCH", "/api/v1/namespaces/shop/pods/web/status", None)]
    #[case::proxied(PODS, "PUT", "/api/v1/namespaces/shop/pods/web/proxy/a", None)]
    #[case::eviction(PODS, "POST", "/api/v1/namespaces/shop/pods/web/eviction", None)]
    #[case::collection(PODS, "DELETE", "/api/v1/namespaces/shop/pods", None)]
    #[case::dry_run(PODS, "POST", "/api/v1/namespaces/shop/pods?x=y&dryRun=All", None)]
    #[case::read(PODS, "GET", "/api/v1/namespaces/shop/pods/web", None)]
    #[case::other_version(WIDGETS, "PUT", "/apis/example.com/v2/namespaces/a/widgets/w", None)]
    #[case::longer_plural(PODS, "POST", "/api/v1/namespaces/shop/podsets", None)]
    #[case::shorter(PODS, "POST", "/api/v1/namespaces/shop", None)]
    fn the_target_of_a_request(
        #[case] resource: Resource,
        #[case] method: &str,
        #[case] uri: &str,
        #[case] expected: Option<(&str, &str, bool)>,
    ) {
        let target = Target::of(&resource, &method.parse().unwrap(), &uri.parse().unwrap());
        let found = target.as_ref().map(|it| (&*it.namespace, &*it.name, it.deletes));
        assert_eq!(found, expected);
    }
}
