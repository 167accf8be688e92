//! What each level of an audit log allows to know.

use rstest::rstest;
use serde_json::{Value, json};

use super::log::{changes, event, pod, with};

const KUBELET: &str = "system:node:n1";

fn answered(object: Value) -> Value {
    Value::from_iter([("responseObject", object)])
}

/// Returns a Pod whose deletion has begun.
fn deleted(version: u64, grace: u64, finalizers: &[&str]) -> Value {
    let pod = with(pod("a", version, true), "/metadata/deletionTimestamp", json!("2026-11-27T14:00:30Z"));
    let pod = with(pod, "/metadata/deletionGracePeriodSeconds", json!(grace));
    with(pod, "/metadata/finalizers", json!(finalizers))
}

/// Returns the events before those of a case: the Pod `a` is ready.
fn created() -> Value {
    event(0.0, "create", "pods/a", &answered(pod("a", 5, true)))
}

/// Returns the changes after the creation of the Pod `a`.
fn after_creation(events: Vec<Value>) -> String {
    let all = changes(&[vec![created()], events].concat());
    all.strip_prefix("00.000 + Pod shop/a ready on n1 10.1.0.1 by kubectl (alice)\n").expect("the creation").to_owned()
}

#[rstest]
#[case::update(event(1.0, "update", "pods/a", &answered(pod("a", 6, false))), "~ Pod shop/a on n1 10.1.0.1 by kubectl (alice)")]
#[case::status(
    event(1.0, "patch", "pods/a/status", &answered(pod("a", 6, false))), "~ Pod shop/a on n1 10.1.0.1 by kubectl (alice)"
)]
#[case::resize(event(1.0, "patch", "pods/a/resize", &answered(pod("a", 6, false))), "~ Pod shop/a on n1 10.1.0.1 by kubectl (alice)")]
#[case::graceful(
    event(1.0, "delete", "pods/a", &answered(deleted(6, 30, &[]))), "~ Pod shop/a ready terminating on n1 10.1.0.1 by kubectl (alice)"
)]
#[case::with_a_finalizer(
    event(1.0, "delete", "pods/a", &answered(deleted(6, 0, &["a/b"]))),
    "~ Pod shop/a ready terminating on n1 10.1.0.1 by kubectl (alice)"
)]
#[case::at_once(event(1.0, "delete", "pods/a", &answered(deleted(6, 0, &[]))), "- Pod shop/a by kubectl (alice)")]
#[case::last_finalizer(event(1.0, "patch", "pods/a", &answered(deleted(6, 0, &[]))), "- Pod shop/a by kubectl (alice)")]
#[case::as_it_was(event(1.0, "delete", "pods/a", &answered(pod("a", 5, true))), "- Pod shop/a by kubectl (alice)")]
#[case::status_of_a_deletion(
    event(1.0, "delete", "pods/a", &answered(json!({"kind": "Status", "status": "Success", "details": {"uid": "uid-a"}}))),
    "- Pod shop/a by kubectl (alice)"
)]
#[case::of_an_earlier_pod(
    event(1.0, "delete", "pods/a", &answered(json!({"kind": "Status", "status": "Success", "details": {"uid": "other"}}))), ""
)]
#[case::collection(
    event(1.0, "deletecollection", "pods", &answered(json!({"kind": "PodList", "items": [pod("a", 5, true)]}))),
    "~ Pod shop/a ready terminating on n1 10.1.0.1 by kubectl (alice)"
)]
#[case::collection_at_once(
    event(1.0, "deletecollection", "pods", &json!({"requestObject": {"gracePeriodSeconds": 0},
        "responseObject": {"kind": "PodList", "items": [pod("a", 5, true)]}})),
    "- Pod shop/a by kubectl (alice)"
)]
#[case::evicted(
    event(1.0, "create", "pods/a/eviction", &json!({"requestObject": {"kind": "Eviction"}, "responseObject": {"kind": "Status"}})),
    "~ Pod shop/a ready terminating on n1 10.1.0.1 by kubectl (alice)"
)]
#[case::bound(
    event(1.0, "create", "pods/a/binding", &json!({"requestObject": {"target": {"kind": "Node", "name": "n2"}},
        "responseObject": {"kind": "Status"}})),
    "~ Pod shop/a ready on n2 10.1.0.1 by kubectl (alice)"
)]
#[case::field_manager(
    event(1.0, "patch", "pods/a", &json!({"requestURI": "/api/v1/x?fieldManager=helm&force=true", "responseObject": pod("a", 6, false)})),
    "~ Pod shop/a on n1 10.1.0.1 by helm (alice)"
)]
#[case::impersonated(
    event(1.0, "update", "pods/a", &json!({"impersonatedUser": {"username": "bob"}, "responseObject": pod("a", 6, false)})),
    "~ Pod shop/a on n1 10.1.0.1 by kubectl (bob, impersonated by alice)"
)]
#[case::the_same_again(event(1.0, "create", "pods/a", &answered(pod("a", 5, true))), "")]
#[case::another_pod_of_the_name(
    event(1.0, "create", "pods/a", &answered(with(pod("a", 9, true), "/metadata/uid", json!("later")))),
    "- Pod shop/a\n01.000 + Pod shop/a ready on n1 10.1.0.1 by kubectl (alice)"
)]
#[case::table(
    event(1.0, "patch", "pods/a", &answered(json!({"kind": "Table"}))), "? Pod shop/a changed by kubectl (alice)"
)]
#[case::truncated(event(1.0, "update", "pods/a", &json!({})), "? Pod shop/a changed by kubectl (alice)")]
#[case::malformed(
    event(1.0, "update", "pods/a", &answered(json!({"kind": "Pod", "spec": 7}))), "? Pod shop/a changed by kubectl (alice)"
)]
#[case::read(event(1.0, "get", "pods/a", &answered(pod("a", 6, false))), "")]
#[case::listed(event(1.0, "list", "pods", &answered(json!({"kind": "PodList", "items": [pod("a", 6, false)]}))), "")]
#[case::log(event(1.0, "create", "pods/a/exec", &json!({})), "")]
#[case::failed(
    event(1.0, "update", "pods/a", &json!({"responseStatus": {"code": 409}, "requestObject": pod("a", 5, false)})), ""
)]
#[case::dry_run(
    event(1.0, "update", "pods/a", &json!({"requestURI": "/x?dryRun=All", "responseObject": pod("a", 6, false)})), ""
)]
#[case::received(event(1.0, "update", "pods/a", &json!({"stage": "RequestReceived"})), "")]
#[case::other_kind(event(1.0, "update", "configmaps/a", &json!({})), "")]
fn answers(#[case] event: Value, #[case] expected: &str) {
    let expected = if expected.is_empty() { String::new() } else { format!("01.000 {expected}\n") };
    assert_eq!(after_creation(vec![event]), expected);
}

fn requested(seconds: f64, verb: &str, target: &str, user: &str, request: &Value) -> Value {
    let user = json!({"username": user});
    event(seconds, verb, target, &json!({"level": "Request", "user": user, "requestObject": request}))
}

fn patch(status: &Value) -> Value {
    requested(1.0, "patch", "pods/a/status", KUBELET, &json!({"metadata": {"uid": "uid-a"}, "status": status}))
}

#[rstest]
#[case::unready(
    patch(&json!({"$setElementOrder/conditions": [{"type": "Ready"}], "conditions": [{"type": "Ready", "status": "False",
        "lastTransitionTime": "2026-11-27T14:00:01Z"}]})),
    "~ Pod shop/a on n1 10.1.0.1"
)]
#[case::other_condition(
    patch(&json!({"$setElementOrder/conditions": [{"type": "Ready"}], "conditions": [{"type": "Initialized", "status": "True"}]})), ""
)]
#[case::only_the_message(
    patch(&json!({"$setElementOrder/conditions": [{"type": "Ready"}], "conditions": [{"type": "Ready", "message": "m"}]})), ""
)]
#[case::merge_patch_without_ready(patch(&json!({"conditions": [{"type": "Initialized", "status": "True"}]})), "? Pod shop/a changed")]
#[case::deleted_condition(
    patch(&json!({"$setElementOrder/conditions": [], "conditions": [{"type": "Ready", "$patch": "delete"}]})), "? Pod shop/a changed"
)]
#[case::phase(patch(&json!({"phase": "Failed"})), "~ Pod shop/a ready finished on n1 10.1.0.1")]
#[case::address(
    patch(&json!({"podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}, {"ip": "fd00::1"}]})), "~ Pod shop/a ready on n1 10.1.0.1,fd00::1"
)]
#[case::other_address(patch(&json!({"podIP": "10.1.0.2", "podIPs": [{"ip": "10.1.0.2"}]})), "? Pod shop/a changed")]
#[case::labels(
    requested(1.0, "patch", "pods/a", KUBELET, &json!({"metadata": {"labels": {"app": null, "v": "2"}}})),
    "~ Pod shop/a ready on n1 10.1.0.1 {\"v\": \"2\"}"
)]
#[case::finalizers(requested(1.0, "patch", "pods/a", KUBELET, &json!({"metadata": {"finalizers": null}})), "? Pod shop/a changed")]
#[case::json_patch(
    requested(1.0, "patch", "pods/a", KUBELET, &json!([{"op": "remove", "path": "/metadata/labels/app"}])), "? Pod shop/a changed"
)]
#[case::apply(
    requested(1.0, "patch", "pods/a", KUBELET, &json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}})),
    "? Pod shop/a changed"
)]
#[case::update_keeps_the_status(
    requested(1.0, "update", "pods/a", KUBELET, &with(pod("a", 5, false), "/metadata/labels/app", json!("db"))),
    "~ Pod shop/a ready on n1 10.1.0.1 {\"app\": \"db\"}"
)]
#[case::update_of_the_status(
    requested(1.0, "update", "pods/a/status", KUBELET, &with(pod("a", 5, false), "/spec/nodeName", json!("n9"))),
    "~ Pod shop/a on n1 10.1.0.1"
)]
#[case::deletion(
    requested(1.0, "delete", "pods/a", "bob", &json!({"kind": "DeleteOptions"})), "~ Pod shop/a ready terminating on n1 10.1.0.1"
)]
#[case::deletion_at_once(requested(1.0, "delete", "pods/a", "bob", &json!({"gracePeriodSeconds": 0})), "- Pod shop/a")]
#[case::deletion_by_the_kubelet(requested(1.0, "delete", "pods/a", KUBELET, &json!({})), "- Pod shop/a")]
#[case::namespace(
    requested(1.0, "deletecollection", "pods", "bob", &json!({"gracePeriodSeconds": 0})), "- Pod shop/a"
)]
#[case::of_an_unknown_pod(requested(1.0, "patch", "pods/b/status", KUBELET, &json!({"status": {}})), "? unknown Pod shop/b changed")]
#[case::new_pod(
    requested(1.0, "create", "pods/b", KUBELET, &json!({"kind": "Pod", "metadata": {"labels": {"app": "web"}}, "spec": {}})), "+ Pod shop/b"
)]
#[case::generated_name(requested(1.0, "create", "pods", KUBELET, &json!({"kind": "Pod", "metadata": {"generateName": "b-"}})), "")]
fn requests(#[case] event: Value, #[case] expected: &str) {
    let user = event["user"]["username"].as_str().unwrap_or_default();
    let expected = if expected.is_empty() { String::new() } else { format!("01.000 {expected} by kubectl ({user})\n") };
    assert_eq!(after_creation(vec![event]), expected);
}

#[test]
fn a_deletion_of_selected_objects_is_a_gap() {
    let uri = "/api/v1/namespaces/shop/pods?labelSelector=app%3Dweb";
    let event = event(1.0, "deletecollection", "pods", &json!({"level": "Metadata", "requestURI": uri}));
    let expected =
        "01.000 gap: Pods of namespace shop were deleted by kubectl (alice), and the audit log does not say which\n";
    assert_eq!(after_creation(vec![event]), expected);
}

#[rstest]
#[case::created("create", "services/web", "? unknown Service shop/web created")]
#[case::changed("patch", "endpointslices/web-x", "? unknown EndpointSlice shop/web-x changed")]
#[case::of_a_known_object("update", "pods/a", "? Pod shop/a changed")]
#[case::deleted("delete", "endpoints/web", "? unknown Endpoints shop/web deleted")]
#[case::node("patch", "nodes/n1/status", "? unknown Node n1 changed")]
fn metadata_names_the_user(#[case] verb: &str, #[case] target: &str, #[case] expected: &str) {
    let event = event(1.0, verb, target, &json!({"level": "Metadata"}));
    assert_eq!(after_creation(vec![event]), format!("01.000 {expected} by kubectl (alice)\n"));
}

#[rstest]
#[case::status(
    json!({"$setElementOrder/conditions": [], "conditions": [{"type": "Ready", "status": "False"}]}),
    &["00.000 + Node n1 ready a by kubectl (alice)", "01.000 ~ Node n1 a by kubelet", "02.000 ~ Node n1 b by kubelet"]
)]
#[case::allocatable(
    json!({"allocatable": {"memory": "1Gi"}}),
    &["00.000 + Node n1 ready a by kubectl (alice)", "02.000 ~ Node n1 ready b by kubelet"]
)]
fn nodes(#[case] status: Value, #[case] expected: &[&str]) {
    let node = json!({"kind": "Node", "metadata": {"name": "n1", "resourceVersion": "3",
            "labels": {"topology.kubernetes.io/zone": "a"}}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    let log = [
        event(0.0, "create", "nodes/n1", &answered(node)),
        requested(1.0, "patch", "nodes/n1/status", KUBELET, &json!({"status": status})),
        requested(
            2.0,
            "patch",
            "nodes/n1",
            KUBELET,
            &json!({"metadata": {"labels": {"topology.kubernetes.io/zone": "b"}}}),
        ),
    ];
    let found = changes(&log).replace("kubectl (system:node:n1)", "kubelet");
    assert_eq!(found.lines().collect::<Vec<_>>(), expected);
}

/// A policy that logs answers for some of the requests only.
#[test]
fn a_later_answer_ends_the_uncertainty() {
    let log = vec![
        event(1.0, "patch", "pods/a", &json!({"level": "Metadata"})),
        event(2.0, "patch", "pods/a", &answered(pod("a", 7, false))),
    ];
    let expected =
        "01.000 ? Pod shop/a changed by kubectl (alice)\n02.000 ~ Pod shop/a on n1 10.1.0.1 by kubectl (alice)\n";
    assert_eq!(after_creation(log), expected);
}
