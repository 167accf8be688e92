//! Aggregated discovery: every group with its resources in one document (`apidiscovery.k8s.io`).

use std::sync::Arc;

use http::HeaderMap;
use serde_json::{Value, json};

use super::accept::media_ranges;
use super::reviews::{VIRTUAL_RESOURCES, VirtualResource, virtual_groups};
use crate::kinds::{Kind, Part};

/// Returns the first `apidiscovery.k8s.io` version that the client accepts, or `None` if plain JSON precedes it or no
/// version is accepted.
pub(super) fn accepted_version(headers: &HeaderMap) -> Option<&'static str> {
    for range in media_ranges(headers) {
        match (range.kind, range.group, range.version) {
            ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2") => return Some("v2"),
            ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2beta1") => return Some("v2beta1"),
            ("", ..) if range.is_json() => return None,
            _ => {}
        }
    }
    None
}

/// Returns the content type of an aggregated discovery document of `version`.
pub(super) fn content_type(version: &str) -> &'static str {
    match version {
        "v2beta1" => "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
        _ => "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    }
}

/// Returns the `APIGroupDiscoveryList` of the core group if `core`, otherwise of all other groups.
pub(super) fn document(kinds: &[Arc<Kind>], core: bool, version: &str) -> Value {
    let kinds: Vec<&Kind> = kinds.iter().map(Arc::as_ref).filter(|kind| kind.group.is_empty() == core).collect();
    let items: Vec<Value> = distinct(kinds.iter().map(|kind| kind.group.as_str()))
        .into_iter()
        .map(|group| {
            let of_group = kinds.iter().filter(|kind| kind.group == group);
            let versions: Vec<Value> = distinct(of_group.clone().map(|kind| kind.version.as_str()))
                .into_iter()
                .map(|version| {
                    let of_version = of_group.clone().filter(|kind| kind.version == version);
                    let resources: Vec<Value> = of_version.map(|kind| resource(kind)).collect();
                    json!({"version": version, "resources": resources, "freshness": "Current"})
                })
                .collect();
            let mut metadata = json!({"creationTimestamp": null});
            if !group.is_empty() {
                metadata["name"] = json!(group);
            }
            json!({"metadata": metadata, "versions": versions})
        })
        .collect();
    let mut items = items;
    if !core {
        items.extend(virtual_groups().map(|group| {
            let resources: Vec<Value> =
                VIRTUAL_RESOURCES.iter().filter(|it| it.group == group).map(virtual_resource_document).collect();
            let version = json!({"version": "v1", "resources": resources, "freshness": "Current"});
            json!({"metadata": {"name": group, "creationTimestamp": null}, "versions": [version]})
        }));
    }
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": format!("apidiscovery.k8s.io/{version}"),
        "metadata": {},
        "items": items,
    })
}

/// Returns each name once, in order of first appearance.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

fn resource(kind: &Kind) -> Value {
    let response_kind = |kind: &Kind| json!({"group": kind.group, "version": kind.version, "kind": kind.name});
    let mut resource = json!({
        "resource": kind.plural,
        "responseKind": response_kind(kind),
        "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": kind.singular,
        "verbs": Kind::VERBS,
    });
    if !kind.short_names.is_empty() {
        resource["shortNames"] = json!(kind.short_names);
    }
    if !kind.categories.is_empty() {
        resource["categories"] = json!(kind.categories);
    }
    let subresource = |part: Part| {
        let response_kind = response_kind(kind.of_part(part));
        json!({"subresource": part.subresource(), "responseKind": response_kind, "verbs": Kind::STATUS_VERBS})
    };
    let mut subresources: Vec<Value> = kind.subresources().map(subresource).collect();
    let virtual_resources = VIRTUAL_RESOURCES.iter().filter(|it| !it.subresource.is_empty());
    for virtual_resource in virtual_resources.filter(|it| it.group == kind.group && it.plural == kind.plural) {
        subresources.push(json!({
            "subresource": virtual_resource.subresource,
            "responseKind": virtual_kind(virtual_resource),
            "verbs": VirtualResource::VERBS,
        }));
    }
    if !subresources.is_empty() {
        resource["subresources"] = json!(subresources);
    }
    resource
}

fn virtual_resource_document(virtual_resource: &VirtualResource) -> Value {
    json!({
        "resource": virtual_resource.plural,
        "responseKind": virtual_kind(virtual_resource),
        "scope": if virtual_resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": virtual_resource.singular(),
        "verbs": VirtualResource::VERBS,
    })
}

fn virtual_kind(virtual_resource: &VirtualResource) -> Value {
    json!({"group": virtual_resource.kind_group, "version": "v1", "kind": virtual_resource.kind})
}
