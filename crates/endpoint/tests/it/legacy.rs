//! The rules of earlier Kubernetes versions, each compared with the current rule.

use std::sync::Arc;

use kube_endpoint::{Legacy, planned_write};
use kube_endpoint_model::{Endpoints, Pod, Service, Write};
use rstest::rstest;
use serde_json::{Value, json};

use crate::rig::read;

const TOLERATE: Legacy =
    Legacy { tolerate_unready_endpoints: true, single_stack_endpoints: false, restart_policy_membership: false };
const SINGLE_STACK: Legacy =
    Legacy { tolerate_unready_endpoints: false, single_stack_endpoints: true, restart_policy_membership: false };
const RESTART_POLICY: Legacy =
    Legacy { tolerate_unready_endpoints: false, single_stack_endpoints: false, restart_policy_membership: true };

/// Returns the addresses of the planned object, each as `ready` or `unready` and the address.
fn planned(service: &Value, pod: &Value, legacy: Legacy) -> String {
    let (service, pod): (Service, Pod) = (read(service), read(pod));
    let Some(Write::Create(Endpoints { subsets, .. })) = planned_write(&service, &[Arc::new(pod)], None, None, legacy)
    else {
        panic!("expected a create")
    };
    let mut shown: Vec<String> = Vec::new();
    for subset in subsets {
        shown.extend(subset.addresses.iter().map(|it| format!("ready {}", it.ip)));
        shown.extend(subset.not_ready_addresses.iter().map(|it| format!("unready {}", it.ip)));
    }
    shown.join(" ")
}

fn service(annotation: Option<&str>, publish: bool, families: &[&str]) -> Value {
    let annotations = match annotation {
        Some(value) => json!({"service.alpha.kubernetes.io/tolerate-unready-endpoints": value}),
        None => json!({}),
    };
    json!({
        "metadata": {"namespace": "ns", "name": "web", "annotations": annotations},
        "spec": {"selector": {"app": "web"}, "clusterIP": "10.96.0.1", "ipFamilies": families,
            "publishNotReadyAddresses": publish, "ports": [{"targetPort": 80, "protocol": "TCP"}]}
    })
}

fn pod(ready: bool, deleted: bool, restart_policy: &str, phase: &str, ips: &[&str]) -> Value {
    let ips: Vec<Value> = ips.iter().map(|ip| json!({"ip": ip})).collect();
    json!({
        "metadata": {"namespace": "ns", "name": "p", "deletionTimestamp": deleted.then_some("2026-02-03T04:00:00Z")},
        "spec": {"restartPolicy": restart_policy},
        "status": {"phase": phase, "podIP": ips.first().map(|it| it["ip"].clone()), "podIPs": ips,
            "conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }}]}
    })
}

#[rstest]
#[case::no_annotation(None, false, false, "unready 10.0.0.1")]
#[case::no_annotation_published(None, true, false, "ready 10.0.0.1")]
#[case::on(Some("true"), false, false, "ready 10.0.0.1")]
#[case::on_as_go_reads_it(Some("T"), false, false, "ready 10.0.0.1")]
#[case::off_overrides(Some("false"), true, false, "unready 10.0.0.1")]
#[case::on_for_terminating_ones(Some("1"), false, true, "ready 10.0.0.1")]
#[case::off_for_terminating_ones(Some("0"), true, true, "")]
#[case::no_boolean_is_ignored(Some("yes"), false, false, "unready 10.0.0.1")]
#[case::no_boolean_is_ignored_and_published(Some("yes"), true, false, "ready 10.0.0.1")]
#[case::empty_is_no_boolean(Some(""), true, false, "ready 10.0.0.1")]
fn tolerate_unready(
    #[case] annotation: Option<&str>,
    #[case] publish: bool,
    #[case] deleted: bool,
    #[case] expected: &str,
) {
    let (service, pod) =
        (service(annotation, publish, &["IPv4"]), pod(false, deleted, "Always", "Running", &["10.0.0.1"]));
    assert_eq!(planned(&service, &pod, TOLERATE), expected);
    let current = match (publish, deleted) {
        (true, _) => "ready 10.0.0.1",
        (false, false) => "unready 10.0.0.1",
        (false, true) => "",
    };
    assert_eq!(
        planned(&service, &pod, Legacy::default()),
        current,
        "without the gate the annotation has no effect (EP-23)"
    );
}

#[rstest]
#[case::same(&["IPv4"], &["10.0.0.1"], "ready 10.0.0.1", "ready 10.0.0.1")]
#[case::dual_stack_pod(&["IPv6"], &["10.0.0.1", "fd00::1"], "ready 10.0.0.1", "ready fd00::1")]
#[case::v6_first(&["IPv4"], &["fd00::1", "10.0.0.1"], "ready fd00::1", "ready 10.0.0.1")]
#[case::only_the_other_family(&["IPv6"], &["10.0.0.1"], "ready 10.0.0.1", "")]
#[case::canonical(&["IPv4"], &["010.0.0.1"], "ready 10.0.0.1", "ready 10.0.0.1")]
#[case::unparsable(&["IPv4"], &["bad"], "", "")]
#[case::none(&["IPv4"], &[], "", "")]
fn single_stack(#[case] families: &[&str], #[case] ips: &[&str], #[case] expected: &str, #[case] current: &str) {
    let (service, pod) = (service(None, false, families), pod(true, false, "Always", "Running", ips));
    assert_eq!(planned(&service, &pod, SINGLE_STACK), expected);
    assert_eq!(planned(&service, &pod, Legacy::default()), current);
}

// upstream, before membership depended on the phase alone: TestShouldPodBeInEndpoints with restart policies
#[rstest]
#[case::always_failed("Always", "Failed", false, "unready 10.0.0.1")]
#[case::always_succeeded("Always", "Succeeded", false, "unready 10.0.0.1")]
#[case::always_running("Always", "Running", false, "unready 10.0.0.1")]
#[case::unset_failed("", "Failed", false, "unready 10.0.0.1")]
#[case::on_failure_failed("OnFailure", "Failed", false, "unready 10.0.0.1")]
#[case::on_failure_succeeded("OnFailure", "Succeeded", false, "")]
#[case::never_failed("Never", "Failed", false, "")]
#[case::never_succeeded("Never", "Succeeded", false, "")]
#[case::never_pending("Never", "Pending", false, "unready 10.0.0.1")]
#[case::ready_whatever_its_phase("Never", "Failed", true, "ready 10.0.0.1")]
fn restart_policies(#[case] policy: &str, #[case] phase: &str, #[case] ready: bool, #[case] expected: &str) {
    let pod = pod(ready, false, policy, phase, &["10.0.0.1"]);
    assert_eq!(planned(&service(None, false, &["IPv4"]), &pod, RESTART_POLICY), expected);
    assert_eq!(planned(&service(None, true, &["IPv4"]), &pod, RESTART_POLICY), "ready 10.0.0.1", "published");
    let current = match (matches!(phase, "Failed" | "Succeeded"), ready) {
        (true, _) => "",
        (false, true) => "ready 10.0.0.1",
        (false, false) => "unready 10.0.0.1",
    };
    assert_eq!(planned(&service(None, false, &["IPv4"]), &pod, Legacy::default()), current);
}

#[test]
fn restart_policy_membership_excludes_terminating_pods() {
    let pod = pod(true, true, "Always", "Running", &["10.0.0.1"]);
    assert_eq!(planned(&service(None, false, &["IPv4"]), &pod, RESTART_POLICY), "");
}
