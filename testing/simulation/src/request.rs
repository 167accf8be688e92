//! Verb, resource and object of a request, parsed from its method and URI.

use http::{Method, Uri};

use crate::point::Verb;

/// Verb, resource and object of a request to the API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Kind of request.
    pub verb: Verb,
    /// API group; empty for core.
    pub group: String,
    /// Plural name of the resource; empty for requests without one, such as discovery.
    pub resource: String,
    /// Namespace; empty for cluster-scoped objects and for requests about all namespaces.
    pub namespace: String,
    /// Name of the object; empty for collections.
    pub name: String,
    /// Subresource; empty for the object itself.
    pub subresource: String,
}

impl Target {
    pub(crate) fn of(method: &Method, uri: &Uri) -> Target {
        Self::parse(method, uri.path(), uri.query().unwrap_or_default())
    }

    pub(crate) fn parse(method: &Method, path: &str, query: &str) -> Target {
        let mut parts = path.split('/').skip(1);
        let group = match parts.next() {
            Some("api") => Some(""),
            Some("apis") => parts.next(),
            _ => None,
        };
        let _version = parts.next();
        let mut rest: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        let mut namespace = "";
        if rest.len() > 2 && rest[0] == "namespaces" {
            namespace = rest[1];
            rest.drain(..2);
        }
        let part = |index: usize| rest.get(index).copied().unwrap_or_default().to_owned();
        let (resource, name, subresource) = (part(0), part(1), part(2));
        let verb = match *method {
            Method::POST => Verb::Create,
            Method::PUT => Verb::Update,
            Method::PATCH => Verb::Patch,
            Method::DELETE => Verb::Delete,
            _ if !name.is_empty() || resource.is_empty() => Verb::Get,
            _ if is_watch(query) => Verb::Watch,
            _ => Verb::List,
        };
        let group = group.unwrap_or_default().to_owned();
        Target { verb, group, resource, namespace: namespace.to_owned(), name, subresource }
    }

    /// Returns whether writes to this target need the lease, and must stop once nothing changes: all but those of Leases
    /// and Events.
    pub(crate) fn must_stop(&self) -> bool {
        !matches!(self.resource.as_str(), "leases" | "events")
    }
}

fn is_watch(query: &str) -> bool {
    query.split('&').any(|pair| matches!(pair, "watch=true" | "watch=1" | "watch"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::list(Method::GET, "/api/v1/pods?limit=500", "list /pods in  name  ")]
    #[case::watch(
        Method::GET,
        "/apis/discovery.k8s.io/v1/endpointslices?watch=true&x=1",
        "watch discovery.k8s.io/endpointslices in  name  "
    )]
    #[case::create(Method::POST, "/api/v1/namespaces/shop/pods", "create /pods in shop name  ")]
    #[case::status(Method::PATCH, "/api/v1/namespaces/shop/pods/p/status", "patch /pods in shop name p status")]
    #[case::namespace(Method::DELETE, "/api/v1/namespaces/shop", "delete /namespaces in  name shop ")]
    #[case::lease(
        Method::PUT,
        "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x",
        "update coordination.k8s.io/leases in kube-system name x "
    )]
    #[case::discovery(Method::GET, "/apis/discovery.k8s.io/v1", "get discovery.k8s.io/ in  name  ")]
    #[case::version(Method::GET, "/version", "get / in  name  ")]
    fn is_read(#[case] method: Method, #[case] uri: Uri, #[case] expected: &str) {
        let Target { verb, group, resource, namespace, name, subresource } = Target::of(&method, &uri);
        assert_eq!(format!("{verb} {group}/{resource} in {namespace} name {name} {subresource}"), expected);
    }
}
