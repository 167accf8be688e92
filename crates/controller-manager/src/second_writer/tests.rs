//! The detection on informers without a server, in virtual time.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use kube_controller_client::{ClientOptions, Config};
use kube_endpoint_model::well_known::{MIRRORING_CONTROLLER, SLICE_CONTROLLER, SLICE_MANAGED_BY_LABEL};
use kube_informer::ManualSource;
use kube_wire::Decode;
use prometheus::Registry;
use rstest::rstest;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tower::service_fn;

use super::detector::UNKNOWN;
use super::*;

const KCM: &str = "kube-controller-manager";

/// A detection whose caches have the Service and the custom Endpoints `shop/web`, and the slice `shop/web-1`.
struct Rig {
    services: ManualSource<Service, ServiceIndex>,
    endpoints: ManualSource<Endpoints>,
    slices: ManualSource<EndpointSlice, SliceIndex>,
    metrics: SecondWriterMetrics,
    caught_up: Arc<Notify>,
    _tasks: JoinSet<()>,
}

impl Rig {
    /// The server answers if `answers`.
    fn new(owner: &str, answers: bool) -> Rig {
        let (services, service_source) = ManualSource::with_index(ServiceIndex::default());
        let (endpoints, endpoints_source) = ManualSource::new();
        let (slices, slice_source) = ManualSource::with_index(SliceIndex::default());
        service_source.replace([decoded(&json!({"metadata": {"namespace": "shop", "name": "web", "uid": "o"}}))], "5");
        let custom = json!({"metadata": {"namespace": "shop", "name": "web", "uid": "o"}});
        endpoints_source.replace([decoded(&custom)], "5");
        slice_source.replace([slice(owner, 5)], "5");
        let service = service_fn(move |_: Request<Full<Bytes>>| async move {
            if !answers {
                std::future::pending::<()>().await;
            }
            let managed = json!([{"manager": KCM, "operation": "Update", "time": "2026-01-01T00:00:00Z"}]);
            let metadata =
                json!({"namespace": "shop", "name": "web-1", "resourceVersion": "6", "managedFields": managed});
            let object = json!({"metadata": metadata, "addressType": "IPv4", "endpoints": []});
            let list = json!({"kind": "EndpointSliceList", "apiVersion": "discovery.k8s.io/v1",
                "metadata": {"resourceVersion": "9"}, "items": [object]});
            Ok::<_, Infallible>(Response::new(Full::<Bytes>::from(list.to_string())))
        });
        let options = ClientOptions { qps: 0.0, ..ClientOptions::default() };
        let metrics = SecondWriterMetrics::register(&Registry::new()).unwrap();
        let watch = SecondWriter {
            client: Client::new(&Config::from_service(service), options).unwrap(),
            services: services.lister(),
            endpoints,
            slices,
            controllers: Controllers::default(),
            metrics: Some(metrics.clone()),
            leading: None,
        };
        let (caught_up, mut tasks) = (Arc::new(Notify::new()), JoinSet::new());
        let has_caught_up = Arc::clone(&caught_up).notified_owned();
        tasks.spawn(watch.run(has_caught_up, CancellationToken::new()));
        Rig {
            services: service_source,
            endpoints: endpoints_source,
            slices: slice_source,
            metrics,
            caught_up,
            _tasks: tasks,
        }
    }

    /// Returns a detection that has begun to count.
    async fn counting(owner: &str, answers: bool) -> Rig {
        let rig = Rig::new(owner, answers);
        rig.caught_up.notify_one();
        rig.settle().await;
        rig
    }

    /// Delivers the events and lets the task process them.
    async fn settle(&self) {
        sleep(Duration::from_millis(1)).await;
        self.slices.deliver();
        sleep(Duration::from_millis(1)).await;
    }

    fn count(&self, manager: &str) -> u64 {
        self.metrics.foreign_writes.with_label_values(&["endpointslices", manager]).get()
    }
}

fn decoded<T: Decode>(object: &Value) -> T {
    T::from_json(&serde_json::to_vec(object).unwrap()).unwrap()
}

fn slice(owner: &str, version: u32) -> EndpointSlice {
    named("web-1", owner, version)
}

fn named(name: &str, owner: &str, version: u32) -> EndpointSlice {
    let manager = if owner == "Service" { SLICE_CONTROLLER } else { MIRRORING_CONTROLLER };
    let owners = json!([{"apiVersion": "v1", "kind": owner, "name": "web", "uid": "o", "controller": true}]);
    let labels = json!({SLICE_MANAGED_BY_LABEL: manager});
    let annotations = json!({"version": version.to_string()});
    decoded(&json!({"addressType": "IPv4", "metadata": {
        "namespace": "shop", "name": name, "uid": name, "resourceVersion": version.to_string(),
        "labels": labels, "annotations": annotations, "ownerReferences": owners,
    }}))
}

#[tokio::test(start_paused = true)]
async fn writes_before_the_caches_caught_up_are_those_of_the_previous_leader() {
    let rig = Rig::new("Service", true);
    rig.slices.apply(slice("Service", 6));
    rig.settle().await;
    rig.caught_up.notify_one();
    rig.settle().await;
    rig.slices.apply(slice("Service", 7));
    rig.settle().await;
    assert_eq!(rig.count(KCM), 1);
}

#[tokio::test(start_paused = true)]
async fn writes_that_are_delivered_after_the_caches_caught_up_are_those_of_the_previous_leader() {
    let rig = Rig::new("Service", true);
    for number in 0..5 {
        rig.slices.apply(named(&format!("web-{number}"), "Service", 6 + number));
    }
    rig.caught_up.notify_one();
    rig.settle().await;
    assert_eq!((rig.count(KCM), rig.metrics.second_writer.get()), (0, 0));
    rig.slices.apply(slice("Service", 11));
    rig.settle().await;
    assert_eq!(rig.count(KCM), 1);
}

/// The versions of a restored server begin below those before.
#[tokio::test(start_paused = true)]
async fn writes_after_a_restore_of_the_server_count() {
    let rig = Rig::new("Service", true);
    rig.slices.replace([slice("Service", 5)], "50");
    rig.caught_up.notify_one();
    rig.settle().await;
    rig.slices.replace([slice("Service", 5)], "6");
    rig.slices.apply(slice("Service", 7));
    rig.settle().await;
    assert_eq!(rig.count(KCM), 1);
}

#[tokio::test(start_paused = true)]
async fn a_difference_that_a_relist_finds_counts() {
    let rig = Rig::counting("Service", true).await;
    rig.slices.replace([slice("Service", 6)], "9");
    rig.settle().await;
    assert_eq!(rig.count(KCM), 1);
}

/// The garbage collector deletes the slices of a deleted owner, and the content of a deleted namespace is deleted in any
/// order.
#[rstest]
#[case::owner_stays("Service", false, None, 1)]
#[case::owner_was_deleted_before("Service", true, None, 0)]
#[case::owner_is_deleted_later("Service", false, Some(20), 0)]
#[case::owner_is_deleted_much_later("Service", false, Some(40), 1)]
#[case::endpoints_stay("Endpoints", false, None, 1)]
#[case::endpoints_are_deleted_later("Endpoints", false, Some(20), 0)]
#[tokio::test(start_paused = true)]
async fn deletes_count_unless_the_owner_is_deleted_too(
    #[case] owner: &str,
    #[case] before: bool,
    #[case] after: Option<u64>,
    #[case] expected: u64,
) {
    let rig = Rig::counting(owner, true).await;
    let delete_owner = || {
        if owner == "Service" {
            rig.services.replace([], "8");
        } else {
            rig.endpoints.replace([], "8");
        }
    };
    if before {
        delete_owner();
    }
    rig.slices.delete(slice(owner, 7));
    rig.settle().await;
    assert_eq!(rig.count(UNKNOWN), 0, "not decided yet");
    if let Some(after) = after {
        sleep(Duration::from_secs(after)).await;
        delete_owner();
    }
    sleep(Duration::from_secs(60)).await;
    assert_eq!(rig.count(UNKNOWN), expected);
}

#[tokio::test(start_paused = true)]
async fn writes_beyond_the_queue_have_an_unknown_manager() {
    let rig = Rig::counting("Service", false).await;
    for version in 6..2_006 {
        rig.slices.apply(slice("Service", version));
    }
    rig.settle().await;
    let queued = u64::try_from(MAX_QUEUED).unwrap();
    assert_eq!((rig.count(KCM), rig.count(UNKNOWN)), (0, 2_000 - queued));
}

#[tokio::test(start_paused = true)]
async fn a_second_writer_counts_until_it_has_stopped() {
    let rig = Rig::counting("Service", true).await;
    for number in 0..5 {
        rig.slices.apply(named(&format!("web-{number}"), "Service", 6 + number));
    }
    rig.settle().await;
    assert_eq!(rig.metrics.second_writer.get(), 1);
    sleep(Duration::from_secs(10)).await;
    rig.slices.apply(named("web-0", "Service", 20));
    rig.settle().await;
    sleep(Duration::from_secs(290)).await;
    assert_eq!(rig.metrics.second_writer.get(), 1);
    sleep(Duration::from_secs(20)).await;
    assert_eq!(rig.metrics.second_writer.get(), 0);
}
