//! OpenAPI v3 documents, limited to what clients use: the schemas of the kinds, and the operations that kubectl looks up.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::payload::{PATCHES, STRATEGIC_PATCH};
use crate::kinds::Kind;
use crate::schema::{builtin, definitions_used_by};
use crate::status::StatusError;

/// Kubernetes version whose behaviour this server implements.
pub(super) const VERSION: &str = "v1.36.2";

/// Query parameters of patches. kubectl uses server-side field validation only if `fieldValidation` is listed.
const PATCH_PARAMETERS: [&str; 4] = ["dryRun", "fieldManager", "fieldValidation", "pretty"];

/// Returns `/openapi/v3`: the URLs of the documents, with hashes of their content for caches.
pub(super) fn index(kinds: &[Arc<Kind>]) -> Value {
    let mut paths = Map::new();
    for kind in kinds {
        let path = group_version_path(kind);
        if !paths.contains_key(&path) {
            let address = format!("/openapi/v3/{path}?hash={}", hash(kinds, &path));
            paths.insert(path, json!({"serverRelativeURL": address}));
        }
    }
    json!({"paths": paths})
}

/// Returns the document of a group version, such as `/openapi/v3/api/v1`. Fails with 404 if it is not served.
pub(super) fn group_version(kinds: &[Arc<Kind>], path: &str) -> Result<Value, StatusError> {
    let kinds: Vec<&Kind> = kinds.iter().map(Arc::as_ref).filter(|kind| group_version_path(kind) == path).collect();
    if kinds.is_empty() {
        return Err(StatusError::no_such_path());
    }
    Ok(json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": VERSION},
        "paths": kinds.iter().map(|kind| object_path(kind)).collect::<Map<_, _>>(),
        "components": {"schemas": schemas(&kinds)},
    }))
}

/// Returns `/openapi/v2`, without schemas: clients read those of `/openapi/v3`.
pub(super) fn version_2() -> Value {
    json!({"swagger": "2.0", "info": {"title": "Kubernetes", "version": VERSION}, "paths": {}, "definitions": {}})
}

/// Media type in which kubectl requests `/openapi/v2`.
pub(super) const ACCEPTED_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
/// Content type of the response. Upstream sends it in this form, too.
pub(super) const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// Returns `/openapi/v2` in protobuf, without schemas: clients that request it in protobuf only check that it is there,
/// and read the schemas of `/openapi/v3`.
pub(super) fn empty_version_2() -> Vec<u8> {
    let field = |number: u8, content: &[u8]| {
        let length = u8::try_from(content.len()).unwrap_or(u8::MAX);
        [&[number << 3 | 2, length], content].concat()
    };
    // Field numbers of the messages `Document` and `Info` of gnostic's OpenAPIv2.proto.
    let (swagger, info, paths) = (1, 2, 8);
    let (title, version) = (1, 2);
    let about = [field(title, b"Kubernetes"), field(version, VERSION.as_bytes())].concat();
    [field(swagger, b"2.0"), field(info, &about), field(paths, &[])].concat()
}

fn schemas(kinds: &[&Kind]) -> Map<String, Value> {
    let scale = kinds.iter().any(|kind| kind.has_scale).then(Kind::scale);
    let with_schema = |kind: &'_ Kind| Some((kind.schema_name.clone(), kind.document()?.clone()));
    let roots: Map<String, Value> = kinds.iter().copied().chain(scale).filter_map(with_schema).collect();
    let used = definitions_used_by(roots.values());
    let referenced = used.into_iter().filter_map(|name| builtin().get(&name).cloned().map(|schema| (name, schema)));
    referenced.chain(roots).collect()
}

/// Returns the path of a group version, such as `api/v1` or `apis/discovery.k8s.io/v1`.
fn group_version_path(kind: &Kind) -> String {
    let prefix = if kind.group.is_empty() { "api" } else { "apis" };
    format!("{prefix}/{}", kind.api_version())
}

fn hash(kinds: &[Arc<Kind>], path: &str) -> String {
    let mut hasher = DefaultHasher::new();
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    for kind in kinds.iter().filter(|kind| group_version_path(kind) == path) {
        kind.name.hash(&mut hasher);
        // Built-in schemas are constant; only those of custom kinds change at run time.
        if let Some(schema) = kind.document().filter(|_| kind.is_custom()) {
            schema.to_string().hash(&mut hasher);
        }
    }
    format!("{:016X}", hasher.finish())
}

/// Returns the operations on one object: `kubectl explain` finds the kind of a resource by them, and `kubectl apply` the
/// parameters and types of patches.
fn object_path(kind: &Kind) -> (String, Value) {
    let scope = if kind.namespaced { "/namespaces/{namespace}" } else { "" };
    let path = format!("/{}{scope}/{}/{{name}}", group_version_path(kind), kind.plural);
    let of = json!({"group": kind.group, "version": kind.version, "kind": kind.name});
    let operation = |action: &str| json!({"x-kubernetes-action": action, "x-kubernetes-group-version-kind": of});
    let mut patch = operation("patch");
    let parameter = |name: &&str| json!({"name": name, "in": "query", "schema": {"type": "string"}});
    patch["parameters"] = PATCH_PARAMETERS.iter().map(parameter).collect();
    let types = PATCHES.iter().filter(|it| **it != STRATEGIC_PATCH || kind.merge_schema().is_some());
    let content: Map<_, _> = types.map(|&it| (it.to_owned(), json!({"schema": {"type": "object"}}))).collect();
    patch["requestBody"] = json!({"content": content});
    (path, json!({"get": operation("get"), "patch": patch}))
}
