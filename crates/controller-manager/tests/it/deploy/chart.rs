//! The Helm chart, installed by Helm's own code on the embedded API server.
//!
//! The Python package `helm-sdkpy` contains Helm; `HELM_PYTHON` is the path of a Python that has it, see `.ci/run`.

use std::collections::BTreeMap;
use std::process::Stdio;

use kube_dev_apiserver::{Config, CustomKind};
use kube_endpoints_testing::LIMIT;
use rstest::rstest;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::timeout;

use super::{
    BASE, MONITORED, NAME, SHADOW, SHADOW_MONITORED, arguments, assert_accepts_arguments, by_name, deploy, kustomized,
    skipped, split, text, typed,
};
use crate::cluster::Cluster;

const CHART: &str = "helm/endpoint-controller-manager";

/// Kinds that the chart installs and that the embedded server does not have by default.
fn kinds() -> Vec<CustomKind> {
    let monitoring = |kind| CustomKind::new("monitoring.coreos.com", "v1", kind);
    vec![
        CustomKind::new("apps", "v1", "Deployment"),
        CustomKind::new("policy", "v1", "PodDisruptionBudget"),
        CustomKind::new("networking.k8s.io", "v1", "NetworkPolicy").plural("networkpolicies"),
        CustomKind::new("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema").cluster_scoped(),
        monitoring("ServiceMonitor"),
        monitoring("PrometheusRule"),
    ]
}

fn python() -> String {
    std::env::var("HELM_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

/// Returns whether Helm is available; panics if `HELM_PYTHON` is set and lacks it.
async fn has_helm() -> bool {
    let import = ["-c", "import helm_sdkpy"];
    let found = Command::new(python()).args(import).stderr(Stdio::null()).status().await;
    let found = found.is_ok_and(|it| it.success());
    // With `HELM_PYTHON` set, a missing package is an error, not a reason to skip.
    assert!(found || std::env::var_os("HELM_PYTHON").is_none(), "{} has no helm-sdkpy", python());
    if !found {
        skipped("the Helm chart is not rendered: no Python with helm-sdkpy (see .ci/run)");
    }
    found
}

/// Runs Helm's `install` with the chart; returns the rendered manifest, or the error of Helm.
async fn helm_install(cluster: &Cluster, namespace: &str, values: &Value) -> Result<String, String> {
    if namespace != "kube-system" {
        cluster.create("/api/v1/namespaces", &json!({"metadata": {"name": namespace}})).await;
    }
    let mut helm = Command::new(python());
    helm.args(["-c", include_str!("install.py")]).arg(cluster.kubeconfig()).arg(namespace).arg(deploy(CHART));
    helm.arg(values.to_string()).kill_on_drop(true).env("HELM_DRIVER", "memory");
    for folder in ["HOME", "HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
        helm.env(folder, cluster.folder());
    }
    let output = timeout(LIMIT, helm.output()).await.expect("an end").expect("Helm runs");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(String::from_utf8(output.stdout).expect("UTF-8"))
}

/// Returns whether a stored value is the sent one, apart from defaults.
fn has_all(stored: &Value, sent: &Value) -> bool {
    match (stored, sent) {
        (Value::Object(stored), Value::Object(sent)) => {
            sent.iter().all(|(name, sent)| stored.get(name).is_some_and(|stored| has_all(stored, sent)))
        }
        (Value::Array(stored), Value::Array(sent)) => {
            stored.len() == sent.len() && stored.iter().zip(sent).all(|(stored, sent)| has_all(stored, sent))
        }
        _ => stored == sent,
    }
}

/// Installs the chart; returns its objects by kind and name. `None` without Helm.
pub(super) async fn install_chart(namespace: &str, values: &Value) -> Option<BTreeMap<String, Value>> {
    if !has_helm().await {
        return None;
    }
    let cluster = Cluster::start_with(Config { kinds: kinds(), ..Config::default() }).await;
    let manifest = helm_install(&cluster, namespace, values).await.unwrap_or_else(|error| panic!("{error}"));
    let objects = by_name(split(manifest.trim_start_matches("---\n")));
    objects.values().for_each(typed::check);
    let deployment = objects.values().find(|it| it["kind"] == "Deployment").expect("a Deployment");
    assert_accepts_arguments(&deployment["spec"]["template"]);
    // Helm sent the objects that it rendered.
    let name = text(&deployment["metadata"]["name"]);
    let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}");
    let stored = cluster.document(&path).await.expect("the Deployment");
    assert!(has_all(&stored["spec"], &deployment["spec"]), "{:#}\n{:#}", stored["spec"], deployment["spec"]);
    cluster.server.shutdown().await;
    Some(objects)
}

/// Removes the labels that Helm charts have by convention.
fn without_labels_of_helm(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for label in ["instance", "version", "managed-by"] {
                fields.remove(&format!("app.kubernetes.io/{label}"));
            }
            fields.remove("helm.sh/chart");
            fields.values_mut().for_each(without_labels_of_helm);
        }
        Value::Array(items) => items.iter_mut().for_each(without_labels_of_helm),
        _ => {}
    }
}

#[rstest]
#[case::as_it_comes(BASE, &json!({}))]
#[case::with_all_there_is_to_watch(MONITORED, &json!({
    "serviceMonitor": {"enabled": true}, "prometheusRule": {"enabled": true}, "dashboard": {"enabled": true},
}))]
#[case::shadow(SHADOW, &json!({"mode": "shadow", "replicas": 1, "podDisruptionBudget": {"enabled": false}}))]
#[case::shadow_with_alerts(SHADOW_MONITORED, &json!({
    "mode": "shadow", "replicas": 1, "podDisruptionBudget": {"enabled": false},
    "serviceMonitor": {"enabled": true}, "prometheusRule": {"enabled": true}, "dashboard": {"enabled": true},
}))]
#[tokio::test]
async fn chart_equals_the_kustomize_output(#[case] kustomization: &str, #[case] values: &Value) {
    let Some(mut chart) = install_chart("kube-system", values).await else { return };
    chart.values_mut().for_each(without_labels_of_helm);
    let Some(kustomized) = kustomized(kustomization) else { return };
    assert_eq!(chart.keys().collect::<Vec<_>>(), kustomized.keys().collect::<Vec<_>>());
    for (name, object) in &chart {
        assert_eq!(object, &kustomized[name], "{name}: the chart's on the left");
    }
}

#[tokio::test]
async fn chart_applies_every_value() {
    let resources = json!({"requests": {"cpu": "1", "memory": "64Mi"}, "limits": {"memory": "1Gi"}});
    let values = json!({
        "image": {"repository": "registry.example/ecm", "tag": "v9", "pullPolicy": "Always", "pullSecrets": [{"name": "pull"}]},
        "replicas": 3,
        "extraArgs": ["--endpointslice-updates-batch-period=500ms", "--concurrent-endpoint-syncs=7"],
        "useServiceAccountCredentials": true,
        "securePort": 8443,
        "resources": resources,
        "priorityClassName": "mine",
        "controlPlaneNodes": "preferred",
        "nodeSelector": {"pool": "control"},
        "tolerations": [{"key": "mine", "operator": "Exists"}],
        "podDisruptionBudget": {"enabled": false},
        "networkPolicy": {"apiServerPorts": [16443], "metricsFrom": [{"namespaceSelector": {"matchLabels": {"team": "o11y"}}}]},
        "tls": {"secretName": "serving"},
        "serviceMonitor": {
            "enabled": true, "interval": "15s", "labels": {"release": "prometheus"},
            "tlsConfig": {"insecureSkipVerify": null, "serverName": "ecm", "ca": {"secret": {"name": "ca", "key": "ca.crt"}}},
        },
        "prometheusRule": {"enabled": true, "labels": {"release": "prometheus"}},
        "dashboard": {"enabled": true, "labels": {"mine": "1"}, "annotations": {"folder": "Kubernetes"}},
    });
    let Some(objects) = install_chart("endpoints", &values).await else { return };
    let the = |kind: &str| &objects[&format!("{kind}/{NAME}")];
    assert!(!objects.contains_key(&format!("PodDisruptionBudget/{NAME}")));

    let spec = &the("Deployment")["spec"];
    assert_eq!(spec["replicas"], 3);
    let pod = &spec["template"]["spec"];
    let container = &pod["containers"][0];
    assert_eq!(container["image"], "registry.example/ecm:v9");
    assert_eq!((&container["imagePullPolicy"], &container["resources"]), (&json!("Always"), &resources));
    assert_eq!((&pod["imagePullSecrets"], &pod["priorityClassName"]), (&json!([{"name": "pull"}]), &json!("mine")));
    assert_eq!(pod["nodeSelector"], json!({"pool": "control"}));
    assert_eq!(pod["tolerations"], json!([{"key": "mine", "operator": "Exists"}]));
    assert_eq!(node_affinity(pod), "preferred");
    assert_eq!(pod["volumes"][0]["secret"]["secretName"], "serving");
    assert_eq!(
        arguments(&spec["template"]),
        [
            "--leader-elect=true",
            "--secure-port=8443",
            "--tls-cert-file=/etc/endpoint-controller-manager/tls/tls.crt",
            "--tls-private-key-file=/etc/endpoint-controller-manager/tls/tls.key",
            "--use-service-account-credentials=true",
            "--endpointslice-updates-batch-period=500ms",
            "--concurrent-endpoint-syncs=7",
        ]
    );

    let policy = &the("NetworkPolicy")["spec"];
    assert_eq!(policy["ingress"][0]["ports"], json!([{"protocol": "TCP", "port": 8443}]));
    assert_eq!(policy["ingress"][0]["from"], json!([{"namespaceSelector": {"matchLabels": {"team": "o11y"}}}]));
    assert_eq!(policy["egress"][0]["ports"], json!([{"protocol": "TCP", "port": 16443}]));
    assert_eq!(the("Service")["spec"]["ports"][0]["port"], 8443);

    // The Lease and the controllers' service accounts are in kube-system, whatever the namespace of the release.
    let accounts = format!("Role/{NAME}-accounts");
    assert_eq!(objects[&accounts]["metadata"]["namespace"], "kube-system");
    for kind in ["Role", "RoleBinding"] {
        assert_eq!(the(kind)["metadata"]["namespace"], "kube-system", "{kind}");
    }
    for binding in ["ClusterRoleBinding", "RoleBinding"] {
        assert_eq!(the(binding)["subjects"][0]["namespace"], "endpoints", "{binding}");
    }

    let endpoint = &the("ServiceMonitor")["spec"]["endpoints"][0];
    assert_eq!(endpoint["interval"], "15s");
    let verified = json!({"serverName": "ecm", "ca": {"secret": {"name": "ca", "key": "ca.crt"}}});
    assert_eq!(endpoint["tlsConfig"], verified);
    for kind in ["ServiceMonitor", "PrometheusRule"] {
        assert_eq!(the(kind)["metadata"]["labels"]["release"], "prometheus", "{kind}");
    }
    let dashboard = &objects[&format!("ConfigMap/{NAME}-dashboard")]["metadata"];
    assert_eq!(
        (&dashboard["labels"]["mine"], &dashboard["annotations"]),
        (&json!("1"), &json!({"folder": "Kubernetes"}))
    );
}

/// Whether the Pods run on control-plane Nodes: the value of the chart.
fn node_affinity(pod: &Value) -> &'static str {
    let affinity = &pod["affinity"]["nodeAffinity"];
    let expected = json!([{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}]);
    let required = &affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"][0];
    let preferred = &affinity["preferredDuringSchedulingIgnoredDuringExecution"][0]["preference"];
    match (required["matchExpressions"] == expected, preferred["matchExpressions"] == expected) {
        (true, false) => "required",
        (false, true) => "preferred",
        _ => {
            assert_eq!(affinity, &Value::Null);
            "ignored"
        }
    }
}

#[rstest]
#[case::active(&json!({}), "required")]
#[case::shadow(&json!({"mode": "shadow"}), "ignored")]
#[case::active_elsewhere(&json!({"controlPlaneNodes": "ignored"}), "ignored")]
#[case::shadow_on_control_plane(&json!({"mode": "shadow", "controlPlaneNodes": "required"}), "required")]
#[tokio::test]
async fn chart_runs_on_control_plane_nodes(#[case] values: &Value, #[case] expected: &str) {
    let Some(objects) = install_chart("kube-system", values).await else { return };
    let deployment = objects.values().find(|it| it["kind"] == "Deployment").expect("a Deployment");
    let pod = &deployment["spec"]["template"]["spec"];
    assert_eq!(node_affinity(pod), expected);
    assert!(pod["affinity"]["podAntiAffinity"].is_object(), "replicas are spread over Nodes in any case");
}

#[tokio::test]
async fn chart_names_the_image_by_digest() {
    let digest = format!("sha256:{}", "0123456789abcdef".repeat(4));
    let values = json!({"image": {"repository": "registry.example/ecm", "tag": "v9", "digest": digest}});
    let Some(objects) = install_chart("kube-system", &values).await else { return };
    let container = &objects[&format!("Deployment/{NAME}")]["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["image"], format!("registry.example/ecm@{digest}"));
}

/// In kube-system, the API server's own `FlowSchemas` match the `ServiceAccount`.
#[rstest]
#[case::kube_system("kube-system", &json!({}), &[])]
#[case::elsewhere("endpoints", &json!({}), &["leader-election", "workload-high"])]
#[case::disabled("endpoints", &json!({"flowSchemas": false}), &[])]
#[case::shadow("endpoints", &json!({"mode": "shadow"}), &[])]
#[tokio::test]
async fn chart_has_flow_schemas_outside_of_kube_system(
    #[case] namespace: &str,
    #[case] values: &Value,
    #[case] levels: &[&str],
) {
    let Some(objects) = install_chart(namespace, values).await else { return };
    let schemas: Vec<&Value> = objects.values().filter(|it| it["kind"] == "FlowSchema").collect();
    let mut found: Vec<&str> =
        schemas.iter().map(|it| text(&it["spec"]["priorityLevelConfiguration"]["name"])).collect();
    found.sort_unstable();
    assert_eq!(found, levels);
    for schema in schemas {
        let account = json!([{"kind": "ServiceAccount", "serviceAccount": {"name": NAME, "namespace": namespace}}]);
        assert_eq!(schema["spec"]["rules"][0]["subjects"], account, "{schema}");
    }
}

#[tokio::test]
async fn chart_omits_disabled_objects() {
    let off = json!({"enabled": false});
    let values = json!({"podDisruptionBudget": off, "networkPolicy": off, "resources": null, "tolerations": []});
    let Some(objects) = install_chart("kube-system", &values).await else { return };
    assert!(!objects.keys().any(|it| it.starts_with("PodDisruptionBudget/") || it.starts_with("NetworkPolicy/")));
    let pod = &objects[&format!("Deployment/{NAME}")]["spec"]["template"]["spec"];
    assert_eq!((pod.get("tolerations"), pod["containers"][0].get("resources")), (None, None));
}

#[tokio::test]
async fn one_replica_has_no_disruption_budget() {
    let Some(objects) = install_chart("kube-system", &json!({"replicas": 1})).await else { return };
    assert!(!objects.keys().any(|it| it.starts_with("PodDisruptionBudget/")), "it would prevent drains");
}

#[rstest]
#[case::mode(&json!({"mode": "passive"}), "mode: passive is neither active nor shadow")]
#[case::misspelt(&json!({"replica": 3}), "replica")]
#[case::misspelt_within(&json!({"image": {"digests": "sha256:1"}}), "digests")]
#[case::no_flag(&json!({"extraArgs": ["v=4"]}), "extraArgs")]
#[case::no_digest(&json!({"image": {"digest": "v0.1.0"}}), "digest")]
#[case::no_peer(&json!({"networkPolicy": {"metricsFrom": [{"matchLabels": {}}]}}), "metricsFrom")]
#[case::no_place(&json!({"controlPlaneNodes": "always"}), "controlPlaneNodes")]
#[tokio::test]
async fn chart_rejects_wrong_values(#[case] values: &Value, #[case] expect: &str) {
    if !has_helm().await {
        return;
    }
    let cluster = Cluster::start_with(Config { kinds: kinds(), ..Config::default() }).await;
    let error = helm_install(&cluster, "kube-system", values).await.expect_err("a wrong value");
    assert!(error.contains(expect), "{error}");
    cluster.server.shutdown().await;
}
