//! Every way of deploying uses the same Lease, so that a chart in any namespace, the kustomization and static Pods never
//! lead at the same time.

use std::collections::BTreeMap;

use endpoint_controller_manager::CommandLine;
use rstest::rstest;
use serde_json::{Value, json};

use super::chart::install_chart;
use super::{BASE, NAME, arguments, by_name, deploy, documents, kustomized, text};

/// Panics unless the Pods elect with the Lease `kube-system/endpoint-controller-manager` and have the right to renew it.
fn assert_elects_in_kube_system(objects: &BTreeMap<String, Value>) {
    let deployment = objects.get(&format!("Deployment/{NAME}")).map(|it| &it["spec"]["template"]);
    let pod = deployment.unwrap_or_else(|| &objects[&format!("Pod/{NAME}")]);
    let line = [NAME.to_owned()].into_iter().chain(arguments(pod)).map(Into::into);
    let settings = CommandLine::parse(line).expect("arguments of the program").settings;
    let lease = settings.leader_election.expect("leader election").lease;
    assert_eq!((lease.namespace.as_str(), lease.name.as_str()), ("kube-system", NAME));

    let in_kube_system = |kind: &'static str| {
        objects.values().filter(move |it| it["kind"] == kind && it["metadata"]["namespace"] == "kube-system")
    };
    let renews = |role: &Value| {
        let rules = role["rules"].as_array().expect("rules").iter();
        rules.into_iter().any(|rule| {
            let has = |field: &str, value: &str| rule[field].as_array().is_some_and(|it| it.contains(&json!(value)));
            has("resources", "leases") && has("resourceNames", NAME) && has("verbs", "get") && has("verbs", "update")
        })
    };
    let roles: Vec<&str> =
        in_kube_system("Role").filter(|it| renews(it)).map(|it| text(&it["metadata"]["name"])).collect();
    assert_eq!(roles.len(), 1, "Roles in kube-system for the Lease");
    let is_bound = in_kube_system("RoleBinding").any(|it| it["roleRef"]["name"] == roles[0]);
    assert!(is_bound, "{} is not bound in kube-system", roles[0]);
}

#[test]
fn kustomization_elects_in_kube_system() {
    let Some(objects) = kustomized(BASE) else { return };
    assert_elects_in_kube_system(&objects);
}

#[test]
fn static_pod_elects_in_kube_system() {
    let files = ["endpoint-controller-manager.yaml", "rights.yaml"];
    let objects = by_name(files.iter().flat_map(|file| documents(&deploy("static-pod").join(file))));
    assert_elects_in_kube_system(&objects);
}

#[rstest]
#[case("kube-system", json!({}))]
#[case("endpoints", json!({}))]
#[case("endpoints", json!({"useServiceAccountCredentials": true}))]
#[tokio::test]
async fn chart_elects_in_kube_system(#[case] namespace: &str, #[case] values: Value) {
    let Some(objects) = install_chart(namespace, &values).await else { return };
    assert_elects_in_kube_system(&objects);
}
