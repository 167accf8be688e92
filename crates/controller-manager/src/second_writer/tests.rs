//! The detection on informers without a server, in virtual time.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use kube_controller_client::{ClientOptions, Config};
use kube_endpoint_model::well_known::{SLICE_CONTROLLER, SLICE_MANAGED_BY_LABEL};
use kube_informer::ManualSource;
use kube_wire::Decode;
use prometheus::Registry;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tower::service_fn;

use super::detector::UNKNOWN;
use super::*;

const KCM: &str = "kube-controller-manager";

/// A detection whose cache has the slice `shop/web-1`.
struct Rig {
    slices: ManualSource<EndpointSlice, SliceIndex>,
    metrics: SecondWriterMetrics,
    caught_up: Arc<Notify>,
    _tasks: JoinSet<()>,
}

impl Rig {
    /// The server answers if `answers`.
    fn new(answers: bool) -> Rig {
        let (endpoints, _) = ManualSource::new();
        let (slices, slice_source) = ManualSource::with_index(SliceIndex::default());
        slice_source.replace([slice(5)], "5");
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
            endpoints,
            slices,
            controllers: Controllers::default(),
            metrics: Some(metrics.clone()),
            leading: None,
        };
        let (caught_up, mut tasks) = (Arc::new(Notify::new()), JoinSet::new());
        let has_caught_up = Arc::clone(&caught_up).notified_owned();
        tasks.spawn(watch.run(has_caught_up, CancellationToken::new()));
        Rig { slices: slice_source, metrics, caught_up, _tasks: tasks }
    }

    /// Returns a detection that has begun to count.
    async fn counting(answers: bool) -> Rig {
        let rig = Rig::new(answers);
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

fn slice(version: u32) -> EndpointSlice {
    named("web-1", version)
}

fn named(name: &str, version: u32) -> EndpointSlice {
    let labels = json!({SLICE_MANAGED_BY_LABEL: SLICE_CONTROLLER});
    let annotations = json!({"version": version.to_string()});
    decoded(&json!({"addressType": "IPv4", "metadata": {
        "namespace": "shop", "name": name, "uid": name, "resourceVersion": version.to_string(),
        "labels": labels, "annotations": annotations,
    }}))
}

#[tokio::test(start_paused = true)]
async fn writes_before_the_caches_caught_up_are_those_of_the_previous_leader() {
    let rig = Rig::new(true);
    rig.slices.apply(slice(6));
    rig.settle().await;
    rig.caught_up.notify_one();
    rig.settle().await;
    rig.slices.apply(slice(7));
    rig.settle().await;
    assert_eq!(rig.count(KCM), 1);
}

#[tokio::test(start_paused = true)]
async fn a_difference_that_a_relist_finds_counts() {
    let rig = Rig::counting(true).await;
    rig.slices.replace([slice(6)], "9");
    rig.settle().await;
    assert_eq!(rig.count(KCM), 1);
}

#[tokio::test(start_paused = true)]
async fn writes_beyond_the_queue_have_an_unknown_manager() {
    let rig = Rig::counting(false).await;
    for version in 6..2_006 {
        rig.slices.apply(slice(version));
    }
    rig.settle().await;
    let queued = u64::try_from(MAX_QUEUED).unwrap();
    assert_eq!((rig.count(KCM), rig.count(UNKNOWN)), (0, 2_000 - queued));
}

#[tokio::test(start_paused = true)]
async fn a_second_writer_counts_until_it_has_stopped() {
    let rig = Rig::counting(true).await;
    for number in 0..5 {
        rig.slices.apply(named(&format!("web-{number}"), 6 + number));
    }
    rig.settle().await;
    assert_eq!(rig.metrics.second_writer.get(), 1);
    sleep(Duration::from_secs(10)).await;
    rig.slices.apply(named("web-0", 20));
    rig.settle().await;
    sleep(Duration::from_secs(290)).await;
    assert_eq!(rig.metrics.second_writer.get(), 1);
    sleep(Duration::from_secs(20)).await;
    assert_eq!(rig.metrics.second_writer.get(), 0);
}
