//! OpenAPI v2 and v3 documents, limited to what clients use: the schemas of the kinds, and operations with their
//! parameters and patch types.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::reviews::{VIRTUAL_RESOURCES, VirtualResource, virtual_groups};
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
    for group in virtual_groups() {
        let path = format!("apis/{group}/v1");
        let address = format!("/openapi/v3/{path}?hash={}", hash(kinds, &path));
        paths.insert(path, json!({"serverRelativeURL": address}));
    }
    json!({"paths": paths})
}

/// Returns the document of one group version, such as `/openapi/v3/api/v1`.
///
/// # Errors
/// 404 for a group version that is not served.
pub(super) fn group_version(kinds: &[Arc<Kind>], path: &str) -> Result<Value, StatusError> {
    let kinds: Vec<&Kind> = kinds.iter().map(Arc::as_ref).filter(|kind| group_version_path(kind) == path).collect();
    let virtual_resources: Vec<&VirtualResource> =
        VIRTUAL_RESOURCES.iter().filter(|it| virtual_group_version_path(it) == path).collect();
    if kinds.is_empty() && virtual_resources.is_empty() {
        return Err(StatusError::no_such_path());
    }
    let paths = kinds.iter().flat_map(|kind| paths(kind)).chain(virtual_resources.iter().map(|it| virtual_path(it)));
    Ok(json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": VERSION},
        "paths": paths.collect::<Map<_, _>>(),
        "components": {"schemas": schemas(&kinds, &virtual_resources)},
    }))
}

/// Returns `/openapi/v2`: the schemas of all kinds.
pub(super) fn version_2(kinds: &[Arc<Kind>]) -> Value {
    let kinds: Vec<&Kind> = kinds.iter().map(Arc::as_ref).collect();
    let mut definitions = Value::Object(schemas(&kinds, &VIRTUAL_RESOURCES.iter().collect::<Vec<_>>()));
    to_version_2(&mut definitions);
    json!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": VERSION},
        "paths": {},
        "definitions": definitions,
    })
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

/// Converts v3 references to v2: a different prefix, and `allOf` with a single reference becomes `$ref`.
fn to_version_2(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get_mut("$ref")
                && let Some(name) = reference.strip_prefix(REF_PREFIX)
            {
                *reference = format!("#/definitions/{name}");
            }
            if let Some(Value::Array(all)) = map.get("allOf")
                && let [Value::Object(only)] = all.as_slice()
                && let Some(reference) = only.get("$ref").cloned()
            {
                map.remove("allOf");
                map.insert("$ref".to_owned(), reference);
                return to_version_2(value);
            }
            map.values_mut().for_each(to_version_2);
        }
        Value::Array(items) => items.iter_mut().for_each(to_version_2),
        _ => {}
    }
}

fn schemas(kinds: &[&Kind], virtual_resources: &[&VirtualResource]) -> Map<String, Value> {
    let kind_schemas = kinds.iter().filter_map(|kind| kind.named_schema());
    let virtual_schemas = virtual_resources.iter().map(|it| it.schema_name());
    let virtual_schemas = virtual_schemas.filter_map(|name| builtin().get(&name).map(|schema| (name, schema)));
    let scale = kinds.iter().any(|kind| kind.has_scale).then(|| Kind::scale().named_schema()).flatten();
    let roots: Vec<(String, &Value)> = kind_schemas.chain(virtual_schemas).chain(scale).collect();
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

fn virtual_group_version_path(virtual_resource: &VirtualResource) -> String {
    if virtual_resource.group.is_empty() { "api/v1".to_owned() } else { format!("apis/{}/v1", virtual_resource.group) }
}

fn virtual_path(virtual_resource: &VirtualResource) -> (String, Value) {
    let mut path = format!("/{}", virtual_group_version_path(virtual_resource));
    if virtual_resource.namespaced {
        path.push_str("/namespaces/{namespace}");
    }
    path.extend(["/", virtual_resource.plural]);
    if !virtual_resource.subresource.is_empty() {
        path.extend(["/{name}/", virtual_resource.subresource]);
    }
    let of = json!({"group": virtual_resource.kind_group, "version": "v1", "kind": virtual_resource.kind});
    (path, json!({"post": described(&of, Some(virtual_resource.schema_name()), "post", &BODIES)}))
}

fn operation(kind: &Kind, action: &str, bodies: &[&str]) -> Value {
    let of = json!({"group": kind.group, "version": kind.version, "kind": kind.name});
    described(&of, kind.named_schema().map(|(name, _)| name), action, bodies)
}

/// Returns an operation on the group, version and kind given by `of`.
fn described(of: &Value, schema: Option<String>, action: &str, bodies: &[&str]) -> Value {
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
