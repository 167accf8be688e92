//! Schemas of the built-in types, generated once per process.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use k8s_openapi::schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::{enums, merge_keys};
use crate::kinds::{Kind, KindTable};

pub(crate) const REF_PREFIX: &str = "#/components/schemas/";

static BUILTIN: LazyLock<Map<String, Value>> = LazyLock::new(make);

/// Returns the schemas of all built-in types by name, such as `io.k8s.api.core.v1.Pod`.
pub(crate) fn builtin() -> &'static Map<String, Value> {
    &BUILTIN
}

pub(super) fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix(REF_PREFIX)
}

fn make() -> Map<String, Value> {
    let kinds = KindTable::builtin();
    let roots: Vec<&Kind> = kinds.all().iter().map(Arc::as_ref).chain([Kind::scale()]).collect();
    let mut generator = SchemaSettings::openapi3().into_generator();
    for kind in &roots {
        (kind.add_schema)(&mut generator);
    }
    let mut schemas: Map<String, Value> = generator.take_definitions(true).into_iter().collect();
    for kind in roots {
        if let Some(Value::Object(schema)) = schemas.get_mut(&kind.schema_name) {
            let types = json!([{"group": kind.group, "version": kind.version, "kind": kind.name}]);
            schema.insert("x-kubernetes-group-version-kind".to_owned(), types);
            // As upstream, `metadata` is not required.
            if let Some(Value::Array(required)) = schema.get_mut("required") {
                required.retain(|field| field != "metadata");
            }
        }
    }
    merge_keys::add(&mut schemas);
    enums::add(&mut schemas);
    schemas
}

/// Returns the schema of a field of a type, to change it.
pub(super) fn property<'a>(
    schemas: &'a mut Map<String, Value>,
    name: &str,
    field: &str,
) -> Option<&'a mut Map<String, Value>> {
    schemas.get_mut(name)?.get_mut("properties")?.get_mut(field)?.as_object_mut()
}

/// Returns the names of all schemas that `roots` refer to, directly or indirectly.
pub(crate) fn definitions_used_by<'a>(roots: impl IntoIterator<Item = &'a Value>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&Value> = roots.into_iter().collect();
    while let Some(value) = open.pop() {
        match value {
            Value::Object(map) => {
                if let Some(name) = super::reference(value)
                    && found.insert(name.to_owned())
                {
                    open.extend(builtin().get(name));
                }
                open.extend(map.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_have_kinds_and_valid_references() {
        let pod = &builtin()["io.k8s.api.core.v1.Pod"];
        assert_eq!(pod["x-kubernetes-group-version-kind"], json!([{"group": "", "version": "v1", "kind": "Pod"}]));
        let used = definitions_used_by([pod]);
        assert!(used.contains("io.k8s.api.core.v1.Container") && !used.contains("io.k8s.api.core.v1.Service"));
        // Every reference can be resolved.
        assert!(used.iter().all(|name| builtin().contains_key(name)));
    }
}
