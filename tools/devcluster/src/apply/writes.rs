//! Planning of the requests that apply an object, without I/O.

use serde_json::{Map, Value, json};

use super::{
    error::ApplyError,
    kinds::{Kinds, collection_path},
};
use crate::manifest::Object;

/// Fields of `metadata` that the server sets. Manifests exported from a cluster contain them, but a create with a
/// `resourceVersion` is rejected.
const SET_BY_SERVER: [&str; 7] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "uid",
];

/// Requests that apply one object: a patch or, if it does not exist, a create; then a patch of its status.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Writes {
    /// Path of the collection.
    pub(crate) collection: String,
    /// Name for the patch; `None` if the server generates the name, or if it cannot be part of a path, so that the
    /// create is rejected.
    pub(crate) name: Option<String>,
    /// Object without status, the body of create and merge patch.
    pub(crate) object: Value,
    /// Merge patch of the status subresource, if the manifest contains a status.
    pub(crate) status: Option<Value>,
}

/// Moves Namespaces to the front; the order of the other objects is kept.
pub(crate) fn in_order(mut objects: Vec<Object>) -> Vec<Object> {
    objects.sort_by_key(|object| !(object.api_version == "v1" && object.kind == "Namespace"));
    objects
}

/// Plans the requests for an object.
///
/// Errors: the server does not serve its kind, or the namespace cannot be part of a path.
pub(crate) fn writes(object: &Object, kinds: &Kinds) -> Result<Writes, ApplyError> {
    let Object { origin, api_version, kind, namespace, name, fields } = object;
    let Some(resource) = kinds.resource(api_version, kind) else {
        return Err(ApplyError::UnknownKind {
            origin: origin.clone(),
            api_version: api_version.clone(),
            kind: kind.clone(),
        });
    };
    let namespace = namespace.as_deref().unwrap_or("default");
    if resource.namespaced && !is_path_segment(namespace) {
        let cause = format!("{namespace:?} is not a valid namespace name");
        return Err(ApplyError::Rejected { origin: origin.clone(), object: object.to_string(), cause });
    }
    let mut fields = fields.clone();
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        prepare_metadata(metadata, resource.namespaced, namespace);
    }
    let status = if resource.has_status { fields.remove("status") } else { None };
    Ok(Writes {
        collection: collection_path(api_version, resource, namespace),
        name: name.clone().filter(|name| is_path_segment(name)),
        object: Value::Object(fields),
        status: status.filter(|status| !status.is_null()).map(|status| json!({ "status": status })),
    })
}

fn prepare_metadata(metadata: &mut Map<String, Value>, namespaced: bool, namespace: &str) {
    for field in SET_BY_SERVER {
        metadata.remove(field);
    }
    if namespaced {
        metadata.insert("namespace".to_owned(), namespace.into());
    } else {
        metadata.remove("namespace");
    }
}

/// Returns whether a name can be used as a path segment without escapes. The server validates it further.
fn is_path_segment(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c))
        && ![".", ".."].contains(&name)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::manifest::{Syntax, objects};

    fn kinds() -> Kinds {
        let list = json!({"resources": [
            {"name": "pods", "kind": "Pod", "namespaced": true},
            {"name": "pods/status", "kind": "Pod", "namespaced": true},
            {"name": "endpoints", "kind": "Endpoints", "namespaced": true},
            {"name": "nodes", "kind": "Node"},
            {"name": "nodes/status", "kind": "Node"},
        ]});
        let mut kinds = Kinds::default();
        kinds.add("v1", &serde_json::from_value(list).unwrap());
        kinds
    }

    fn plan(text: &str) -> Result<Writes, String> {
        let object = objects("shop.yaml", Syntax::Yaml, text).unwrap().remove(0);
        writes(&object, &kinds()).map_err(|error| error.to_string())
    }

    #[test]
    fn status_is_a_separate_write() {
        let got = plan("{apiVersion: v1, kind: Node, metadata: {name: a, namespace: x}, status: {phase: up}}").unwrap();
        let expect = Writes {
            collection: "/api/v1/nodes".to_owned(),
            name: Some("a".to_owned()),
            object: json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}),
            status: Some(json!({"status": {"phase": "up"}})),
        };
        assert_eq!(got, expect);
    }

    #[test]
    fn server_fields_are_removed_and_the_namespace_is_added() {
        let got = plan("{apiVersion: v1, kind: Pod, metadata: {name: a, uid: u, resourceVersion: '7'}}").unwrap();
        assert_eq!(got.collection, "/api/v1/namespaces/default/pods");
        assert_eq!(got.object["metadata"], json!({"name": "a", "namespace": "default"}));
        assert_eq!(got.status, None);
    }

    #[rstest]
    #[case::kind(
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}",
        "shop.yaml: document 1, line 1: the server does not serve kind \"Deployment\" in apps/v1"
    )]
    #[case::namespace(
        "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: a/b}}",
        "shop.yaml: document 1, line 1: Pod a/b/a: \"a/b\" is not a valid namespace name"
    )]
    fn invalid_objects_are_rejected(#[case] text: &str, #[case] expect: &str) {
        assert_eq!(plan(text).unwrap_err(), expect);
    }

    #[test]
    fn namespaces_come_first() {
        let text = "{apiVersion: v1, kind: Pod, metadata: {name: b}}\n---\n\
                    {apiVersion: v1, kind: Pod, metadata: {name: a}}\n---\n\
                    {apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n";
        let ordered = in_order(objects("shop.yaml", Syntax::Yaml, text).unwrap());
        let names: Vec<_> = ordered.into_iter().filter_map(|object| object.name).collect();
        assert_eq!(names, ["shop", "b", "a"]);
    }
}
