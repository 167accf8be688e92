//! Parses request paths.

use percent_encoding::percent_decode_str;

/// Endpoint addressed by a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    Resource(ResourcePath),
    /// Another path, as its segments.
    Other(Vec<String>),
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

/// Parses the path of a request.
pub(super) fn parse(path: &str) -> Route {
    let decoded = |segment| percent_decode_str(segment).decode_utf8_lossy().into_owned();
    let segments: Vec<String> = path.split('/').filter(|segment| !segment.is_empty()).map(decoded).collect();
    let resource = match segments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["api", version, rest @ ..] => resource("", version, rest),
        ["apis", group, version, rest @ ..] => resource(group, version, rest),
        _ => None,
    };
    resource.map_or(Route::Other(segments), Route::Resource)
}

fn resource(group: &str, version: &str, rest: &[&str]) -> Option<ResourcePath> {
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
        _ => return None,
    };
    Some(ResourcePath {
        group: group.to_owned(),
        version: version.to_owned(),
        namespace,
        plural: (*plural).to_owned(),
        name: name.map(|&name| name.to_owned()),
        subresource: subresource.map(|&subresource| subresource.to_owned()),
    })
}
