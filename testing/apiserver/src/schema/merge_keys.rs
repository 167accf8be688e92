//! Patch strategies and list keys of upstream's types, which `k8s-openapi` does not contain.

use serde_json::{Map, Value, json};

use super::definitions::property;

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.";
const CORE: &str = "io.k8s.api.core.v1.";
const APPS: &str = "io.k8s.api.apps.v1.";
const BATCH: &str = "io.k8s.api.batch.v1.";
const EXTENSIONS: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.";

/// Type, list field, patch strategy and patch merge key, and the keys for server-side apply.
type PatchRule = (&'static str, &'static str, &'static str, &'static str, &'static [&'static str]);

const MERGE: &str = "merge";
const RETAIN: &str = "merge,retainKeys";
const SET: &[&str] = &[];

#[rustfmt::skip]
const CORE_LISTS: &[PatchRule] = &[
    ("Container", "env", MERGE, "name", &["name"]),
    ("Container", "ports", MERGE, "containerPort", &["containerPort", "protocol"]),
    ("Container", "volumeDevices", MERGE, "devicePath", &["devicePath"]),
    ("Container", "volumeMounts", MERGE, "mountPath", &["mountPath"]),
    ("ContainerStatus", "allocatedResourcesStatus", MERGE, "name", &["name"]),
    ("ContainerStatus", "volumeMounts", MERGE, "mountPath", &["mountPath"]),
    ("EphemeralContainer", "env", MERGE, "name", &["name"]),
    ("EphemeralContainer", "ports", MERGE, "containerPort", &["containerPort", "protocol"]),
    ("EphemeralContainer", "volumeDevices", MERGE, "devicePath", &["devicePath"]),
    ("EphemeralContainer", "volumeMounts", MERGE, "mountPath", &["mountPath"]),
    ("NamespaceStatus", "conditions", MERGE, "type", &["type"]),
    ("NodeSpec", "podCIDRs", MERGE, "", SET),
    ("NodeStatus", "addresses", MERGE, "type", &["type"]),
    ("NodeStatus", "conditions", MERGE, "type", &["type"]),
    ("PodSpec", "containers", MERGE, "name", &["name"]),
    ("PodSpec", "ephemeralContainers", MERGE, "name", &["name"]),
    ("PodSpec", "hostAliases", MERGE, "ip", &["ip"]),
    ("PodSpec", "imagePullSecrets", MERGE, "name", &["name"]),
    ("PodSpec", "initContainers", MERGE, "name", &["name"]),
    ("PodSpec", "resourceClaims", RETAIN, "name", &["name"]),
    ("PodSpec", "schedulingGates", MERGE, "name", &["name"]),
    ("PodSpec", "topologySpreadConstraints", MERGE, "topologyKey", &["topologyKey", "whenUnsatisfiable"]),
    ("PodSpec", "volumes", RETAIN, "name", &["name"]),
    ("PodStatus", "conditions", MERGE, "type", &["type"]),
    ("PodStatus", "hostIPs", MERGE, "ip", SET),
    ("PodStatus", "podIPs", MERGE, "ip", &["ip"]),
    ("PodStatus", "resourceClaimStatuses", RETAIN, "name", &["name"]),
    ("ResourceRequirements", "claims", "", "", &["name"]),
    ("ServiceAccount", "secrets", MERGE, "name", &["name"]),
    ("ServiceSpec", "ports", MERGE, "port", &["port", "protocol"]),
    ("ServiceStatus", "conditions", MERGE, "type", &["type"]),
];

const APPS_LISTS: &[PatchRule] = &[
    ("DeploymentStatus", "conditions", MERGE, "type", &["type"]),
    ("ReplicaSetStatus", "conditions", MERGE, "type", &["type"]),
];

const BATCH_LISTS: &[PatchRule] = &[("JobStatus", "conditions", MERGE, "type", SET)];

const EXTENSIONS_LISTS: &[PatchRule] = &[("CustomResourceDefinitionStatus", "conditions", "", "", &["type"])];

const META_LISTS: &[PatchRule] =
    &[("ObjectMeta", "finalizers", MERGE, "", SET), ("ObjectMeta", "ownerReferences", MERGE, "uid", &["uid"])];

/// The rules of each API group, with the prefix of its types.
const LISTS: [(&str, &[PatchRule]); 5] =
    [(CORE, CORE_LISTS), (APPS, APPS_LISTS), (BATCH, BATCH_LISTS), (EXTENSIONS, EXTENSIONS_LISTS), (META, META_LISTS)];

/// Types and map fields that server-side apply replaces as a whole.
const ATOMIC_TYPES: &[&str] = &[
    "io.k8s.api.core.v1.ConfigMapKeySelector",
    "io.k8s.api.core.v1.EndpointAddress",
    "io.k8s.api.core.v1.EndpointPort",
    "io.k8s.api.core.v1.FileKeySelector",
    "io.k8s.api.core.v1.LocalObjectReference",
    "io.k8s.api.core.v1.NodeSelector",
    "io.k8s.api.core.v1.NodeSelectorTerm",
    "io.k8s.api.core.v1.ObjectFieldSelector",
    "io.k8s.api.core.v1.ObjectReference",
    "io.k8s.api.core.v1.ResourceFieldSelector",
    "io.k8s.api.core.v1.SecretKeySelector",
    "io.k8s.api.core.v1.TypedLocalObjectReference",
    "io.k8s.api.rbac.v1.RoleRef",
    "io.k8s.api.rbac.v1.Subject",
    "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector",
    "io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference",
];
const ATOMIC_MAPS: &[(&str, &str)] = &[("PodSpec", "nodeSelector"), ("ServiceSpec", "selector")];

/// Adds the rules to the schemas, as `x-kubernetes-` extensions like those in upstream's OpenAPI documents.
pub(super) fn add(schemas: &mut Map<String, Value>) {
    for (prefix, rules) in LISTS {
        for (name, list, strategy, key, keys) in rules {
            let Some(schema) = property(schemas, &format!("{prefix}{name}"), list) else { continue };
            let mut set = |keyword: &str, value: Value| {
                schema.insert(format!("x-kubernetes-{keyword}"), value);
            };
            if !strategy.is_empty() {
                set("patch-strategy", json!(strategy));
            }
            if !key.is_empty() {
                set("patch-merge-key", json!(key));
            }
            match (keys, key) {
                (&[], &"") => set("list-type", json!("set")),
                (&[], _) => set("list-type", json!("atomic")),
                (keys, _) => {
                    set("list-type", json!("map"));
                    set("list-map-keys", json!(keys));
                }
            }
        }
    }
    for name in ATOMIC_TYPES {
        if let Some(Value::Object(schema)) = schemas.get_mut(*name) {
            schema.insert("x-kubernetes-map-type".to_owned(), json!("atomic"));
        }
    }
    for (name, field) in ATOMIC_MAPS {
        if let Some(schema) = property(schemas, &format!("{CORE}{name}"), field) {
            schema.insert("x-kubernetes-map-type".to_owned(), json!("atomic"));
        }
    }
    // A changed `type` removes the options of the other one.
    if let Some(schema) = property(schemas, &format!("{APPS}DeploymentSpec"), "strategy") {
        schema.insert("x-kubernetes-patch-strategy".to_owned(), json!("retainKeys"));
    }
    // `protocol` is a list key of these types, and an absent one equals TCP.
    for name in ["Container", "ContainerPort", "EphemeralContainer", "ServicePort"] {
        if let Some(schema) = property(schemas, &format!("{CORE}{name}"), "protocol") {
            schema.insert("default".to_owned(), json!("TCP"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::builtin;
    use super::*;

    /// A rule for a field that does not exist would have no effect, so every rule must match a field of the selected
    /// Kubernetes version.
    #[test]
    fn patch_rules_name_existing_fields() {
        for (prefix, rules) in LISTS {
            for (name, list, ..) in rules {
                let schema = &builtin()[&format!("{prefix}{name}")]["properties"][list];
                assert_eq!(schema["type"], "array", "{name}.{list}");
            }
        }
        for name in ATOMIC_TYPES {
            let map_type = builtin().get(*name).and_then(|schema| schema.get("x-kubernetes-map-type"));
            assert_eq!(map_type, Some(&json!("atomic")), "{name}");
        }
        for (name, map) in ATOMIC_MAPS {
            assert_eq!(builtin()[&format!("{CORE}{name}")]["properties"][map]["x-kubernetes-map-type"], "atomic");
        }
    }
}
