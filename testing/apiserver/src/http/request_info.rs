//! Request attributes (verb, resource, namespace, name) from the method, path and query of a request.

use http::{Method, Uri};

use super::path::Route;
use crate::attributes::Attributes;

/// Attributes of a request, and the query parameters that are recorded in the request log.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RequestInfo {
    pub(super) attributes: Attributes,
    pub(super) resource_version: String,
    pub(super) dry_run: bool,
}

/// Ignores malformed values, which the handler of the request rejects.
pub(super) fn parse(method: &Method, uri: &Uri, route: &Route) -> RequestInfo {
    let mut info = RequestInfo::default();
    let mut watch = false;
    let mut selected_name = None;
    for (name, value) in form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
        match name.as_ref() {
            "watch" => watch = super::query::boolean(&value),
            "resourceVersion" => info.resource_version = value.into_owned(),
            "dryRun" => info.dry_run = value == "All",
            "fieldSelector" => selected_name = name_of_selector(&value),
            _ => {}
        }
    }
    let attributes = &mut info.attributes;
    let method_name = method.as_str().to_lowercase();
    uri.path().clone_into(&mut attributes.path);
    let Route::Resource(path) = route else {
        attributes.verb = method_name;
        return info;
    };
    let named = path.name.is_some();
    let verb = match *method {
        Method::GET | Method::HEAD if named => "get",
        Method::GET | Method::HEAD if watch => "watch",
        Method::GET | Method::HEAD => "list",
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE if named => "delete",
        Method::DELETE => "deletecollection",
        _ => &method_name,
    };
    verb.clone_into(&mut attributes.verb);
    attributes.group.clone_from(&path.group);
    attributes.resource.clone_from(&path.plural);
    attributes.subresource = path.subresource.clone().unwrap_or_default();
    attributes.name = path.name.clone().or(selected_name).unwrap_or_default();
    attributes.namespace = match &path.namespace {
        Some(namespace) => namespace.clone(),
        // As upstream's `RequestInfoFactory`: the namespace of a Namespace is its own name.
        None if path.group.is_empty() && path.plural == "namespaces" => path.name.clone().unwrap_or_default(),
        None => String::new(),
    };
    info
}

/// Returns the name that a field selector requires, for which, as upstream, a list is authorized.
fn name_of_selector(selector: &str) -> Option<String> {
    let name = selector.split(',').find_map(|part| part.strip_prefix("metadata.name="))?;
    Some(name.strip_prefix('=').unwrap_or(name).to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::http::path;

    #[rstest]
    #[case("GET", "/api/v1/pods", "list pods  /  ")]
    #[case("GET", "/api/v1/pods?watch=true&resourceVersion=7", "watch pods  / 7 ")]
    #[case("GET", "/api/v1/namespaces/a/pods?fieldSelector=spec.nodeName%3Dn,metadata.name%3Dp", "list pods a/p  ")]
    #[case("GET", "/api/v1/namespaces/a/pods/p?watch=true", "get pods a/p  ")]
    #[case("PATCH", "/api/v1/namespaces/a/pods/p/status?dryRun=All", "patch pods/status a/p  dry")]
    #[case("DELETE", "/api/v1/namespaces/a", "delete namespaces a/a  ")]
    #[case("DELETE", "/api/v1/namespaces/a/pods", "deletecollection pods a/  ")]
    #[case("POST", "/api/v1/namespaces", "create namespaces /  ")]
    #[case("PUT", "/api/v1/namespaces/a/status", "update namespaces/status a/a  ")]
    #[case("PUT", "/apis/discovery.k8s.io/v1/namespaces/a/endpointslices/e%2D1/", "update endpointslices a/e-1  ")]
    #[case("GET", "/healthz", "get  /  ")]
    #[case("POST", "/metrics", "post  /  ")]
    fn request_info_is_parsed_from_method_and_uri(#[case] method: Method, #[case] uri: Uri, #[case] expect: &str) {
        let info = parse(&method, &uri, &path::parse(uri.path()));
        let it = &info.attributes;
        let dry = if info.dry_run { "dry" } else { "" };
        // An empty namespace or name leaves consecutive spaces, so compare word by word.
        let got =
            format!("{} {} {}/{} {} {dry}", it.verb, it.full_resource(), it.namespace, it.name, info.resource_version);
        assert_eq!(got.split_whitespace().collect::<Vec<_>>(), expect.split_whitespace().collect::<Vec<_>>());
    }
}
