//! End-to-end syncs: which writes are sent, and how failures are handled.

use std::slice;

use k8s_openapi::api::core::v1 as core;
use kube_dev_apiserver::{Fault, On};
use kube_endpoint_model::well_known::{LEADER_ANNOTATION, TRIGGER_TIME_ANNOTATION};
use kube_endpoints_testing::eventually;
use rstest::rstest;
use serde_json::{Value, json};

use crate::rig::{NAMESPACE, Rig};

fn service(version: u32, spec: &Value) -> Value {
    let metadata = json!({"namespace": NAMESPACE, "name": "web", "uid": "s", "resourceVersion": version.to_string()});
    json!({"metadata": metadata, "spec": spec})
}

pub(crate) fn web(version: u32) -> Value {
    let port = json!({"name": "http", "port": 80, "targetPort": 8080, "protocol": "TCP"});
    service(version, &json!({"selector": {"app": "web"}, "clusterIP": "10.96.0.1", "ports": [port]}))
}

pub(crate) fn pod(name: &str, address: &str) -> Value {
    json!({
        "metadata": {"namespace": NAMESPACE, "name": name, "uid": name, "labels": {"app": "web"}, "resourceVersion": "1"},
        "spec": {"nodeName": "n1"},
        "status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}],
            "conditions": [{"type": "Ready", "status": "True"}]}
    })
}

fn endpoints(name: &str, address: &str) -> Value {
    let subset = json!({"addresses": [{"ip": address}], "ports": [{"port": 1000, "protocol": "TCP"}]});
    json!({"metadata": {"namespace": NAMESPACE, "name": name}, "subsets": [subset]})
}

// upstream: TestSyncEndpointsItemsPreserveNoSelector, TestSyncServiceExternalNameType
#[rstest]
#[case::no_selector(&json!({"clusterIP": "10.96.0.1", "ports": [{"port": 80}]}))]
#[case::external_name_with_selector_and_ports(
    &json!({"type": "ExternalName", "selector": {"app": "web"}, "ports": [{"port": 80}]}))]
#[case::external_name_with_ports(&json!({"type": "ExternalName", "ports": [{"port": 80}]}))]
#[case::external_name_with_selector(&json!({"type": "ExternalName", "selector": {"app": "web"}}))]
#[case::external_name(&json!({"type": "ExternalName"}))]
#[tokio::test]
async fn a_service_without_selector_or_with_external_name_is_not_reconciled(#[case] spec: &Value) {
    let pods = [pod("a", "10.0.0.1")];
    let mut rig = Rig::start(&[service(1, spec)], &pods, &[]).await;
    assert!(rig.writes().await.is_empty(), "nothing is created");
    let mut rig = Rig::start(&[service(1, spec)], &pods, &[endpoints("web", "6.7.8.9")]).await;
    assert!(rig.writes().await.is_empty(), "nothing is changed (EP-3, EP-4)");
}

// upstream: TestSyncEndpointsItems, TestSyncEndpointsServiceNotFound
#[tokio::test]
async fn endpoints_are_created_updated_and_deleted() {
    let mut rig = Rig::start(&[web(1)], &[pod("a", "10.0.0.1")], &[]).await;
    assert_eq!(rig.writes().await, ["create 201"]);
    rig.refresh("web").await;
    rig.service(&web(2));
    assert_eq!(rig.writes().await, ["create 201"], "nothing to change");

    rig.pods.apply(crate::rig::read(&pod("b", "10.0.0.2")));
    rig.pods.deliver();
    assert_eq!(rig.writes().await[1..], ["update web 200"]);
    assert_eq!(rig.stored("web").await.expect("Endpoints").subsets[0].addresses.len(), 2);
    rig.refresh("web").await;

    rig.services.delete(crate::rig::read(&web(3)));
    rig.services.deliver();
    assert_eq!(rig.writes().await[2..], ["delete web 200"]);
}

// upstream: TestCheckLeftoverEndpoints. Any creator counts (EP-H6).
#[tokio::test]
async fn leftover_endpoints_are_deleted_at_start() {
    let mut leader = endpoints("leader", "10.0.0.1");
    leader["metadata"]["annotations"] = json!({LEADER_ANNOTATION: "{}"});
    let mut rig = Rig::start(&[], &[], &[endpoints("gone", "10.0.0.1"), leader]).await;
    assert_eq!(rig.writes().await, ["delete gone 200"]);
}

/// A Service that the server does not have yet.
pub(crate) fn without_selector() -> Value {
    json!({"metadata": {"namespace": NAMESPACE, "name": "web"}, "spec": {"ports": [{"port": 80}]}})
}

/// The Service is younger than the list of Services, and its Endpoints are not younger than the list of Endpoints. Upstream
/// deletes them unless the event of the Service arrives in time.
#[tokio::test]
async fn endpoints_whose_service_the_cache_does_not_have_yet_are_kept_at_start() {
    let reads = On::any().verb("get").resource("services");
    let mut service = without_selector();
    let mut rig = Rig::start_before(slice::from_ref(&service), &[endpoints("web", "10.0.0.1")]).await;
    assert!(rig.writes().await.is_empty() && rig.server.requests().count(&reads) > 0);
    rig.service(&service);
    assert!(rig.writes().await.is_empty());
    // Its deletion is an event like any other.
    service["metadata"]["resourceVersion"] = json!("1000000");
    rig.services.delete(crate::rig::read(&service));
    rig.services.deliver();
    assert_eq!(rig.writes().await, ["delete web 200"]);
}

/// The cache never has the Service: it is deleted before the next list of Services.
// Simulation seed 13601.
#[tokio::test]
async fn endpoints_whose_service_is_deleted_before_it_is_listed_are_deleted() {
    let mut rig = Rig::start_before(&[without_selector()], &[endpoints("web", "10.0.0.1")]).await;
    assert!(rig.writes().await.is_empty());
    rig.client.delete::<core::Service>(NAMESPACE, "web", None).await.expect("deleted");
    eventually("the object is deleted", &true, async || rig.stored("web").await.is_none()).await;
}

/// A later list lacks the Service. Upstream deletes its Endpoints.
#[tokio::test]
async fn endpoints_whose_service_a_list_lacks_are_kept() {
    let service = without_selector();
    let mut rig = Rig::start_before(slice::from_ref(&service), &[endpoints("web", "10.0.0.1")]).await;
    rig.service(&service);
    assert!(rig.writes().await.is_empty());
    rig.services.replace([], "9");
    rig.services.deliver();
    assert!(rig.writes().await.is_empty());
    rig.client.delete::<core::Service>(NAMESPACE, "web", None).await.expect("deleted");
    eventually("the object is deleted", &true, async || rig.stored("web").await.is_none()).await;
}

#[tokio::test]
async fn a_delete_answered_with_404_succeeds() {
    let mut rig = Rig::start(&[web(1)], &[], &[]).await;
    rig.writes().await;
    rig.client.delete::<core::Endpoints>(NAMESPACE, "web", None).await.expect("deleted");
    rig.services.delete(crate::rig::read(&web(2)));
    rig.services.deliver();
    assert_eq!(rig.writes().await[1..], ["delete web 404"]);
    assert_eq!(rig.writes().await[1..], ["delete web 404"], "and is not tried again");
}

/// An object that another client changed since the cached state is not deleted. Upstream deletes it.
#[tokio::test]
async fn a_delete_requires_the_cached_version() {
    let mut rig = Rig::start(&[web(1)], &[], &[]).await;
    rig.refresh("web").await;
    let patch = json!({"metadata": {"labels": {"made": "anew"}}});
    rig.client.merge_patch::<core::Endpoints>(NAMESPACE, "web", None, &patch).await.expect("changed");
    rig.services.delete(crate::rig::read(&web(2)));
    rig.services.deliver();
    let writes = rig.writes().await;
    assert!(writes.len() > 1 && writes[1..].iter().all(|it| it == "delete web 409"), "{writes:?}");
    rig.refresh("web").await;
    eventually("the object is deleted after its event", &true, async || rig.stored("web").await.is_none()).await;
}

/// Every delete has preconditions, also that of an object that the watch has not delivered. Upstream sends none.
#[rstest]
#[case::exists(true, &["delete web 200"])]
#[case::does_not_exist(false, &[])]
#[tokio::test]
async fn endpoints_that_are_not_cached_are_read_before_they_are_deleted(
    #[case] exists: bool,
    #[case] expected: &[&str],
) {
    let mut rig = Rig::start(&[service(1, &json!({"type": "ExternalName"}))], &[], &[]).await;
    if exists {
        let object: core::Endpoints = crate::rig::read(&endpoints("web", "6.7.8.9"));
        rig.client.create(&object).await.expect("created");
    }
    // Later than the versions of the server.
    rig.services.delete(crate::rig::read(&web(1_000_000)));
    rig.services.deliver();
    assert_eq!(rig.writes().await, expected);
    let reads = On::any().verb("get").resource("endpoints").namespace(NAMESPACE).user_agent("controller");
    assert_eq!(rig.server.requests().count(&reads), 1);
    assert!(rig.stored("web").await.is_none());
}

// upstream: TestMultiplePodChanges, TestMultipleServiceChanges, which wait for the event of the first write (TR-E1)
#[tokio::test]
async fn a_write_is_in_the_cache_before_its_event() {
    let mut rig = Rig::start(&[web(1)], &[pod("a", "10.0.0.1")], &[endpoints("web", "6.7.8.9")]).await;
    assert_eq!(rig.writes().await, ["update web 200"]);
    // The event of the first write has not arrived: a write based on the previous version would conflict.
    rig.pods.apply(crate::rig::read(&pod("b", "10.0.0.2")));
    rig.pods.deliver();
    rig.service(&web(2));
    assert_eq!(rig.until_writes(2).await[1..], ["update web 200"]);
    assert_eq!(rig.stored("web").await.expect("Endpoints").subsets[0].addresses.len(), 2);
    rig.refresh("web").await;
    rig.service(&web(3));
    assert_eq!(rig.writes().await.len(), 2, "the event changes nothing");
}

// EP-6
#[tokio::test]
async fn times_of_a_sync_without_a_write_are_not_new_later() {
    let mut rig = Rig::start(&[web(1)], &[pod("a", "10.0.0.1")], &[]).await;
    assert_eq!(rig.writes().await, ["create 201"]);
    let mut failed = pod("b", "10.0.0.2");
    failed["status"]["phase"] = "Failed".into();
    failed["status"]["conditions"][0]["lastTransitionTime"] = "2026-02-03T04:00:00Z".into();
    rig.pods.apply(crate::rig::read(&failed));
    rig.pods.deliver();
    assert_eq!(rig.writes().await.len(), 1, "a failed Pod is no endpoint");
    rig.pods.apply(crate::rig::read(&pod("c", "10.0.0.3")));
    rig.pods.deliver();
    assert_eq!(rig.until_writes(2).await[1..], ["update web 200"]);
    let stored = rig.stored("web").await.expect("Endpoints");
    assert_eq!(stored.subsets[0].addresses.len(), 2);
    assert_eq!(stored.metadata.annotations.get(TRIGGER_TIME_ANNOTATION), None);
}

// EP-20: 409 AlreadyExists is treated like any other failure.
#[rstest]
#[case::forbidden(403)]
#[case::exists(409)]
#[case::invalid(422)]
#[case::broken(500)]
#[tokio::test]
async fn a_failed_create_emits_an_event_and_is_retried(#[case] code: u16) {
    let mut rig = Rig::start(&[], &[], &[]).await;
    let creates = On::any().verb("create").resource("endpoints").namespace(NAMESPACE);
    rig.server.faults().inject(Fault::reject(code).on(creates.clone()).times(1));
    rig.service(&web(1));
    eventually("a second create", &2, async || rig.server.requests().count(&creates)).await;
    assert_eq!(rig.writes().await, [format!("create {code}"), "create 201".to_owned()]);
    // EV-1: events about objects without namespace go to `default`.
    let emitted = async || {
        let events = rig.events().await;
        events
            .iter()
            .any(|it| it.starts_with("default FailedToCreateEndpoint Failed to create endpoint for service ns/web: "))
    };
    eventually("an event", &true, emitted).await;
}

// EV-1
#[rstest]
#[case::as_1_36(false, "default", "")]
#[case::as_1_38(true, "ns", "ns")]
#[tokio::test]
async fn namespace_of_the_event_about_a_failed_create(
    #[case] namespaced_create_events: bool,
    #[case] namespace: &str,
    #[case] involved: &str,
) {
    let rig = Rig::start_with(&[], &[], &[], |it| it.namespaced_create_events = namespaced_create_events).await;
    let creates = On::any().verb("create").resource("endpoints").namespace(NAMESPACE);
    rig.server.faults().inject(Fault::reject(500).on(creates).times(1));
    rig.service(&web(1));
    let emitted = async || {
        let events = rig.client.get_json("/api/v1/events").await.expect("a list");
        let of = |it: &serde_json::Value| {
            let object = &it["involvedObject"];
            [&it["metadata"]["namespace"], &object["namespace"], &object["kind"], &object["name"], &object["uid"]]
                .map(|text| text.as_str().unwrap_or_default().to_owned())
        };
        events["items"].as_array().map(|items| items.iter().map(of).collect::<Vec<_>>()).unwrap_or_default()
    };
    let expected = [namespace, involved, "Endpoints", "web", ""].map(str::to_owned);
    eventually("events", &vec![expected], emitted).await;
}

#[tokio::test]
async fn a_failed_update_emits_an_event_and_is_retried() {
    let rig = Rig::start(&[], &[pod("a", "10.0.0.1")], &[]).await;
    rig.client.create(&crate::rig::read::<core::Endpoints>(&endpoints("web", "6.7.8.9"))).await.expect("created");
    rig.refresh("web").await;
    let updates = On::any().verb("update").resource("endpoints");
    rig.server.faults().inject(Fault::reject(409).on(updates.clone()).times(1));
    rig.service(&web(1));
    eventually("a second update", &2, async || rig.server.requests().count(&updates)).await;
    let emitted = async || {
        let events = rig.events().await;
        events.iter().any(|it| it.starts_with("ns FailedToUpdateEndpoint Failed to update endpoint ns/web: "))
    };
    eventually("an event", &true, emitted).await;
}

// EP-20: not an error.
#[tokio::test]
async fn a_create_in_a_terminating_namespace_is_not_retried() {
    let mut rig = Rig::start(&[], &[], &[]).await;
    // An object with a finalizer keeps the namespace in phase Terminating.
    let mut held = endpoints("held", "10.0.0.1");
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    rig.client.create(&crate::rig::read::<core::Endpoints>(&held)).await.expect("created");
    let path = format!("/api/v1/namespaces/{NAMESPACE}");
    let (status, _) = rig.client.raw(http::Method::DELETE, &path, None, Vec::new()).await.expect("an answer");
    assert!(status.is_success(), "{status}");
    rig.service(&web(1));
    let first = rig.writes().await;
    assert_eq!(first, ["create 403"], "the namespace is terminating");
    assert_eq!(rig.writes().await, first, "and is not tried again");
    assert!(rig.events().await.is_empty());
}

// EC-50
#[tokio::test]
async fn a_pod_with_an_address_that_the_server_rejects_is_left_out_and_reported_once() {
    let mut rig = Rig::start(&[web(1)], &[pod("good", "10.0.0.1"), pod("odd", "169.254.9.9")], &[]).await;
    assert_eq!(rig.writes().await, ["create 201"]);
    assert_eq!(rig.stored("web").await.expect("created").subsets[0].addresses.len(), 1);
    rig.service(&web(2));
    rig.service(&web(3));
    rig.pods.apply(crate::rig::read(&pod("other", "127.0.0.1")));
    rig.pods.deliver();
    assert_eq!(rig.writes().await, ["create 201"]);
    let reported = async || {
        let list = rig.client.get_json("/api/v1/namespaces/ns/events").await.expect("list");
        let events = list["items"].as_array().cloned().unwrap_or_default();
        events.iter().map(|it| (it["message"].as_str().unwrap_or_default().to_owned(), it["count"].clone())).collect()
    };
    let one = "Pods are left out of Endpoints, since the API server rejects their addresses: \
        odd (169.254.9.9: a link-local address)";
    let two = format!("{one}, other (127.0.0.1: a loopback address)");
    eventually("events", &vec![(one.to_owned(), json!(1)), (two, json!(1))], reported).await;
}

#[tokio::test]
async fn an_invalid_annotation_emits_an_event() {
    let mut service = web(1);
    service["metadata"]["annotations"] = json!({"service.alpha.kubernetes.io/tolerate-unready-endpoints": "yes"});
    let mut rig = Rig::start(&[service], &[pod("a", "10.0.0.1")], &[]).await;
    assert_eq!(rig.writes().await, ["create 201"]);
    let expected = "ns InvalidTolerateUnreadyEndpoints Annotation \
        service.alpha.kubernetes.io/tolerate-unready-endpoints is ignored: \"yes\" is not a boolean";
    eventually("an event", &vec![expected.to_owned()], async || rig.events().await).await;
}
