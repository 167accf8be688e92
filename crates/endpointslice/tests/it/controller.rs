//! The slice controller against the embedded API server.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kube_controller::{Metrics, SyncOptions};
use kube_controller_client::events::EventRecorder;
use kube_endpoint_model::well_known::SLICE_CONTROLLER;
use kube_endpoint_model::{PodIndex, ServiceIndex, SliceIndex};
use kube_endpoints_testing::{eventually, until};
use kube_endpointslice::controller::{Config, Informers, endpointslice_controller};
use kube_endpointslice::metrics::SliceMetrics;
use kube_informer::Informer;
use rstest::rstest;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::cluster::{Cluster, once};

/// Number of failed syncs.
#[derive(Default)]
struct Failed(AtomicUsize);

impl SliceMetrics for Failed {
    fn synced(&self, succeeded: bool) {
        self.0.fetch_add(usize::from(!succeeded), Ordering::Relaxed);
    }
}

/// Starts the controller, which stops when the result is dropped.
fn run(cluster: &Cluster) -> JoinSet<()> {
    run_with(cluster, Arc::new(()))
}

fn run_with(cluster: &Cluster, metrics: Arc<dyn SliceMetrics>) -> JoinSet<()> {
    let client = || cluster.client.clone();
    let informers = Informers {
        services: Informer::builder(client()).index(ServiceIndex::default()).build(),
        pods: Informer::builder(client()).index(PodIndex::default()).build(),
        nodes: Informer::builder(client()).build(),
        slices: Informer::builder(client()).index(SliceIndex::default()).build(),
    };
    let (recorder, writer) = EventRecorder::new(client(), "endpoint-slice-controller");
    let config = Config {
        syncs: SyncOptions { concurrent_syncs: 2, ..SyncOptions::default() },
        max_endpoints_per_slice: NonZeroUsize::new(100).expect("not zero"),
    };
    let controller = endpointslice_controller(&informers, client(), recorder, config, metrics, Metrics::default());
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    tasks.spawn(informers.services.run(stop.clone()));
    tasks.spawn(informers.pods.run(stop.clone()));
    tasks.spawn(informers.nodes.run(stop.clone()));
    tasks.spawn(informers.slices.run(stop.clone()));
    tasks.spawn(writer.run(stop.clone()));
    tasks.spawn(async { controller.run(stop).await.expect("the caches sync") });
    tasks
}

async fn settles(cluster: &Cluster, expected: &BTreeMap<String, usize>) {
    eventually("addresses", expected, || cluster.addresses(SLICE_CONTROLLER)).await;
}

// upstream: TestSyncServiceWithSelector, TestSyncServicePodSelection, TestSyncServiceEndpointSliceLabelSelection,
// TestSyncServiceMissing
#[tokio::test]
async fn follows_what_the_service_selects() {
    let cluster = Cluster::start().await;
    let _tasks = run(&cluster);
    cluster.node("n1", "a");
    let path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    let labels =
        json!({"kubernetes.io/service-name": "web", "endpointslice.kubernetes.io/managed-by": "others.example.com"});
    let theirs = json!({"metadata": {"name": "theirs", "labels": labels}, "addressType": "IPv4", "endpoints": []});
    let theirs = cluster.create(path, theirs).await;
    cluster.pod("p1", "web", "n1", "10.1.0.1", json!({}));
    cluster.pod("p2", "other", "n1", "10.1.0.2", json!({}));
    cluster.service("web", json!({"app": "web"}), json!({}));
    settles(&cluster, &once(&["10.1.0.1 true"])).await;
    let untouched = cluster.slices("others.example.com").await;
    assert_eq!(untouched[0]["metadata"], theirs["metadata"], "not touched");

    // The slices of the deleted Service remain: no garbage collector runs here.
    cluster.call("DELETE", "/api/v1/namespaces/default/services/web", &json!({})).await;
    cluster.service("next", json!({"app": "web"}), json!({}));
    // On the watch of Services, it comes after the deletion.
    settles(&cluster, &[("10.1.0.1 true".to_owned(), 2)].into()).await;
    cluster.pod("p3", "web", "n1", "10.1.0.3", json!({}));
    settles(&cluster, &[("10.1.0.1 true".to_owned(), 2), ("10.1.0.3 true".to_owned(), 1)].into()).await;
}

// upstream: TestSyncServiceNoSelector, TestServiceExternalNameTypeSync
#[rstest]
#[case::no_selector(json!({"ports": [{"port": 80}]}))]
#[case::external_name(json!({"type": "ExternalName", "externalName": "a.example", "selector": {"app": "web"}}))]
#[case::external_name_with_ports(
    json!({"type": "ExternalName", "externalName": "a.example", "selector": {"app": "web"}, "ports": [{"port": 80}]}))]
#[case::external_name_without_selector(json!({"type": "ExternalName", "externalName": "a.example"}))]
#[tokio::test]
async fn leaves_services_without_endpoints_of_their_own_alone(#[case] spec: Value) {
    let cluster = Cluster::start().await;
    let _tasks = run(&cluster);
    cluster.node("n1", "a");
    cluster.pod("p1", "web", "n1", "10.1.0.1", json!({}));
    cluster.create("/api/v1/namespaces/default/services", json!({"metadata": {"name": "web"}, "spec": spec})).await;
    cluster.service("later", json!({"app": "web"}), json!({}));
    settles(&cluster, &once(&["10.1.0.1 true"])).await;
    let slices = cluster.slices(SLICE_CONTROLLER).await;
    assert_eq!(slices.len(), 1);
    assert_eq!(slices[0]["metadata"]["labels"]["kubernetes.io/service-name"], "later");
}

// upstream: TestSyncServiceEndpointSlicePendingDeletion, Test_dropEndpointSlicesPendingDeletion
#[tokio::test]
async fn a_slice_being_deleted_is_replaced() {
    let cluster = Cluster::start().await;
    let _tasks = run(&cluster);
    cluster.node("n1", "a");
    cluster.pod("p1", "web", "n1", "10.1.0.1", json!({}));
    cluster.service("web", json!({"app": "web"}), json!({}));
    settles(&cluster, &once(&["10.1.0.1 true"])).await;
    let name = cluster.slices(SLICE_CONTROLLER).await[0]["metadata"]["name"].as_str().expect("a name").to_owned();
    let path = format!("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/{name}");
    cluster.call("PATCH", &path, &json!({"metadata": {"finalizers": ["example.com/hold"]}})).await;
    cluster.call("DELETE", &path, &json!({})).await;
    settles(&cluster, &[("10.1.0.1 true".to_owned(), 2)].into()).await;
    let going = cluster.slices(SLICE_CONTROLLER).await;
    assert_eq!(going.iter().filter(|slice| slice["metadata"]["deletionTimestamp"].is_string()).count(), 1);
}

// upstream: TestSyncServicePendingDeletion
#[tokio::test]
async fn nothing_is_created_for_a_service_being_deleted() {
    let cluster = Cluster::start().await;
    cluster.node("n1", "a");
    cluster.pod("p1", "web", "n1", "10.1.0.1", json!({}));
    cluster.service("web", json!({"app": "web"}), json!({}));
    let path = "/api/v1/namespaces/default/services/web";
    cluster.call("PATCH", path, &json!({"metadata": {"finalizers": ["example.com/hold"]}})).await;
    cluster.call("DELETE", path, &json!({})).await;
    let _tasks = run(&cluster);
    cluster.service("later", json!({"app": "web"}), json!({}));
    settles(&cluster, &once(&["10.1.0.1 true"])).await;
    let slices = cluster.slices(SLICE_CONTROLLER).await;
    assert_eq!(slices[0]["metadata"]["labels"]["kubernetes.io/service-name"], "later");
}

// SY-3, ES-7, RC-11, EC-19. upstream: TestReconcilerPodMissingNode
#[tokio::test]
async fn a_pod_on_an_unknown_node_is_reported_and_retried() {
    let cluster = Cluster::start().await;
    let failed = Arc::new(Failed::default());
    let _tasks = run_with(&cluster, failed.clone());
    cluster.node("n1", "a");
    cluster.pod("p1", "web", "ghost", "10.1.0.1", json!({}));
    cluster.pod("p2", "web", "n1", "10.1.0.2", json!({}));
    cluster.service("web", json!({"app": "web"}), json!({}));
    settles(&cluster, &once(&["10.1.0.2 true"])).await;
    let message = "Error updating Endpoint Slices for Service default/web: \
        skipping Pod p1 for Service default/web: Node ghost Not Found";
    let reported = |it: &Value| it["reason"] == "FailedToUpdateEndpointSlices" && it["message"] == message;
    let events = async || cluster.client.get_json("/api/v1/namespaces/default/events").await.expect("a list");
    let among = |events: &Value| events["items"].as_array().is_some_and(|items| items.iter().any(reported));
    until("event", events, among).await;
    // A new Node enqueues no Service, so the retry writes the endpoint.
    cluster.node("ghost", "a");
    settles(&cluster, &once(&["10.1.0.1 true", "10.1.0.2 true"])).await;
    assert!(failed.0.load(Ordering::Relaxed) > 0);
}

// EC-50
#[tokio::test]
async fn a_pod_with_an_address_that_the_server_rejects_is_left_out_and_reported_once() {
    let cluster = Cluster::start().await;
    let _tasks = run(&cluster);
    cluster.node("n1", "a");
    cluster.pod("odd", "web", "n1", "169.254.9.9", json!({}));
    cluster.service("web", json!({"app": "web"}), json!({}));
    for number in 1..=3 {
        cluster.pod(&format!("good-{number}"), "web", "n1", &format!("10.1.0.{number}"), json!({}));
    }
    settles(&cluster, &once(&["10.1.0.1 true", "10.1.0.2 true", "10.1.0.3 true"])).await;
    let reported = async || {
        let list = cluster.client.get_json("/api/v1/namespaces/default/events").await.expect("a list");
        let events = list["items"].as_array().cloned().unwrap_or_default();
        let reported = events.iter().filter(|it| it["reason"] == "InvalidPodAddress");
        reported.map(|it| (it["message"].as_str().unwrap_or_default().to_owned(), it["count"].clone())).collect()
    };
    let message = "Pods are left out of EndpointSlices, since the API server rejects their addresses: \
        odd (169.254.9.9: a link-local address)";
    let expected: Vec<(String, Value)> = vec![(message.to_owned(), json!(1))];
    eventually("one event", &expected, reported).await;
    cluster.pod("good-4", "web", "n1", "10.1.0.4", json!({}));
    settles(&cluster, &once(&["10.1.0.1 true", "10.1.0.2 true", "10.1.0.3 true", "10.1.0.4 true"])).await;
    cluster.pod("other", "web", "n1", "127.0.0.1", json!({}));
    let more = (format!("{message}, other (127.0.0.1: a loopback address)"), json!(1));
    eventually("an event about the other Pod", &[expected, vec![more]].concat(), reported).await;
}

// After a restart with slices as desired, nothing is written.
#[tokio::test]
async fn a_restart_writes_nothing() {
    let cluster = Cluster::start().await;
    let tasks = run(&cluster);
    cluster.node("n1", "a");
    cluster.pod("p1", "web", "n1", "10.1.0.1", json!({}));
    cluster.service("web", json!({"app": "web"}), json!({}));
    settles(&cluster, &once(&["10.1.0.1 true"])).await;
    drop(tasks);
    let writes = || {
        let on = kube_dev_apiserver::On::writes().resource("endpointslices");
        cluster.server.requests().count(&on)
    };
    let before = writes();
    let _tasks = run(&cluster);
    // A Service that is created later is synced after the existing ones.
    cluster.service("later", json!({"app": "web"}), json!({}));
    settles(&cluster, &[("10.1.0.1 true".to_owned(), 2)].into()).await;
    assert_eq!(writes(), before + 1, "only the slice of the new Service");
}

#[tokio::test(start_paused = true)]
async fn what_a_policy_has_removed_returns_after_it() {
    let cluster = Cluster::in_process();
    cluster.server.admission().mutate(|request, object| {
        if request.resource == "endpointslices" {
            object["endpoints"] = json!([]);
        }
        Ok(())
    });
    let _tasks = run(&cluster);
    cluster.node("n1", "a");
    cluster.pod("p1", "web", "n1", "10.1.0.1", json!({}));
    cluster.service("web", json!({"app": "web"}), json!({}));
    sleep(Duration::from_secs(30)).await;
    assert_eq!((cluster.slices(SLICE_CONTROLLER).await.len(), cluster.addresses(SLICE_CONTROLLER).await.len()), (1, 0));
    cluster.server.admission().clear();
    sleep(Duration::from_secs(60)).await;
    assert_eq!(cluster.addresses(SLICE_CONTROLLER).await, once(&["10.1.0.1 true"]));
}
