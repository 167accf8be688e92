//! The controller with informers and an embedded API server.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Method;
use kube_controller::{Metrics, SyncOptions};
use kube_controller_client::events::EventRecorder;
use kube_controller_client::{Client, ClientOptions, Config as Connection};
use kube_dev_apiserver::{Config as ServerConfig, On, Server};
use kube_endpoint_model::{ServiceIndex, SliceIndex};
use kube_endpoints_testing::eventually;
use kube_endpointslice::metrics::{SliceMetrics, Totals};
use kube_endpointslice::{Plan, TypePlan};
use kube_endpointslice_mirroring::{Config, Informers, MirroringMetrics, mirroring_controller};
use kube_informer::Informer;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// User agent of the controller.
const CONTROLLER: &str = "mirroring";

/// Receiver of the metrics of a controller.
#[derive(Default)]
pub(crate) struct Counted(pub(crate) Mutex<Figures>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// Numbers of creates, updates and deletes.
    pub(crate) writes: (usize, usize, usize),
    /// Numbers of endpoints added, updated and removed by the last sync.
    pub(crate) planned: (usize, usize, usize),
    pub(crate) skipped: usize,
    /// Numbers of endpoints, slices and desired slices.
    pub(crate) totals: (usize, usize, usize),
    pub(crate) syncs: usize,
}

impl SliceMetrics for Counted {
    fn planned(&self, plan: &Plan) {
        let sum = |count: fn(&TypePlan) -> usize| plan.types.iter().map(count).sum();
        self.0.lock().expect("no panic").planned = (sum(|it| it.added), sum(|it| it.updated), sum(|it| it.removed));
    }

    fn wrote(&self, verb: &'static str) {
        let writes = &mut self.0.lock().expect("no panic").writes;
        match verb {
            "create" => writes.0 += 1,
            "update" => writes.1 += 1,
            _ => writes.2 += 1,
        }
    }

    fn totals(&self, totals: Totals) {
        self.0.lock().expect("no panic").totals = (totals.endpoints, totals.slices, totals.desired_slices);
    }
}

impl MirroringMetrics for Counted {
    fn skipped(&self, addresses: usize) {
        self.0.lock().expect("no panic").skipped = addresses;
    }

    fn sync_duration(&self, _: Duration) {
        self.0.lock().expect("no panic").syncs += 1;
    }
}

pub(crate) struct Rig {
    pub(crate) server: Server,
    client: Client,
    pub(crate) metrics: Arc<Counted>,
    running: Option<(CancellationToken, JoinSet<()>)>,
}

pub(crate) fn client(server: &Server, user_agent: &str) -> Client {
    let options = ClientOptions { user_agent: user_agent.into(), qps: 0.0, burst: 0, ..ClientOptions::default() };
    Client::new(&Connection::from_url(&server.url()).expect("valid URL"), options).expect("client")
}

impl Rig {
    /// Starts a server with the namespace `ns`, and the controller with a limit of 3 addresses per subset.
    pub(crate) async fn start() -> Rig {
        let server = Server::start(ServerConfig::default()).await.expect("server starts");
        let client = client(&server, "test");
        let mut rig = Rig { server, client, metrics: Arc::default(), running: None };
        rig.send(Method::POST, "/api/v1/namespaces", &json!({"metadata": {"name": "ns"}})).await;
        rig.start_controller();
        rig
    }

    pub(crate) fn start_controller(&mut self) {
        let client = client(&self.server, CONTROLLER);
        let informers = Informers {
            services: Informer::builder(client.clone()).index(ServiceIndex::default()).build(),
            endpoints: Informer::builder(client.clone()).build(),
            slices: Informer::builder(client.clone()).index(SliceIndex::default()).build(),
        };
        let (recorder, writer) = EventRecorder::new(client.clone(), "endpoint-slice-mirroring-controller");
        let config = Config {
            syncs: SyncOptions { concurrent_syncs: 2, ..SyncOptions::default() },
            max_endpoints_per_subset: NonZeroUsize::new(3).expect("not zero"),
        };
        let mirroring = self.metrics.clone();
        let controller = mirroring_controller(&informers, client, recorder, config, mirroring, Metrics::default());
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(writer.run(stop.clone()));
        let runs = controller.run(stop.clone());
        tasks.spawn(async { runs.await.expect("caches sync") });
        let Informers { services, endpoints, slices } = informers;
        tasks.spawn(services.run(stop.clone()));
        tasks.spawn(endpoints.run(stop.clone()));
        tasks.spawn(slices.run(stop.clone()));
        self.running = Some((stop, tasks));
    }

    pub(crate) async fn stop_controller(&mut self) {
        let (stop, mut tasks) = self.running.take().expect("running");
        stop.cancel();
        while let Some(ended) = tasks.join_next().await {
            ended.expect("no panic");
        }
    }

    /// Sends one request, which must succeed. Patches are JSON merge patches.
    pub(crate) async fn send(&self, method: Method, path: &str, body: &Value) {
        let content_type = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
        let bytes = if body.is_null() { Vec::new() } else { serde_json::to_vec(body).expect("JSON") };
        let (status, answer) = self.client.raw(method, path, Some(content_type), bytes).await.expect("response");
        assert!(status.is_success(), "{path}: {status} {}", String::from_utf8_lossy(&answer));
    }

    pub(crate) async fn list(&self, path: &str) -> Vec<Value> {
        self.client.get_json(path).await.expect("list")["items"].as_array().cloned().unwrap_or_default()
    }

    pub(crate) async fn settles(&self, expected: &[&str]) {
        let expected: Vec<String> = expected.iter().map(|it| (*it).to_owned()).collect();
        eventually("slices", &expected, || self.slices()).await;
    }

    /// Returns the slices, each formatted as its addresses; `!` follows one that is not ready.
    pub(crate) async fn slices(&self) -> Vec<String> {
        let mut slices: Vec<String> = Vec::new();
        for slice in self.list("/apis/discovery.k8s.io/v1/endpointslices").await {
            let endpoints = slice["endpoints"].as_array().cloned().unwrap_or_default();
            let shown = |it: &Value| {
                let ready = it["conditions"]["ready"] == true;
                format!("{}{}", it["addresses"][0].as_str().unwrap_or_default(), if ready { "" } else { "!" })
            };
            slices.push(endpoints.iter().map(shown).collect::<Vec<_>>().join(" "));
        }
        slices.sort();
        slices
    }

    pub(crate) fn writes(&self) -> usize {
        self.server.requests().count(&On::writes().resource("endpointslices").user_agent(CONTROLLER))
    }

    /// Returns the events in the namespace, each as `reason message`.
    pub(crate) async fn events(&self) -> Vec<String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let events = self.list("/api/v1/namespaces/ns/events").await;
        let mut events: Vec<String> =
            events.iter().map(|it| format!("{} {}", text(&it["reason"]), text(&it["message"]))).collect();
        events.sort();
        events
    }
}
