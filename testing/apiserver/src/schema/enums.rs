//! Values of upstream's enumerated string types, which `k8s-openapi` does not contain. Clients show them, such as
//! `kubectl explain`; the rules of each kind validate them.

use serde_json::{Map, Value, json};

const PROTOCOLS: &[&str] = &["SCTP", "TCP", "UDP"];
const TRAFFIC_POLICIES: &[&str] = &["Cluster", "Local"];
const PULL_POLICIES: &[&str] = &["Always", "IfNotPresent", "Never"];
const MESSAGE_POLICIES: &[&str] = &["FallbackToLogsOnError", "File"];
const TAINT_EFFECTS: &[&str] = &["NoExecute", "NoSchedule", "PreferNoSchedule"];

/// Schema without `io.k8s.api.`, field, and its values in upstream's order.
type Enumeration = (&'static str, &'static str, &'static [&'static str]);

#[rustfmt::skip]
const ENUMERATIONS: &[Enumeration] = &[
    ("core.v1.Container", "imagePullPolicy", PULL_POLICIES),
    ("core.v1.Container", "terminationMessagePolicy", MESSAGE_POLICIES),
    ("core.v1.ContainerPort", "protocol", PROTOCOLS),
    ("core.v1.EndpointPort", "protocol", PROTOCOLS),
    ("core.v1.EphemeralContainer", "imagePullPolicy", PULL_POLICIES),
    ("core.v1.EphemeralContainer", "terminationMessagePolicy", MESSAGE_POLICIES),
    ("core.v1.HTTPGetAction", "scheme", &["HTTP", "HTTPS"]),
    ("core.v1.NamespaceStatus", "phase", &["Active", "Terminating"]),
    ("core.v1.PodSpec", "dnsPolicy", &["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"]),
    ("core.v1.PodSpec", "preemptionPolicy", &["Never", "PreemptLowerPriority"]),
    ("core.v1.PodSpec", "restartPolicy", &["Always", "Never", "OnFailure"]),
    ("core.v1.PodStatus", "phase", &["Failed", "Pending", "Running", "Succeeded", "Unknown"]),
    ("core.v1.PodStatus", "qosClass", &["BestEffort", "Burstable", "Guaranteed"]),
    ("core.v1.PortStatus", "protocol", PROTOCOLS),
    ("core.v1.ServicePort", "protocol", PROTOCOLS),
    ("core.v1.ServiceSpec", "externalTrafficPolicy", TRAFFIC_POLICIES),
    ("core.v1.ServiceSpec", "internalTrafficPolicy", TRAFFIC_POLICIES),
    ("core.v1.ServiceSpec", "ipFamilyPolicy", &["PreferDualStack", "RequireDualStack", "SingleStack"]),
    ("core.v1.ServiceSpec", "sessionAffinity", &["ClientIP", "None"]),
    ("core.v1.ServiceSpec", "type", &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]),
    ("core.v1.Taint", "effect", TAINT_EFFECTS),
    ("core.v1.Toleration", "effect", TAINT_EFFECTS),
    ("discovery.v1.EndpointPort", "protocol", PROTOCOLS),
    ("discovery.v1.EndpointSlice", "addressType", &["FQDN", "IPv4", "IPv6"]),
];

/// Adds the values to the schemas, as `enum`.
pub(super) fn add(schemas: &mut Map<String, Value>) {
    for (name, field, values) in ENUMERATIONS {
        if let Some(schema) = super::definitions::property(schemas, &format!("io.k8s.api.{name}"), field) {
            schema.insert("enum".to_owned(), json!(values));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::builtin;
    use super::*;

    /// A rule for a field that does not exist would have no effect.
    #[test]
    fn enumerations_name_existing_fields() {
        for (name, field, values) in ENUMERATIONS {
            let schema = &builtin()[&format!("io.k8s.api.{name}")]["properties"][field];
            assert_eq!((&schema["type"], &schema["enum"]), (&json!("string"), &json!(values)), "{name}.{field}");
        }
    }
}
