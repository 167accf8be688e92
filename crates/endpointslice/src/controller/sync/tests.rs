//! Syncs during which Nodes change, in paused time.

use std::sync::{Mutex, Weak};

use kube_controller::{Controller, Metrics, locked};
use kube_controller_client::{Client, ClientOptions, Config, Review, ReviewedClient};
use kube_endpoint_model::{EndpointSlice, IpFamily, Labels, Node, Pod, PodIndex, ServiceIndex, SliceIndex, Write};
use kube_informer::ManualSource;
use kube_topology::TopologyCache;
use kube_workqueue::Queue;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::options::Options;
use crate::reconciler::EventSink;

/// Sends no write: the slices stay as they are.
struct Unwritten;

impl Review<EndpointSlice> for Unwritten {
    fn review(&self, _: &ObjectKey, _: &[&Write<EndpointSlice>]) {}
}

/// Returns a Node with 1,000 milli-CPU in zone `a` and one with `cpu_milli` in zone `b`.
fn nodes(cpu_milli: i64) -> [Node; 2] {
    [("a", 1_000), ("b", cpu_milli)].map(|(zone, cpu_milli)| Node {
        name: zone.into(),
        zone: zone.into(),
        cpu_milli,
        ready: true,
        ..Node::default()
    })
}

/// Changes the Nodes when a sync emits the event of its plan, which precedes the allocation.
#[derive(Default)]
struct NodesChange(Mutex<Weak<Syncs>>);

impl EventSink for Arc<NodesChange> {
    fn event(&self, _: &Owner, _: EventType, reason: &str, _: String) {
        if reason == "InvalidPodAddress"
            && let Some(syncs) = locked(&self.0).upgrade()
        {
            assert_eq!(syncs.reconciler.set_nodes(&nodes(4_000)), [], "no allocation is recorded");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn hints_follow_nodes_that_change_during_the_first_sync_of_a_service() {
    let (services, service_source) = ManualSource::with_index(ServiceIndex::default());
    let (pods, pod_source) = ManualSource::with_index(PodIndex::default());
    let (all_nodes, node_source) = ManualSource::new();
    let (slices, _slice_source) = ManualSource::with_index(SliceIndex::default());
    let labels = || -> Labels { [("app", "web")].into_iter().collect() };
    let service = Service {
        name: "web".into(),
        selector: Some(labels()),
        ip_families: vec![IpFamily::V4],
        topology_annotation: Some("Auto".into()),
        ..Service::default()
    };
    let pod = |number: usize| Pod {
        name: format!("web-{number}").into(),
        labels: labels(),
        // The address of the last one is unusable, of which the plan has an event.
        pod_ips: [&*if number == 10 { "127.0.0.1".to_owned() } else { format!("10.0.0.{number}") }].into(),
        node_name: ["a", "b"][number % 2].into(),
        ready: true,
        ..Pod::default()
    };
    service_source.replace([service], "1");
    pod_source.replace((0..=10).map(pod), "1");
    node_source.replace(nodes(1_000), "1");

    let client = Client::new(&Config::from_url("http://127.0.0.1:1").unwrap(), ClientOptions::default()).unwrap();
    let controller = Controller::builder("test", Queue::builder(), Metrics::default());
    let change = Arc::new(NodesChange::default());
    let reconciler =
        Reconciler::builder(ReviewedClient::new(client, Arc::new(Unwritten)), Options::for_services("test"))
            .topology_cache(TopologyCache::default())
            .events(Arc::clone(&change))
            .build();
    let syncs = Arc::new(Syncs {
        caches: Listers {
            services: Some(services.lister()),
            pods: Some(pods.lister()),
            nodes: Some(all_nodes.lister()),
            slices: Some(slices.lister()),
            ..Listers::default()
        },
        reconciler,
        metrics: Arc::new(()),
        echo_delay: Duration::from_secs(1),
        keys: controller.enqueuer(None),
    });
    *locked(&change.0) = Arc::downgrade(&syncs);
    assert_eq!(syncs.nodes_changed(), []);

    syncs.keys.add(ObjectKey::new("", "web"));
    let synced = Arc::clone(&syncs);
    let controller = controller.build(move |key| {
        let syncs = Arc::clone(&synced);
        async move { syncs.sync(&key).await }
    });
    let mut tasks = JoinSet::new();
    tasks.spawn(async { controller.run(CancellationToken::new()).await.unwrap() });
    sleep(Duration::from_secs(10)).await;
    assert_eq!(syncs.reconciler.hint_state(&ObjectKey::new("", "web")).0.shares()[1], ("b".into(), 0.8));
    assert_eq!(syncs.reconciler.set_nodes(&nodes(4_000)), [], "the allocation follows these Nodes");
    // Of the equal ratios before, it would not.
    assert_eq!(syncs.reconciler.set_nodes(&nodes(1_000)), [ObjectKey::new("", "web")]);
}
