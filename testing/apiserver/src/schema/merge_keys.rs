//! Patch strategies and list keys of upstream's types, which `k8s-openapi` does not contain.

use serde_json::{Map, Value, json};

use super::definitions::property;

/// Prefix of the names of all types.
const PREFIX: &str = "io.k8s.";

/// Type, list field, patch strategy and patch merge key, and the keys for server-side apply.
type PatchRule = (&'static str, &'static str, &'static str, &'static str, &'static [&'static str]);

const MERGE: &str = "merge";
const RETAIN: &str = "merge,retainKeys";
const SET: &[&str] = &[];

#[rustfmt::skip]
const LISTS: &[PatchRule] = &[
    ("api.core.v1.Container", "env", MERGE, "name", &["name"]),
    ("api.core.v1.Container", "ports", MERGE, "containerPort", &["containerPort", "protocol"]),
    ("api.core.v1.Container", "volumeDevices", MERGE, "devicePath", &["devicePath"]),
    ("api.core.v1.Container", "volumeMounts", MERGE, "mountPath", &["mountPath"]),
    ("api.core.v1.ContainerStatus", "allocatedResourcesStatus", MERGE, "name", &["name"]),
    ("api.core.v1.ContainerStatus", "volumeMounts", MERGE, "mountPath", &["mountPath"]),
    ("api.core.v1.EphemeralContainer", "env", MERGE, "name", &["name"]),
    ("api.core.v1.EphemeralContainer", "ports", MERGE, "containerPort", &["containerPort", "protocol"]),
    ("api.core.v1.EphemeralContainer", "volumeDevices", MERGE, "devicePath", &["devicePath"]),
    ("api.core.v1.EphemeralContainer", "volumeMounts", MERGE, "mountPath", &["mountPath"]),
    ("api.core.v1.NamespaceStatus", "conditions", MERGE, "type", &["type"]),
    ("api.core.v1.NodeSpec", "podCIDRs", MERGE, "", SET),
    ("api.core.v1.NodeStatus", "addresses", MERGE, "type", &["type"]),
    ("api.core.v1.NodeStatus", "conditions", MERGE, "type", &["type"]),
    ("api.core.v1.PodSpec", "containers", MERGE, "name", &["name"]),
    ("api.core.v1.PodSpec", "ephemeralContainers", MERGE, "name", &["name"]),
    ("api.core.v1.PodSpec", "hostAliases", MERGE, "ip", &["ip"]),
    ("api.core.v1.PodSpec", "imagePullSecrets", MERGE, "name", &["name"]),
    ("api.core.v1.PodSpec", "initContainers", MERGE, "name", &["name"]),
    ("api.core.v1.PodSpec", "resourceClaims", RETAIN, "name", &["name"]),
    ("api.core.v1.PodSpec", "schedulingGates", MERGE, "name", &["name"]),
    ("api.core.v1.PodSpec", "topologySpreadConstraints", MERGE, "topologyKey", &["topologyKey", "whenUnsatisfiable"]),
    ("api.core.v1.PodSpec", "volumes", RETAIN, "name", &["name"]),
    ("api.core.v1.PodStatus", "conditions", MERGE, "type", &["type"]),
    ("api.core.v1.PodStatus", "hostIPs", MERGE, "ip", SET),
    ("api.core.v1.PodStatus", "podIPs", MERGE, "ip", &["ip"]),
    ("api.core.v1.PodStatus", "resourceClaimStatuses", RETAIN, "name", &["name"]),
    ("api.core.v1.ResourceRequirements", "claims", "", "", &["name"]),
    ("api.core.v1.ServiceAccount", "secrets", MERGE, "name", &["name"]),
    ("api.core.v1.ServiceSpec", "ports", MERGE, "port", &["port", "protocol"]),
    ("api.core.v1.ServiceStatus", "conditions", MERGE, "type", &["type"]),
    ("api.apps.v1.DeploymentStatus", "conditions", MERGE, "type", &["type"]),
    ("api.apps.v1.ReplicaSetStatus", "conditions", MERGE, "type", &["type"]),
    ("api.batch.v1.JobStatus", "conditions", MERGE, "type", SET),
    ("apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus", "conditions", "", "", &["type"]),
    ("apimachinery.pkg.apis.meta.v1.ObjectMeta", "finalizers", MERGE, "", SET),
    ("apimachinery.pkg.apis.meta.v1.ObjectMeta", "ownerReferences", MERGE, "uid", &["uid"]),
];

/// Types and map fields that server-side apply replaces as a whole.
const ATOMIC_TYPES: &[&str] = &[
    "api.core.v1.ConfigMapKeySelector",
    "api.core.v1.EndpointAddress",
    "api.core.v1.EndpointPort",
    "api.core.v1.FileKeySelector",
    "api.core.v1.LocalObjectReference",
    "api.core.v1.NodeSelector",
    "api.core.v1.NodeSelectorTerm",
    "api.core.v1.ObjectFieldSelector",
    "api.core.v1.ObjectReference",
    "api.core.v1.ResourceFieldSelector",
    "api.core.v1.SecretKeySelector",
    "api.core.v1.TypedLocalObjectReference",
    "api.rbac.v1.RoleRef",
    "api.rbac.v1.Subject",
    "apimachinery.pkg.apis.meta.v1.LabelSelector",
    "apimachinery.pkg.apis.meta.v1.OwnerReference",
];
const ATOMIC_MAPS: &[(&str, &str)] =
    &[("api.core.v1.PodSpec", "nodeSelector"), ("api.core.v1.ServiceSpec", "selector")];

/// Adds the rules to the schemas, as `x-kubernetes-` extensions like those in upstream's OpenAPI documents.
pub(super) fn add(schemas: &mut Map<String, Value>) {
    for (name, list, strategy, key, keys) in LISTS {
        let Some(schema) = property(schemas, &format!("{PREFIX}{name}"), list) else { continue };
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
    for name in ATOMIC_TYPES {
        if let Some(Value::Object(schema)) = schemas.get_mut(&format!("{PREFIX}{name}")) {
            schema.insert("x-kubernetes-map-type".to_owned(), json!("atomic"));
        }
    }
    for (name, field) in ATOMIC_MAPS {
        if let Some(schema) = property(schemas, &format!("{PREFIX}{name}"), field) {
            schema.insert("x-kubernetes-map-type".to_owned(), json!("atomic"));
        }
    }
    // A changed `type` removes the options of the other one.
    if let Some(schema) = property(schemas, &format!("{PREFIX}api.apps.v1.DeploymentSpec"), "strategy") {
        schema.insert("x-kubernetes-patch-strategy".to_owned(), json!("retainKeys"));
    }
    // `protocol` is a list key of these types, and an absent one equals TCP.
    for name in ["Container", "ContainerPort", "EphemeralContainer", "ServicePort"] {
        if let Some(schema) = property(schemas, &format!("{PREFIX}api.core.v1.{name}"), "protocol") {
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
        for (name, list, ..) in LISTS {
            let schema = &builtin()[&format!("{PREFIX}{name}")]["properties"][list];
            assert_eq!(schema["type"], "array", "{name}.{list}");
        }
        for name in ATOMIC_TYPES {
            let map_type = &builtin()[&format!("{PREFIX}{name}")]["x-kubernetes-map-type"];
            assert_eq!(map_type, "atomic", "{name}");
        }
        for (name, map) in ATOMIC_MAPS {
            let map = &builtin()[&format!("{PREFIX}{name}")]["properties"][map];
            assert_eq!(map["x-kubernetes-map-type"], "atomic");
        }
    }
}
