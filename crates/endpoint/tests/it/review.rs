//! Reviews of plans, as shadow mode reads them.

use std::sync::Arc;
use std::time::Duration;

use kube_controller::{Metrics, SyncOptions};
use kube_controller_client::events::EventRecorder;
use kube_controller_client::{Client, ClientOptions, Config as Connection, Review, ReviewedClient};
use kube_endpoint::{Config, Informers, Legacy, endpoints_controller};
use kube_endpoint_model::{Endpoints, ObjectKey, PodIndex, ServiceIndex, Write};
use kube_informer::ManualSource;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::rig::{NAMESPACE, read};

/// Sends the number of writes of each plan.
struct Seen(mpsc::UnboundedSender<usize>);

impl Review<Endpoints> for Seen {
    fn review(&self, _: &ObjectKey, writes: &[&Write<Endpoints>]) {
        let _ = self.0.send(writes.len());
    }
}

/// Otherwise a comparison would keep a difference that it saw before.
#[tokio::test(start_paused = true)]
async fn endpoints_that_are_kept_without_a_service_are_reviewed() {
    let (services, service_source) = ManualSource::with_index(ServiceIndex::default());
    let (pods, pod_source) = ManualSource::with_index(PodIndex::default());
    let (endpoints, endpoints_source) = ManualSource::new();
    let unused = Connection::from_url("http://127.0.0.1:1").expect("a URL");
    let client = Client::new(&unused, ClientOptions::default()).expect("a client");
    let (recorder, _writer) = EventRecorder::new(client.clone(), "test");
    let (record, mut seen) = mpsc::unbounded_channel();
    let client = ReviewedClient::new(client, Arc::new(Seen(record)));
    let config = Config { syncs: SyncOptions::default(), legacy: Legacy::default(), namespaced_create_events: false };
    let informers = Informers { services, pods, endpoints };
    let controller = endpoints_controller(&informers, client, recorder, config, Metrics::default());
    let keys = controller.enqueuer();
    let mut tasks = JoinSet::new();
    tasks.spawn(async { controller.run(CancellationToken::new()).await.expect("all caches have synced") });
    service_source.replace([], "1");
    service_source.deliver();
    pod_source.replace([], "1");
    pod_source.deliver();
    endpoints_source.replace([], "1");
    endpoints_source.deliver();

    // The sweep at the start would delete them.
    sleep(Duration::from_secs(1)).await;
    let metadata = json!({"namespace": NAMESPACE, "name": "web", "uid": "e", "resourceVersion": "2"});
    endpoints_source.apply(read(&json!({ "metadata": metadata })));
    endpoints_source.deliver();
    keys.add(ObjectKey::new(NAMESPACE, "web"));
    let review = timeout(Duration::from_secs(60), seen.recv()).await;
    assert_eq!(review.ok().flatten(), Some(0));
}
