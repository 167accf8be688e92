//! Which writes bring an object of a manifest about. No I/O here.

use serde_json::{Map, Value, json};

use super::{
    ApplyError,
    kinds::{Kinds, collection_path},
};
use crate::manifest::Object;

/// What of an object the server sets itself. A manifest that was once read from a cluster carries it; a create that carries a
/// resourceVersion is refused.
const SET_BY_SERVER: [&str; 7] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "uid",
];

/// The writes for one object: patch it or, when it does not exist, create it; then its status.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Writes {
    /// The path to create it under.
    pub(crate) collection: String,
    /// Its name, unless the server generates one, or is to refuse one that cannot stand in a path.
    pub(crate) name: Option<String>,
    /// The object without its status, for create and as merge patch.
    pub(crate) object: Value,
    /// The merge patch for the status, where the manifest has one that is written by itself.
    pub(crate) status: Option<Value>,
}

/// Puts objects into the order of their creation: namespaces first, all else as written.
pub(crate) fn in_order(mut objects: Vec<Object>) -> Vec<Object> {
    objects.sort_by_key(|object| !(object.api_version == "v1" && object.kind == "Namespace"));
    objects
}

/// The writes for an object, if the server knows its kind.
pub(crate) fn writes(object: &Object, kinds: &Kinds) -> Result<Writes, ApplyError> {
    let Object { origin, api_version, kind, namespace, name, fields } = object;
    let Some(place) = kinds.place(api_version, kind) else {
        return Err(ApplyError::UnknownKind {
            origin: origin.clone(),
            api_version: api_version.clone(),
            kind: kind.clone(),
        });
    };
    let namespace = namespace.as_deref().unwrap_or("default");
    if place.namespaced && !is_path_segment(namespace) {
        let cause = format!("{namespace:?} is not the name of a namespace");
        return Err(ApplyError::Refused { origin: origin.clone(), object: object.to_string(), cause });
    }
    let mut fields = fields.clone();
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        tidy(metadata, place.namespaced, namespace);
    }
    let status = if place.has_status { fields.remove("status") } else { None };
    Ok(Writes {
        collection: collection_path(api_version, place, namespace),
        name: name.clone().filter(|name| is_path_segment(name)),
        object: Value::Object(fields),
        status: status.filter(|status| !status.is_null()).map(|status| json!({ "status": status })),
    })
}

fn tidy(metadata: &mut Map<String, Value>, namespaced: bool, namespace: &str) {
    for field in SET_BY_SERVER {
        metadata.remove(field);
    }
    if namespaced {
        metadata.insert("namespace".to_owned(), namespace.into());
    } else {
        metadata.remove("namespace");
    }
}

/// Whether a name can stand in a path as it is. Whether it is a good name is for the server to say.
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
    fn splits_the_status_off() {
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
    fn forgets_what_the_server_sets_and_adds_the_namespace() {
        let got = plan("{apiVersion: v1, kind: Pod, metadata: {name: a, uid: u, resourceVersion: '7'}}").unwrap();
        assert_eq!(got.collection, "/api/v1/namespaces/default/pods");
        assert_eq!(got.object["metadata"], json!({"name": "a", "namespace": "default"}));
        assert_eq!(got.status, None);
    }

    #[rstest]
    #[case::kind(
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}",
        "shop.yaml: document 1, line 1: this server knows no kind \"Deployment\" in apps/v1"
    )]
    #[case::namespace(
        "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: a/b}}",
        "shop.yaml: document 1, line 1: Pod a/b/a: \"a/b\" is not the name of a namespace"
    )]
    fn refuses(#[case] text: &str, #[case] expect: &str) {
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
