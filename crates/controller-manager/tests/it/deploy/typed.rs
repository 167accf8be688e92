//! Checks manifests against the types of their kinds; unknown fields are errors.

use std::collections::BTreeMap;

use k8s_openapi::api::{
    apps::v1 as apps, core::v1 as core, flowcontrol::v1 as flowcontrol, networking::v1 as networking,
    policy::v1 as policy, rbac::v1 as rbac,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Panics if an object has fields that its kind does not have, or values of another type.
pub(super) fn check(object: &Value) {
    let check = match object["kind"].as_str().unwrap_or_default() {
        "ClusterRole" => lossless::<rbac::ClusterRole>,
        "ClusterRoleBinding" => lossless::<rbac::ClusterRoleBinding>,
        "ConfigMap" => lossless::<core::ConfigMap>,
        "Deployment" => lossless::<apps::Deployment>,
        "FlowSchema" => lossless::<flowcontrol::FlowSchema>,
        "NetworkPolicy" => lossless::<networking::NetworkPolicy>,
        "Pod" => lossless::<core::Pod>,
        "PodDisruptionBudget" => lossless::<policy::PodDisruptionBudget>,
        "PrometheusRule" => lossless::<Custom<Rules>>,
        "Role" => lossless::<rbac::Role>,
        "RoleBinding" => lossless::<rbac::RoleBinding>,
        "Service" => lossless::<core::Service>,
        "ServiceAccount" => lossless::<core::ServiceAccount>,
        "ServiceMonitor" => lossless::<Custom<Monitor>>,
        kind => panic!("{kind}: no type to check against"),
    };
    check(object);
}

/// Panics unless decoding and encoding returns the same object. Types of k8s-openapi ignore unknown fields, which are
/// then missing.
fn lossless<T: DeserializeOwned + Serialize>(object: &Value) {
    let typed: T = serde_json::from_value(object.clone()).unwrap_or_else(|error| panic!("{error} in {object:#}"));
    assert_eq!(&serde_json::to_value(typed).expect("JSON"), object, "left: decoded and encoded, right: the manifest");
}

/// A custom resource of the Prometheus operator, with the fields that `deploy/` uses.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Custom<T> {
    api_version: String,
    kind: String,
    metadata: ObjectMeta,
    pub(super) spec: T,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Monitor {
    selector: LabelSelector,
    endpoints: Vec<Endpoint>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Endpoint {
    port: String,
    scheme: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<String>,
    bearer_token_file: String,
    tls_config: Tls,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Tls {
    #[serde(skip_serializing_if = "Option::is_none")]
    insecure_skip_verify: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ca: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_name: Option<String>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rules {
    pub(super) groups: Vec<Group>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Group {
    name: String,
    pub(super) rules: Vec<Alert>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Alert {
    #[serde(rename = "alert")]
    pub(super) name: String,
    pub(super) expr: String,
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    lasting: Option<String>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) annotations: BTreeMap<String, String>,
}
