//! The controller over caches fed by hand, writing to an API server that tells what it was asked.

use std::fmt::Debug;
use std::time::Duration;

use k8s_openapi::api::core::v1 as core;
use kube_controller::Metrics;
use kube_controller_client::events::EventRecorder;
use kube_controller_client::{Client, ClientOptions, Config as Connection};
use kube_dev_apiserver::{Config as ServerConfig, LoggedRequest, On, Server};
use kube_endpoint::{Config, Informers, Legacy, endpoints_controller};
use kube_endpoint_model::{Endpoints, Pod, PodIndex, Service, ServiceIndex};
use kube_informer::ManualSource;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// The namespace of the objects that a test is about.
pub(crate) const NAMESPACE: &str = "ns";
/// The namespace of Services that show how far the controller has come.
const MARKERS: &str = "markers";
/// The user agent of the controller.
const CONTROLLER: &str = "controller";

pub(crate) struct Rig {
    pub(crate) server: Server,
    pub(crate) services: ManualSource<Service, ServiceIndex>,
    pub(crate) pods: ManualSource<Pod, PodIndex>,
    pub(crate) endpoints: ManualSource<Endpoints>,
    pub(crate) client: Client,
    markers: usize,
    _tasks: JoinSet<()>,
}

fn client(server: &Server, user_agent: &str) -> Client {
    let options = ClientOptions { user_agent: user_agent.into(), qps: 0.0, burst: 0, ..ClientOptions::default() };
    Client::new(&Connection::from_url(&server.url()).expect("a URL"), options).expect("a client")
}

impl Rig {
    /// Caches with these Services and Pods, and Endpoints that the server has as well.
    pub(crate) async fn start(services: &[Value], pods: &[Value], endpoints: &[Value]) -> Rig {
        let server = Server::start(ServerConfig::default()).await.expect("a server");
        let admin = client(&server, "test");
        for name in [NAMESPACE, MARKERS] {
            let namespace = serde_json::to_vec(&json!({"metadata": {"name": name}})).expect("JSON");
            let json = Some("application/json");
            let (status, _) =
                admin.raw(http::Method::POST, "/api/v1/namespaces", json, namespace).await.expect("an answer");
            assert!(status.is_success(), "{status}");
        }
        let (service_informer, services_source) =
            ManualSource::with_index(ServiceIndex::default(), ServiceIndex::update);
        let (pod_informer, pods_source) = ManualSource::with_index(PodIndex::default(), PodIndex::update);
        let (endpoints_informer, endpoints_source) = ManualSource::new();
        let informers = Informers { services: service_informer, pods: pod_informer, endpoints: endpoints_informer };
        let controller = client(&server, CONTROLLER);
        let (recorder, writer) = EventRecorder::new(controller.clone(), "endpoint-controller");
        let legacy = Legacy { tolerate_unready_endpoints: true, ..Legacy::default() };
        let config = Config { concurrent_syncs: 1, batch_period: Duration::ZERO, legacy };
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(writer.run(stop.clone()));
        let runs = endpoints_controller(&informers, controller, recorder, config, Metrics::default()).run(stop);
        tasks.spawn(async { runs.await.expect("the caches sync") });

        let mut rig = Rig {
            server,
            services: services_source,
            pods: pods_source,
            endpoints: endpoints_source,
            client: admin,
            markers: 0,
            _tasks: tasks,
        };
        rig.services.replace(services.iter().map(read), "1");
        rig.pods.replace(pods.iter().map(read), "1");
        let mut cached = Vec::new();
        for object in endpoints {
            let object: core::Endpoints = read(object);
            rig.client.create(&object).await.expect("created");
            let name = object.metadata.name.as_deref().unwrap_or_default();
            cached.push(rig.stored(name).await.expect("just created"));
        }
        rig.endpoints.replace(cached, "1");
        rig.services.deliver();
        rig.pods.deliver();
        rig.endpoints.deliver();
        // The workers run: what the start itself asks for is in the queue.
        rig.marker().await;
        rig
    }

    /// What the server holds.
    pub(crate) async fn stored(&self, name: &str) -> Option<Endpoints> {
        match self.client.get::<core::Endpoints>(NAMESPACE, name).await {
            Ok(object) => Some(Endpoints::from(&object)),
            Err(error) if error.is_not_found() => None,
            Err(error) => panic!("{error}"),
        }
    }

    /// A change of a Service, as the cache hears of it.
    pub(crate) fn service(&self, service: &Value) {
        self.services.apply(read(service));
        self.services.deliver();
    }

    /// The cache catches up with the server.
    pub(crate) async fn refresh(&self, name: &str) {
        self.endpoints.apply(self.stored(name).await.expect("it is there"));
        self.endpoints.deliver();
    }

    /// What the controller wrote so far in the test's namespace, as `verb name status`; creations have no name. All that
    /// was to be done for earlier changes has been done: with one worker, a Service that comes later is served later.
    pub(crate) async fn writes(&mut self) -> Vec<String> {
        self.marker().await;
        let ours = On::writes().resource("endpoints").namespace(NAMESPACE).user_agent(CONTROLLER);
        let requests = self.server.requests().matching(&ours);
        let shown = |it: &LoggedRequest| {
            let status = it.status.map_or_else(String::new, |code| code.to_string());
            let parts = [it.verb.as_str(), &it.name, &status];
            parts.iter().filter(|it| !it.is_empty()).copied().collect::<Vec<_>>().join(" ")
        };
        requests.iter().map(shown).collect()
    }

    /// Waits until a Service that comes now has been served.
    async fn marker(&mut self) {
        self.markers += 1;
        let name = format!("marker-{}", self.markers);
        self.services.apply(read(&json!({
            "metadata": {"namespace": MARKERS, "name": name, "resourceVersion": self.markers.to_string()},
            "spec": {"selector": {"no": "pod"}}
        })));
        self.services.deliver();
        let markers = On::any().verb("create").resource("endpoints").namespace(MARKERS);
        eventually("a marker", &self.markers, async || self.server.requests().count(&markers)).await;
    }

    /// The events there are, as `namespace reason message`.
    pub(crate) async fn events(&self) -> Vec<String> {
        let list = self.client.get_json("/api/v1/events").await.expect("a list");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let shown = |it: &Value| {
            format!("{} {} {}", text(&it["metadata"]["namespace"]), text(&it["reason"]), text(&it["message"]))
        };
        list["items"].as_array().into_iter().flatten().map(shown).collect()
    }
}

pub(crate) fn read<T: serde::de::DeserializeOwned>(object: &Value) -> T {
    serde_json::from_value(object.clone()).expect("an object")
}

/// Polls until `look` sees what is expected.
pub(crate) async fn eventually<T: PartialEq + Debug>(what: &str, expected: &T, look: impl AsyncFn() -> T) {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let seen = look().await;
        if seen == *expected {
            return;
        }
        assert!(Instant::now() < deadline, "{what}: 30s passed, {seen:?} instead of {expected:?}");
        sleep(Duration::from_millis(5)).await;
    }
}
