//! Discovery: API groups, versions and resources, `/version`, OpenAPI documents, and health checks.

use std::fmt::Write as _;
use std::sync::Arc;

use http::header::HOST;
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode};
use serde_json::{Value, json};

use super::reply::{self, Reply};
use super::reviews::{VIRTUAL_RESOURCES, VirtualResource, virtual_groups};
use super::{accept, health, openapi};
use crate::kinds::Kind;
use crate::shared::Shared;
use crate::status::StatusError;

/// Answers a request for a non-resource path. Fails with 404 for an unknown path, 405 for a method other than GET, 406
/// if an OpenAPI document is requested in something other than JSON.
pub(super) fn handle(shared: &Shared, segments: &[String], parts: &Parts) -> Result<Reply, StatusError> {
    let reply = get(shared, &segments.iter().map(String::as_str).collect::<Vec<_>>(), parts)?;
    if parts.method == Method::GET { Ok(reply) } else { Err(StatusError::method_not_allowed()) }
}

fn get(shared: &Shared, segments: &[&str], parts: &Parts) -> Result<Reply, StatusError> {
    let headers = &parts.headers;
    let kinds: Vec<Arc<Kind>> = shared.read(|cluster| cluster.kinds().all().to_vec());
    let document = match segments {
        ["healthz" | "livez" | "readyz", ..] => {
            return health::text(&parts.uri).map(reply::text).ok_or_else(StatusError::no_such_path);
        }
        ["metrics"] => return Ok(reply::text(metrics(shared, &kinds))),
        [] => return Ok(indented(&json!({"paths": paths(&kinds)}))),
        ["version"] => return Ok(indented(&version())),
        ["api"] => json!({
            "kind": "APIVersions",
            "versions": ["v1"],
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address(parts)}],
        }),
        ["apis"] => json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups(&kinds)}),
        ["apis", name] => {
            let group = groups(&kinds).into_iter().find(|group| group["name"] == *name);
            let mut group = group.ok_or_else(StatusError::no_such_path)?;
            (group["kind"], group["apiVersion"]) = (json!("APIGroup"), json!("v1"));
            group
        }
        ["api", version] => resources(&kinds, "", version)?,
        ["apis", group, version] => resources(&kinds, group, version)?,
        ["openapi", "v2"] if accepts_openapi_protobuf(headers) => {
            return Ok(reply::bytes_as(openapi::PROTOBUF, openapi::empty_version_2()));
        }
        ["openapi", "v2" | "v3", ..] if !accepts_json(headers) => {
            return Err(StatusError::not_acceptable(&["application/json"]));
        }
        ["openapi", "v2"] => return Ok(compact(&openapi::version_2())),
        ["openapi", "v3"] => return Ok(compact(&openapi::index(&kinds))),
        ["openapi", "v3", path @ ..] => return Ok(compact(&openapi::group_version(&kinds, &path.join("/"))?)),
        _ => return Err(StatusError::no_such_path()),
    };
    Ok(reply::json(StatusCode::OK, format!("{document}\n")))
}

fn compact(document: &Value) -> Reply {
    reply::json(StatusCode::OK, document.to_string())
}

/// Returns a document indented by two spaces, as upstream's documents for people.
fn indented(document: &Value) -> Reply {
    reply::json(StatusCode::OK, format!("{document:#}"))
}

/// Returns the address that the client used.
fn address(parts: &Parts) -> &str {
    let authority = parts.uri.authority().map(http::uri::Authority::as_str);
    authority.or_else(|| parts.headers.get(HOST)?.to_str().ok()).unwrap_or_default()
}

fn accepts_json(headers: &HeaderMap) -> bool {
    let ranges = accept::media_ranges(headers);
    ranges.is_empty() || ranges.iter().any(accept::MediaRange::is_json)
}

/// Returns whether the client reads `/openapi/v2` in protobuf only, as kubectl.
fn accepts_openapi_protobuf(headers: &HeaderMap) -> bool {
    accept::media_ranges(headers).first().is_some_and(|it| it.media_type == openapi::ACCEPTED_PROTOBUF)
}

/// Returns the paths that `/` lists: those that are served without naming a resource.
fn paths(kinds: &[Arc<Kind>]) -> Vec<String> {
    let groups = groups(kinds);
    let of_groups = groups.iter().flat_map(|group| {
        let versions = group["versions"].as_array().into_iter().flatten();
        let versions = versions.filter_map(|it| it["groupVersion"].as_str()).map(|it| format!("/apis/{it}"));
        group["name"].as_str().map(|name| format!("/apis/{name}")).into_iter().chain(versions)
    });
    let fixed = ["/api", "/api/v1", "/apis", "/metrics", "/openapi/v2", "/openapi/v3", "/version"];
    let mut all: Vec<String> = fixed.into_iter().map(str::to_owned).chain(of_groups).chain(health::paths()).collect();
    all.sort();
    all
}

/// Returns metrics in the text format of Prometheus, under upstream's names: the number of stored objects.
fn metrics(shared: &Shared, kinds: &[Arc<Kind>]) -> String {
    let mut text = "# HELP apiserver_resource_objects Number of stored objects.\n\
                    # TYPE apiserver_resource_objects gauge\n"
        .to_owned();
    for kind in kinds {
        let count = shared.read(|cluster| cluster.list(kind, None).len());
        let (group, plural) = (&kind.group, &kind.plural);
        let _ = writeln!(text, "apiserver_resource_objects{{group=\"{group}\",resource=\"{plural}\"}} {count}");
    }
    text
}

fn version() -> Value {
    json!({
        "major": "1",
        "minor": "36",
        "gitVersion": openapi::VERSION,
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": concat!("kube-dev-apiserver/", env!("CARGO_PKG_VERSION")),
    })
}

/// Returns the `APIGroup`s other than core, in order of registration, each with its versions.
fn groups(kinds: &[Arc<Kind>]) -> Vec<Value> {
    let mut groups: Vec<(&str, Vec<Value>)> = Vec::new();
    for kind in kinds.iter().filter(|kind| !kind.group.is_empty()) {
        let version = json!({"groupVersion": kind.api_version(), "version": kind.version});
        match groups.iter_mut().find(|(name, _)| *name == kind.group) {
            Some((_, versions)) if versions.contains(&version) => {}
            Some((_, versions)) => versions.push(version),
            None => groups.push((&kind.group, vec![version])),
        }
    }
    for group in virtual_groups() {
        let version = json!({"groupVersion": format!("{group}/v1"), "version": "v1"});
        groups.push((group, vec![version]));
    }
    groups
        .into_iter()
        .map(|(name, versions)| json!({"name": name, "preferredVersion": versions[0], "versions": versions}))
        .collect()
}

fn resources(kinds: &[Arc<Kind>], group: &str, version: &str) -> Result<Value, StatusError> {
    let resource = |name: &str, singular: &str, namespaced: bool, kind: &str, verbs: &[&str]| json!({"name": name, "singularName": singular, "namespaced": namespaced, "kind": kind, "verbs": verbs});
    let mut resources = Vec::new();
    for kind in kinds.iter().filter(|kind| kind.group == group && kind.version == version) {
        let mut main = resource(&kind.plural, &kind.singular, kind.namespaced, &kind.name, &Kind::VERBS);
        for (field, names) in [("shortNames", &kind.short_names), ("categories", &kind.categories)] {
            if !names.is_empty() {
                main[field] = json!(names);
            }
        }
        resources.push(main);
        for part in kind.subresources() {
            let name = format!("{}/{}", kind.plural, part.subresource());
            let of_part = kind.of_part(part);
            let mut part = resource(&name, "", kind.namespaced, &of_part.name, &Kind::STATUS_VERBS);
            if of_part.group != kind.group {
                (part["group"], part["version"]) = (json!(of_part.group), json!(of_part.version));
            }
            resources.push(part);
        }
    }
    for it in VIRTUAL_RESOURCES.iter().filter(|it| it.group == group && version == "v1") {
        let verbs = &VirtualResource::VERBS;
        let mut review = resource(&it.name(), it.singular(), it.namespaced, it.kind, verbs);
        if it.kind_group != group {
            (review["group"], review["version"]) = (json!(it.kind_group), json!("v1"));
        }
        resources.push(review);
    }
    if resources.is_empty() {
        return Err(StatusError::no_such_path());
    }
    let group_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    Ok(json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version,
        "resources": resources,
    }))
}
