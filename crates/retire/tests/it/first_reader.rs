//! Requests that stop a run which deletes objects.

use std::io::Cursor;

use kube_endpoints_history::audit::reads::Reads;
use kube_endpoints_retire::apply::{Stop, first_reader};
use kube_endpoints_retire::{Who, WholeEndpoints};
use kube_endpoints_testing::audit::{event, lines};
use kube_wire::{Decode as _, ObjectKey};
use rstest::rstest;
use serde_json::{Value, json};

fn reads(events: &[Value]) -> Reads {
    let mut reads = Reads::default();
    reads.add("audit.log", Cursor::new(lines(events))).expect("readable");
    reads
}

/// Returns a managed object.
fn object(namespace: &str, name: &str) -> WholeEndpoints {
    let labels = json!({"endpoints.kubernetes.io/managed-by": "endpoint-controller"});
    let object = json!({"metadata": {"namespace": namespace, "name": name, "labels": labels}});
    WholeEndpoints::from_json(object.to_string().as_bytes()).expect("an object")
}

fn of(namespace: &str, name: &str) -> Value {
    json!({"resource": "endpoints", "namespace": namespace, "name": name})
}

const ALICE: &str = "User alice still reads Endpoints, among them shop/web, which was deleted or is about to be: ";

#[rstest]
#[case::namespace(json!({}), Some("list in namespace shop (curl/8.5.0)"))]
#[case::everything(json!({"verb": "watch", "objectRef": {"resource": "endpoints"}}), Some("watch in all namespaces (curl/8.5.0)"))]
#[case::object(json!({"verb": "get", "objectRef": of("shop", "web")}), Some("get of shop/web (curl/8.5.0)"))]
#[case::deleted_object(json!({"verb": "get", "objectRef": of("shop", "web"), "responseStatus": {"code": 404}}),
    Some("get of shop/web (curl/8.5.0)"))]
#[case::its_labels(json!({"requestURI": "/x?labelSelector=endpoints.kubernetes.io/managed-by"}),
    Some("list in namespace shop with labels endpoints.kubernetes.io/managed-by (curl/8.5.0)"))]
#[case::no_selector(json!({"requestURI": "/x?labelSelector=(("}), Some("list in namespace shop with labels (( (curl/8.5.0)"))]
#[case::other_labels(json!({"requestURI": "/x?labelSelector=app%3Dweb"}), None)]
#[case::other_object(json!({"verb": "get", "objectRef": of("shop", "api")}), None)]
#[case::other_namespace(json!({"objectRef": {"resource": "endpoints", "namespace": "lab"}}), None)]
#[case::same_name_elsewhere(json!({"verb": "get", "objectRef": of("lab", "web")}), None)]
#[case::other_kind(json!({"objectRef": {"resource": "services", "namespace": "shop"}}), None)]
#[case::denied(json!({"responseStatus": {"code": 403}}), None)]
#[case::write(json!({"verb": "delete", "objectRef": of("shop", "web")}), None)]
#[case::this_program(json!({"userAgent": "kubectl-endpoints/0.5.0 (linux/amd64)"}), None)]
#[case::api_server(json!({"user": {"username": "system:apiserver"}}), None)]
#[case::controller(json!({"user": {"username": "system:serviceaccount:kube-system:endpointslicemirroring-controller"}}), None)]
fn reads_that_stop_a_run(#[case] changes: Value, #[case] expected: Option<&str>) {
    let (web, other) = (object("shop", "web"), object("quiet", "e"));
    let stop = first_reader(&reads(&[event("list", &changes)]), [&web, &other]);
    assert_eq!(stop.map(|stop| stop.to_string()), expected.map(|what| format!("{ALICE}{what}")));
}

#[test]
fn the_first_of_several_is_named() {
    let late = event("list", &json!({}));
    let early = json!({"stageTimestamp": "2026-11-27T13:59:59Z", "objectRef": of("quiet", "e"),
        "user": {"username": "system:serviceaccount:shop:proxy"}});
    let objects = [object("shop", "web"), object("quiet", "e")];
    let stop = first_reader(&reads(&[late, event("get", &early)]), &objects);
    let what = "get of quiet/e (curl/8.5.0)".to_owned();
    let by = Who::account("shop", "proxy");
    assert_eq!(stop, Some(Stop::Read { key: ObjectKey::new("quiet", "e"), by, what }));
    assert_eq!(first_reader(&reads(&[]), &objects), None);
}
