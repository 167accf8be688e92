//! Schemas of the built-in types, generated once per process.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use k8s_openapi::Resource;
use k8s_openapi::schemars::JsonSchema;
use k8s_openapi::schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use super::{enums, merge_keys};

/// Prefix of references between schemas.
pub(crate) const REF_PREFIX: &str = "#/components/schemas/";

static BUILTIN: LazyLock<Map<String, Value>> = LazyLock::new(make);

/// Returns the schemas of all built-in types by name, such as `io.k8s.api.core.v1.Pod`.
pub(crate) fn builtin() -> &'static Map<String, Value> {
    &BUILTIN
}

/// Returns the name of the schema that `schema` refers to, if any.
pub(super) fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix(REF_PREFIX)
}

fn make() -> Map<String, Value> {
    use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
    use k8s_openapi::api::autoscaling::v1::Scale;
    use k8s_openapi::api::batch::v1::Job;
    use k8s_openapi::api::coordination::v1::Lease;
    use k8s_openapi::api::core::v1::{
        ConfigMap, Endpoints, Event, Namespace, Node, Pod, Secret, Service, ServiceAccount,
    };
    use k8s_openapi::api::discovery::v1::EndpointSlice;
    use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

    let mut generator = SchemaSettings::openapi3().into_generator();
    let mut roots = Vec::new();
    root::<ConfigMap>(&mut generator, &mut roots);
    root::<Endpoints>(&mut generator, &mut roots);
    root::<Event>(&mut generator, &mut roots);
    root::<Namespace>(&mut generator, &mut roots);
    root::<Node>(&mut generator, &mut roots);
    root::<Pod>(&mut generator, &mut roots);
    root::<Secret>(&mut generator, &mut roots);
    root::<Service>(&mut generator, &mut roots);
    root::<ServiceAccount>(&mut generator, &mut roots);
    root::<Deployment>(&mut generator, &mut roots);
    root::<ReplicaSet>(&mut generator, &mut roots);
    root::<Scale>(&mut generator, &mut roots);
    root::<Job>(&mut generator, &mut roots);
    root::<Lease>(&mut generator, &mut roots);
    root::<EndpointSlice>(&mut generator, &mut roots);
    root::<CustomResourceDefinition>(&mut generator, &mut roots);
    root::<ClusterRole>(&mut generator, &mut roots);
    root::<ClusterRoleBinding>(&mut generator, &mut roots);
    root::<Role>(&mut generator, &mut roots);
    root::<RoleBinding>(&mut generator, &mut roots);

    let mut schemas: Map<String, Value> = generator.take_definitions(true).into_iter().collect();
    for (name, group, version, kind) in roots {
        if let Some(Value::Object(schema)) = schemas.get_mut(&*name) {
            let types = json!([{"group": group, "version": version, "kind": kind}]);
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

type Root = (String, &'static str, &'static str, &'static str);

fn root<T: JsonSchema + Resource>(generator: &mut SchemaGenerator, roots: &mut Vec<Root>) {
    generator.subschema_for::<T>();
    roots.push((T::schema_name().into_owned(), T::GROUP, T::VERSION, T::KIND));
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
    use super::super::{ListKind, Node};
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

    #[test]
    fn fields_are_found_through_references() {
        let pod = Node::of_type("io.k8s.api.core.v1.Pod").unwrap();
        let containers = pod.field("spec").unwrap().field("containers").unwrap();
        assert_eq!(containers.patched_as(), ListKind::Keyed("name"));
        let ports = containers.items().unwrap().field("ports").unwrap();
        assert_eq!(ports.patched_as(), ListKind::Keyed("containerPort"));
        assert_eq!(ports.list_map_keys(), ["containerPort", "protocol"]);
        let finalizers = pod.field("metadata").unwrap().field("finalizers").unwrap();
        assert_eq!(finalizers.patched_as(), ListKind::Set);
        assert!(pod.field("nonsense").is_none());
        assert!(pod.field("metadata").unwrap().field("labels").unwrap().field("anything").is_some());
    }
}
