//! Shadow mode: it has no right to write, and it can be installed beside the active mode.

use std::collections::BTreeMap;

use jiff::Timestamp;
use kube_dev_apiserver::{On, User};
use kube_endpoint_model::ObjectKey;
use kube_endpoints_history::{Archive, Kind, Select};
use kube_endpoints_testing::eventually;
use rstest::rstest;
use serde_json::{Value, json};

use super::chart::install_chart;
use super::rights::{rbac_cluster, refused};
use super::{BASE, SHADOW, arguments, kustomized, text};
use crate::process::{start_with_kubeconfig, stop};

const NAME: &str = "endpoint-controller-manager-shadow";

/// Roles of every cluster that shadow mode may be bound to. `system:auth-delegator` allows to create `TokenReviews`
/// and `SubjectAccessReviews`, which the API server answers and does not store.
const OF_EVERY_CLUSTER: [&str; 2] =
    ["ClusterRole/system:auth-delegator", "Role/extension-apiserver-authentication-reader"];

/// Objects of a kustomization or, with values, of the chart in a namespace. `None` without the program that renders them.
async fn rendered(kustomization: &str, chart: Option<(&str, Value)>) -> Option<BTreeMap<String, Value>> {
    match chart {
        None => kustomized(kustomization),
        Some((namespace, values)) => install_chart(namespace, &values).await,
    }
}

fn shadow(mut values: Value) -> Value {
    values["mode"] = json!("shadow");
    values
}

#[rstest]
#[case::kustomization(None)]
#[case::chart(Some(("kube-system", shadow(json!({"serviceMonitor": {"enabled": true}})))))]
#[case::chart_with_service_accounts(Some(("endpoints", shadow(json!({"useServiceAccountCredentials": true})))))]
#[case::chart_without_roles_in_kube_system(Some(("endpoints", shadow(json!({"rolesInKubeSystem": false})))))]
#[tokio::test]
async fn shadow_mode_has_no_right_to_write(#[case] chart: Option<(&str, Value)>) {
    let namespace = chart.as_ref().map_or("kube-system", |(namespace, _)| *namespace).to_owned();
    let Some(objects) = rendered(SHADOW, chart).await else { return };
    let account = json!([{"kind": "ServiceAccount", "name": NAME, "namespace": namespace}]);
    let (mut rules, mut bindings) = (0, 0);
    for (name, object) in &objects {
        for rule in object["rules"].as_array().into_iter().flatten() {
            for verb in rule["verbs"].as_array().expect("verbs") {
                assert!(["get", "list", "watch"].contains(&text(verb)), "{name} has the verb {verb}");
            }
            rules += 1;
        }
        if object["roleRef"].is_object() {
            let role = format!("{}/{}", text(&object["roleRef"]["kind"]), text(&object["roleRef"]["name"]));
            assert!(objects.contains_key(&role) || OF_EVERY_CLUSTER.contains(&role.as_str()), "{name} binds {role}");
            assert_eq!(object["subjects"], account, "{name}");
            bindings += 1;
        }
    }
    assert!(rules >= 3 && bindings >= 2, "{rules} rules and {bindings} bindings");
    let service_account = &objects[&format!("ServiceAccount/{NAME}")];
    assert_eq!(service_account["metadata"]["namespace"], namespace.as_str());
    let pod = &objects[&format!("Deployment/{NAME}")]["spec"]["template"];
    assert_eq!(pod["spec"]["serviceAccountName"], NAME);
    assert_eq!(arguments(pod)[0], "--mode=shadow");
}

/// Some clusters, such as GKE Autopilot, reject objects of users in kube-system.
#[tokio::test]
async fn chart_installs_nothing_in_kube_system_if_disabled() {
    let values = shadow(json!({"rolesInKubeSystem": false, "serviceMonitor": {"enabled": true}}));
    let Some(objects) = install_chart("endpoints", &values).await else { return };
    for (name, object) in &objects {
        assert_ne!(object["metadata"]["namespace"], "kube-system", "{name}");
    }
    let pod = &objects[&format!("Deployment/{NAME}")]["spec"]["template"];
    assert!(arguments(pod).contains(&"--authentication-skip-lookup=true".to_owned()), "the CA bundle cannot be read");
    let may_read_lease = |rule: &Value| rule["resources"] == json!(["leases"]) && rule["verbs"] == json!(["get"]);
    let rules = objects[&format!("ClusterRole/{NAME}")]["rules"].as_array().expect("rules");
    assert!(rules.iter().any(may_read_lease), "{rules:?}");
}

#[rstest]
#[case::kustomizations(false)]
#[case::charts(true)]
#[tokio::test]
async fn both_modes_can_be_installed_side_by_side(#[case] charts: bool) {
    let values = |values: Value| charts.then_some(("kube-system", values));
    let Some(active) = rendered(BASE, values(json!({}))).await else { return };
    let Some(shadow) = rendered(SHADOW, values(shadow(json!({})))).await else { return };
    let both: Vec<&String> = active.keys().filter(|name| shadow.contains_key(*name)).collect();
    assert!(both.is_empty(), "objects of both modes: {both:?}");

    let pod_labels = |objects: &BTreeMap<String, Value>| {
        let deployment = objects.values().find(|it| it["kind"] == "Deployment").expect("a Deployment");
        deployment["spec"]["template"]["metadata"]["labels"].as_object().expect("labels").clone()
    };
    for (selecting, other) in [(&active, &shadow), (&shadow, &active)] {
        let (own, foreign) = (pod_labels(selecting), pod_labels(other));
        let mut selectors = 0;
        for (name, object) in selecting {
            let spec = &object["spec"];
            // The labels of a ServiceMonitor's selector are those of the Service.
            let selector = match text(&object["kind"]) {
                "Service" => &spec["selector"],
                "NetworkPolicy" => &spec["podSelector"]["matchLabels"],
                "Deployment" | "PodDisruptionBudget" => &spec["selector"]["matchLabels"],
                _ => continue,
            };
            let selector = selector.as_object().expect("labels");
            assert!(selector.iter().all(|(key, value)| own.get(key) == Some(value)), "{name}: {selector:?}");
            assert!(selector.iter().any(|(key, value)| foreign.get(key) != Some(value)), "{name}: {selector:?}");
            selectors += 1;
        }
        assert!(selectors >= 3, "{selectors} selectors");
    }
}

#[tokio::test]
async fn shadow_mode_only_reads_and_needs_no_further_right_to_record() {
    let Some(objects) = kustomized(SHADOW) else { return };
    let kinds = ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"];
    let cluster = rbac_cluster(kinds.iter().map(|kind| &objects[&format!("{kind}/{NAME}")])).await;
    cluster.node().await;
    cluster.service("default", "web").await;
    let user = format!("system:serviceaccount:kube-system:{NAME}");
    let account = User::new(&user).group("system:serviceaccounts").group("system:authenticated");
    let kubeconfig = cluster.kubeconfig_for(account);

    let mut arguments = arguments(&objects[&format!("Deployment/{NAME}")]["spec"]["template"]);
    let history = cluster.folder().join("history");
    arguments.push(format!("--history-dir={}", history.display()));
    let child = start_with_kubeconfig(&kubeconfig, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let requests = cluster.server.requests();
    for resource in ["services", "pods", "nodes", "endpoints", "endpointslices"] {
        let watched = On::any().user(&user).verb("watch").resource(resource);
        eventually(resource, &true, async || requests.count(&watched) > 0).await;
    }
    let lease = On::any().user(&user).verb("get").resource("leases").name("kube-controller-manager");
    eventually("the Lease of the compared controllers", &true, async || requests.count(&lease) > 0).await;
    let web = ObjectKey::new("default", "web");
    let is_recorded = async || {
        let Ok(mut archive) = Archive::open(&history) else { return false };
        let complete = archive.headers().all(|header| header.unknown.is_empty());
        complete && archive.replay(Select::All, Timestamp::MAX).is_ok_and(|it| it.object(Kind::Service, &web).is_some())
    };
    eventually("history of all kinds", &true, is_recorded).await;
    let log = stop(child).await;
    let missing = refused(&cluster);
    assert!(missing.is_empty(), "refused requests: {missing:#?}\n{log}");
    let mut writes = requests.matching(&On::any().user(&user).user_agent("controller-manager"));
    writes.retain(|it| !it.resource.is_empty() && !["get", "list", "watch"].contains(&it.verb.as_str()));
    assert!(writes.is_empty(), "requests that write: {writes:#?}\n{log}");
    cluster.server.shutdown().await;
}
