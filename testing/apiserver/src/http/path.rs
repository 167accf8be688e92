//! Parses request paths.

use percent_encoding::percent_decode_str;

/// Endpoint addressed by a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    /// `/`
    Root,
    Health,
    Metrics,
    Version,
    /// `/api`
    CoreVersions,
    /// `/apis`
    Groups,
    /// `/apis/GROUP`
    Group(String),
    /// `/api/v1` or `/apis/GROUP/VERSION`
    Resources {
        group: String,
        version: String,
    },
    /// `/openapi/v2`
    OpenApi2,
    /// `/openapi/v3`
    OpenApi3,
    /// `/openapi/v3/GROUP-VERSION`
    OpenApi3Of(String),
    Resource(ResourcePath),
    Unknown,
}

/// Path of a resource, an object, or a subresource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ResourcePath {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) namespace: Option<String>,
    pub(super) plural: String,
    pub(super) name: Option<String>,
    pub(super) subresource: Option<String>,
}

/// Parses the path of a request; [`Route::Unknown`] if it matches no endpoint.
pub(super) fn parse(path: &str) -> Route {
    let mut segments = Vec::new();
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        match percent_decode_str(segment).decode_utf8() {
            Ok(text) => segments.push(text),
            Err(_) => return Route::Unknown,
        }
    }
    let segments: Vec<&str> = segments.iter().map(AsRef::as_ref).collect();
    match segments.as_slice() {
        ["healthz" | "livez" | "readyz", ..] => Route::Health,
        [] => Route::Root,
        ["metrics"] => Route::Metrics,
        ["version"] => Route::Version,
        ["openapi", "v2"] => Route::OpenApi2,
        ["openapi", "v3"] => Route::OpenApi3,
        ["openapi", "v3", rest @ ..] => Route::OpenApi3Of(rest.join("/")),
        ["api"] => Route::CoreVersions,
        ["apis"] => Route::Groups,
        ["apis", group] => Route::Group((*group).to_owned()),
        ["api", version] => Route::Resources { group: String::new(), version: (*version).to_owned() },
        ["apis", group, version] => Route::Resources { group: (*group).to_owned(), version: (*version).to_owned() },
        ["api", version, rest @ ..] => resource("", version, rest),
        ["apis", group, version, rest @ ..] => resource(group, version, rest),
        _ => Route::Unknown,
    }
}

fn resource(group: &str, version: &str, rest: &[&str]) -> Route {
    // `namespaces/NAME` is an object, `namespaces/NAME/status` a subresource; others are in a namespace.
    let (namespace, rest) = match rest {
        ["namespaces", _, "status" | "finalize"] | ["namespaces"] | ["namespaces", _] => (None, rest),
        ["namespaces", namespace, rest @ ..] => (Some((*namespace).to_owned()), rest),
        _ => (None, rest),
    };
    let (plural, name, subresource) = match rest {
        [plural] => (plural, None, None),
        [plural, name] => (plural, Some(name), None),
        [plural, name, subresource] => (plural, Some(name), Some(subresource)),
        _ => return Route::Unknown,
    };
    Route::Resource(ResourcePath {
        group: group.to_owned(),
        version: version.to_owned(),
        namespace,
        plural: (*plural).to_owned(),
        name: name.map(|&name| name.to_owned()),
        subresource: subresource.map(|&subresource| subresource.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("/api/v1/pods", "", "v1", "", "pods", "", "")]
    #[case("/api/v1/namespaces/a/pods", "", "v1", "a", "pods", "", "")]
    #[case("/api/v1/namespaces/a/pods/p/status", "", "v1", "a", "pods", "p", "status")]
    #[case("/api/v1/namespaces", "", "v1", "", "namespaces", "", "")]
    #[case("/api/v1/namespaces/a", "", "v1", "", "namespaces", "a", "")]
    #[case("/api/v1/namespaces/a/status", "", "v1", "", "namespaces", "a", "status")]
    #[case(
        "/apis/discovery.k8s.io/v1/namespaces/a/endpointslices/e%2D1",
        "discovery.k8s.io",
        "v1",
        "a",
        "endpointslices",
        "e-1",
        ""
    )]
    #[case("/api/v1/nodes/n/", "", "v1", "", "nodes", "n", "")]
    fn resource_paths_are_parsed(
        #[case] path: &str,
        #[case] group: &str,
        #[case] version: &str,
        #[case] namespace: &str,
        #[case] plural: &str,
        #[case] name: &str,
        #[case] subresource: &str,
    ) {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let expect = ResourcePath {
            group: group.to_owned(),
            version: version.to_owned(),
            namespace: some(namespace),
            plural: plural.to_owned(),
            name: some(name),
            subresource: some(subresource),
        };
        assert_eq!(parse(path), Route::Resource(expect));
    }

    #[rstest]
    #[case("/readyz/ping", Route::Health)]
    #[case("/version", Route::Version)]
    #[case("/api", Route::CoreVersions)]
    #[case("/openapi/v3/apis/discovery.k8s.io/v1", Route::OpenApi3Of("apis/discovery.k8s.io/v1".to_owned()))]
    #[case("/apis/", Route::Groups)]
    #[case("/apis/discovery.k8s.io", Route::Group("discovery.k8s.io".to_owned()))]
    #[case("/", Route::Root)]
    #[case("/metrics", Route::Metrics)]
    #[case("/other", Route::Unknown)]
    #[case("/api/v1/pods/a/b/c/d", Route::Unknown)]
    #[case("/api/v1/pods/%ff", Route::Unknown)]
    fn non_resource_paths_are_parsed(#[case] path: &str, #[case] expect: Route) {
        assert_eq!(parse(path), expect);
    }
}
