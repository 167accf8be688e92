//! OpenAPI v3 documents, limited to what clients use: the schemas of the kinds, and operations with their
//! parameters and patch types.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::kinds::{Kind, Part};
use crate::schema::{REF_PREFIX, builtin, definitions_used_by};
use crate::status::StatusError;

/// Kubernetes version whose behaviour this server implements.
pub(super) const VERSION: &str = "v1.36.2";

/// Query parameters of writes. kubectl uses server-side field validation only if `fieldValidation` is listed.
const WRITE_PARAMETERS: [&str; 4] = ["dryRun", "fieldManager", "fieldValidation", "pretty"];

/// Media types of request bodies, besides protobuf, which the documents do not mention.
const BODIES: [&str; 2] = ["application/json", "application/yaml"];

/// Returns `/openapi/v3`: the URL of the document of each group version, with a hash of its content, so that clients
/// can cache it.
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

/// Returns the document of one group version, such as `/openapi/v3/api/v1`.
///
/// # Errors
/// 404 for a group version that is not served.
pub(super) fn group_version(kinds: &[Arc<Kind>], path: &str) -> Result<Value, StatusError> {
    let kinds: Vec<&Kind> = kinds.iter().map(Arc::as_ref).filter(|kind| group_version_path(kind) == path).collect();
    if kinds.is_empty() {
        return Err(StatusError::no_such_path());
    }
    Ok(json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": VERSION},
        "paths": kinds.iter().flat_map(|kind| paths(kind)).collect::<Map<_, _>>(),
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
    let kind_schemas = kinds.iter().filter_map(|kind| kind.named_schema());
    let scale = kinds.iter().any(|kind| kind.has_scale).then(|| Kind::scale().named_schema()).flatten();
    let roots: Vec<(String, &Value)> = kind_schemas.chain(scale).collect();
    let used = definitions_used_by(roots.iter().map(|(_, schema)| *schema));
    let referenced = used.iter().filter_map(|name| Some((name.clone(), builtin().get(name)?.clone())));
    roots.iter().map(|(name, schema)| (name.clone(), (*schema).clone())).chain(referenced).collect()
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
        if kind.merge_schema().is_none()
            && let Some((_, schema)) = kind.named_schema()
        {
            schema.to_string().hash(&mut hasher);
        }
    }
    format!("{:016X}", hasher.finish())
}

fn paths(kind: &Kind) -> Vec<(String, Value)> {
    let (path, plural) = (group_version_path(kind), &kind.plural);
    let collection = if kind.namespaced {
        format!("/{path}/namespaces/{{namespace}}/{plural}")
    } else {
        format!("/{path}/{plural}")
    };
    let object = format!("{collection}/{{name}}");
    let mut paths = vec![
        (
            collection,
            json!({
                "get": operation(kind, "list", &[]),
                "post": operation(kind, "post", &BODIES),
                "delete": operation(kind, "deletecollection", &["application/json"]),
            }),
        ),
        (object.clone(), object_operations(kind, true)),
    ];
    if kind.namespaced {
        paths.push((format!("/{path}/{plural}"), json!({"get": operation(kind, "list", &[])})));
    }
    let of_part =
        |part: Part| (format!("{object}/{}", part.subresource()), object_operations(kind.of_part(part), false));
    paths.extend(kind.subresources().map(of_part));
    paths
}

fn object_operations(kind: &Kind, whole: bool) -> Value {
    let mut patches =
        vec!["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"];
    if kind.merge_schema().is_some() {
        patches.push("application/strategic-merge-patch+json");
    }
    let mut operations = json!({
        "get": operation(kind, "get", &[]),
        "put": operation(kind, "put", &BODIES),
        "patch": operation(kind, "patch", &patches),
    });
    if whole {
        operations["delete"] = operation(kind, "delete", &["application/json"]);
    }
    operations
}

fn operation(kind: &Kind, action: &str, bodies: &[&str]) -> Value {
    let of = json!({"group": kind.group, "version": kind.version, "kind": kind.name});
    let schema = kind.named_schema().map(|(name, _)| name);
    let schema = schema.map_or_else(|| json!({}), |name| json!({"$ref": format!("{REF_PREFIX}{name}")}));
    let mut operation = json!({
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": of,
        "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": schema}}}},
    });
    if !bodies.is_empty() {
        let parameter = |name: &&str| json!({"name": name, "in": "query", "schema": {"type": "string"}});
        operation["parameters"] = WRITE_PARAMETERS.iter().map(parameter).collect();
        let content: Map<_, _> =
            bodies.iter().map(|&body| (body.to_owned(), json!({"schema": {"type": "object"}}))).collect();
        operation["requestBody"] = json!({"content": content});
    }
    operation
}
