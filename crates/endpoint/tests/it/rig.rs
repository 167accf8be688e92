//! The controller on caches that the test fills, and an API server that records its requests.

use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use kube_controller::{Metrics, SyncOptions};
use kube_controller_client::events::EventRecorder;
use kube_controller_client::{Client, ClientOptions, Config as Connection};
use kube_dev_apiserver::{Config as ServerConfig, LoggedRequest, On, Server};
use kube_endpoint::{Config, Informers, Legacy, endpoints_controller};
use kube_endpoint_model::{EndpointAddress, Endpoints, Pod, PodIndex, Service, ServiceIndex, Write, project};
use kube_endpoints_testing::eventually;
use kube_informer::ManualSource;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Namespace of the tested objects.
pub(crate) const NAMESPACE: &str = "ns";
/// Namespace of marker Services. Once the Endpoints of a marker are created, all Services queued before it are synced.
const MARKERS: &str = "markers";
/// User agent of the controller.
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
    Client::new(&Connection::from_url(&server.url()).expect("valid URL"), options).expect("client")
}

impl Rig {
    /// Starts the controller with these Services and Pods in its caches only, and these Endpoints both in its cache and
    /// on the server.
    pub(crate) async fn start(services: &[Value], pods: &[Value], endpoints: &[Value]) -> Rig {
        Rig::start_with(services, pods, endpoints, |_| {}).await
    }

    /// Starts the controller with no objects. Its list of Endpoints has this version.
    pub(crate) async fn start_at(version: &str) -> Rig {
        Rig::start_listed(&[], &[], &[], |_| {}, version, &[]).await
    }

    /// Starts the controller with these Endpoints, whose Services are on the server only.
    pub(crate) async fn start_before(services: &[Value], endpoints: &[Value]) -> Rig {
        Rig::start_listed(&[], &[], endpoints, |_| {}, "1", services).await
    }

    /// Starts the controller with a changed configuration.
    pub(crate) async fn start_with(
        services: &[Value],
        pods: &[Value],
        endpoints: &[Value],
        change: impl FnOnce(&mut Config),
    ) -> Rig {
        Rig::start_listed(services, pods, endpoints, change, "1", &[]).await
    }

    async fn start_listed(
        services: &[Value],
        pods: &[Value],
        endpoints: &[Value],
        change: impl FnOnce(&mut Config),
        version: &str,
        not_listed: &[Value],
    ) -> Rig {
        let server = Server::start(ServerConfig::default()).await.expect("server starts");
        let admin = client(&server, "test");
        for name in [NAMESPACE, MARKERS] {
            let namespace = serde_json::to_vec(&json!({"metadata": {"name": name}})).expect("JSON");
            let json = Some("application/json");
            let (status, _) =
                admin.raw(http::Method::POST, "/api/v1/namespaces", json, namespace).await.expect("response");
            assert!(status.is_success(), "{status}");
        }
        for service in not_listed {
            admin.create::<core::Service>(&read(service)).await.expect("created");
        }
        let (service_informer, services_source) = ManualSource::with_index(ServiceIndex::default());
        let (pod_informer, pods_source) = ManualSource::with_index(PodIndex::default());
        let (endpoints_informer, endpoints_source) = ManualSource::new();
        let informers = Informers { services: service_informer, pods: pod_informer, endpoints: endpoints_informer };
        let controller = client(&server, CONTROLLER);
        let (recorder, writer) = EventRecorder::new(controller.clone(), "endpoint-controller");
        let legacy = Legacy { tolerate_unready_endpoints: true, ..Legacy::default() };
        let mut config = Config {
            syncs: SyncOptions { concurrent_syncs: 1, ..SyncOptions::default() },
            legacy,
            namespaced_create_events: false,
        };
        change(&mut config);
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(writer.run(stop.clone()));
        let runs = endpoints_controller(&informers, controller, recorder, config, Metrics::default()).run(stop);
        tasks.spawn(async { runs.await.expect("caches sync") });

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
            cached.push(rig.stored(name).await.expect("created above"));
        }
        rig.endpoints.replace(cached, version);
        rig.services.deliver();
        rig.pods.deliver();
        rig.endpoints.deliver();
        // Leftover Endpoints are queued before the first worker starts, so they are synced before the marker.
        rig.marker().await;
        rig
    }

    pub(crate) async fn stored(&self, name: &str) -> Option<Endpoints> {
        match self.client.get::<core::Endpoints>(NAMESPACE, name).await {
            Ok(object) => Some(project(&object).expect("an object of the API")),
            Err(error) if error.is_not_found() => None,
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) fn service(&self, service: &Value) {
        self.services.apply(read(service));
        self.services.deliver();
    }

    pub(crate) async fn refresh(&self, name: &str) {
        self.endpoints.apply(self.stored(name).await.expect("stored"));
        self.endpoints.deliver();
    }

    /// Replaces the cached Endpoints by this object and those of the markers.
    pub(crate) async fn relist(&self, object: Endpoints) {
        let mut listed = vec![object];
        for number in 1..=self.markers {
            let marker = self.client.get::<core::Endpoints>(MARKERS, &format!("marker-{number}")).await;
            listed.push(project(&marker.expect("created above")).expect("an object of the API"));
        }
        self.endpoints.replace(listed, "2000000");
    }

    /// Returns the writes of Endpoints in [`NAMESPACE`] so far, as `verb name status`; creates have no name. All
    /// changes before the call have been synced: with one worker, keys are synced in the order in which they were
    /// queued.
    pub(crate) async fn writes(&mut self) -> Vec<String> {
        self.marker().await;
        let filter = On::writes().resource("endpoints").namespace(NAMESPACE).user_agent(CONTROLLER);
        let requests = self.server.requests().matching(&filter);
        let shown = |it: &LoggedRequest| {
            let status = it.status.map_or_else(String::new, |code| code.to_string());
            let parts = [it.verb.as_str(), &it.name, &status];
            parts.iter().filter(|it| !it.is_empty()).copied().collect::<Vec<_>>().join(" ")
        };
        requests.iter().map(shown).collect()
    }

    /// Waits until there are this many [writes](Self::writes), and returns them: the sync of a Service that has just been
    /// synced waits for further changes, so that a marker may be synced before it.
    pub(crate) async fn until_writes(&mut self, count: usize) -> Vec<String> {
        let writes = On::writes().resource("endpoints").namespace(NAMESPACE).user_agent(CONTROLLER);
        eventually("writes", &count, async || self.server.requests().count(&writes)).await;
        self.writes().await
    }

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

    /// Returns all events, each as `namespace reason message`.
    pub(crate) async fn events(&self) -> Vec<String> {
        let list = self.client.get_json("/api/v1/events").await.expect("list");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let shown = |it: &Value| {
            format!("{} {} {}", text(&it["metadata"]["namespace"]), text(&it["reason"]), text(&it["message"]))
        };
        list["items"].as_array().into_iter().flatten().map(shown).collect()
    }
}

/// Returns the planned write for a Service whose current Endpoints object is a value.
pub(crate) fn planned_write(
    service: &Service,
    pods: &[Arc<Pod>],
    current: Option<&Endpoints>,
    trigger_time: Option<jiff::Timestamp>,
) -> Option<Write<Endpoints>> {
    let current = current.cloned().map(Arc::new);
    kube_endpoint::planned_write(service, pods, current.as_ref(), trigger_time, Legacy::default())
}

/// Formats subsets as `ready|not ready|protocol/port`, sorted and separated by `;`.
pub(crate) fn shown(endpoints: &Endpoints) -> String {
    let ips = |list: &[EndpointAddress]| list.iter().map(|it| it.ip.to_string()).collect::<Vec<_>>().join(" ");
    let mut subsets: Vec<String> = Vec::new();
    for subset in &endpoints.subsets {
        let mut ports: Vec<String> = subset.ports.iter().map(|it| format!("{}/{}", it.protocol, it.port)).collect();
        ports.sort();
        subsets.push(format!("{}|{}|{}", ips(&subset.addresses), ips(&subset.not_ready_addresses), ports.join(" ")));
    }
    subsets.sort();
    subsets.join(";")
}

pub(crate) fn read<T: serde::de::DeserializeOwned>(object: &Value) -> T {
    serde_json::from_value(object.clone()).expect("valid object")
}
