//! Two controllers that write the same objects, and a person who edits one.

use std::collections::BTreeMap;

use bytes::Bytes;
use endpoint_controller_manager::{
    AuthenticationSettings, AuthorizationSettings, CertificateFiles, ClientSettings, LeaderElection, RunError,
    ServerCertificate, ServingSettings, Settings, run,
};
use http::header::USER_AGENT;
use http::{HeaderValue, Request};
use http_body_util::Full;
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::{FieldTracking, On, ReservedPort};
use kube_endpoint_model::EndpointSlice;
use kube_endpoints_testing::https::HttpsClient;
use kube_endpoints_testing::{eventually, until};
use serde_json::json;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::{ServiceExt as _, service_fn};

use crate::cluster::{Cluster, text};

/// Field manager of this program.
const OURS: &str = "controller-manager";
/// Field manager of the other writer, an instance of this program as well.
const OTHER: &str = "kube-controller-manager";

/// A server that names the writers in `managedFields`.
async fn start() -> Cluster {
    Cluster::start_with(kube_dev_apiserver::Config { field_tracking: FieldTracking::Always, ..Default::default() })
        .await
}

/// Returns the configuration of clients whose writes have this field manager.
fn config(cluster: &Cluster, manager: &'static str) -> Config {
    let server = cluster.server.service();
    Config::from_service(service_fn(move |mut request: Request<Full<Bytes>>| {
        request.headers_mut().insert(USER_AGENT, HeaderValue::from_static(manager));
        server.clone().oneshot(request)
    }))
}

/// Returns the number of writes of both managers, of which one name contains the other.
fn writes(cluster: &Cluster) -> usize {
    let of = |resource| cluster.server.requests().matching(&On::writes().resource(resource).user_agent(OURS));
    [of("endpoints"), of("endpointslices")].iter().flatten().filter(|write| write.applied).count()
}

/// A running instance of the program.
struct Instance {
    stop: CancellationToken,
    run: JoinSet<Result<(), RunError>>,
    metrics: HttpsClient,
    _port: ReservedPort,
}

impl Instance {
    async fn start(cluster: &Cluster, manager: &'static str, leader_election: Option<LeaderElection>) -> Instance {
        let port = ReservedPort::new().expect("a free port");
        let address = port.address();
        let folder = cluster.folder().join(manager);
        let serving = ServingSettings {
            bind_address: address.ip(),
            port: address.port(),
            certificate: ServerCertificate::Stored(CertificateFiles::pair(&folder, "second-writer")),
            authentication: AuthenticationSettings { skip_lookup: true, ..ServingSettings::default().authentication },
            authorization: AuthorizationSettings {
                always_allow_paths: vec!["/metrics".to_owned()],
                ..ServingSettings::default().authorization
            },
            ..ServingSettings::default()
        };
        let client = ClientSettings { qps: 0.0, ..ClientSettings::default() };
        let settings = Settings { client, leader_election, serving, ..Settings::default() };
        let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
        tasks.spawn(Box::pin(run(config(cluster, manager), settings, stop.clone())));
        until("connection", || TcpStream::connect(address), Result::is_ok).await.expect("accepted");
        let certificate = std::fs::read(folder.join("second-writer.crt")).expect("a certificate");
        Instance { stop, run: tasks, metrics: HttpsClient::anonymous(address, certificate), _port: port }
    }

    async fn metric(&self, series: &str) -> u64 {
        let metrics = self.metrics.get("/metrics").await.text;
        let value = metrics.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        value.map_or(0, |value| value.parse().expect("a number"))
    }

    async fn foreign_writes(&self, resource: &str, manager: &str) -> u64 {
        let name = "endpoint_controllers_foreign_writes_total";
        self.metric(&format!("{name}{{manager=\"{manager}\",resource=\"{resource}\"}}")).await
    }

    async fn second_writer(&self) -> u64 {
        self.metric("endpoint_controllers_second_writer").await
    }

    async fn stop(mut self) {
        self.stop.cancel();
        self.run.join_next().await.expect("a task").expect("no panic").expect("no error");
    }
}

/// Creates Services with one ready Pod each.
async fn add(cluster: &Cluster, expected: &mut BTreeMap<String, usize>, names: impl IntoIterator<Item = String>) {
    for name in names {
        cluster.service("default", &name).await;
        let address = format!("10.1.{}.{}", expected.len() / 200, expected.len() % 200 + 1);
        cluster.ready_pod("default", &format!("{name}-0"), &name, &address).await;
        expected.insert(name, 1);
    }
}

fn names(prefix: &str, count: usize) -> impl Iterator<Item = String> {
    (0..count).map(move |number| format!("{prefix}-{number}"))
}

/// Messages of the events about a second writer, each about the Lease.
async fn events(cluster: &Cluster) -> Vec<String> {
    let events = cluster.list("/api/v1/namespaces/kube-system/events").await.into_iter();
    let events = events.filter(|event| event["reason"] == "SecondWriter" && event["type"] == "Warning");
    events
        .map(|event| {
            assert_eq!(text(&event["involvedObject"]["kind"]), "Lease");
            text(&event["message"])
        })
        .collect()
}

#[tokio::test]
async fn two_writers_warn_and_converge() {
    const SERVICES: usize = 10;
    let (cluster, mut expected) = (start().await, BTreeMap::new());
    cluster.node().await;
    let ours = Instance::start(&cluster, OURS, None).await;
    let other = Instance::start(&cluster, OTHER, None).await;
    add(&cluster, &mut expected, names("web", SERVICES)).await;
    cluster.wait_for_addresses(&expected).await;
    eventually("a second writer", &1, || ours.second_writer()).await;
    eventually("a second writer", &1, || other.second_writer()).await;
    assert!(ours.foreign_writes("endpointslices", OTHER).await >= 5);
    assert_eq!(ours.foreign_writes("endpointslices", OURS).await, 0, "own writes");
    // Both write on, and each corrects the state once.
    let writes = writes(&cluster);
    assert!(writes <= 10 * SERVICES, "{writes} writes");
    ours.stop().await;
    other.stop().await;
    cluster.server.shutdown().await;
}

async fn empty_slices(cluster: &Cluster, manager: &'static str) {
    let options = ClientOptions { qps: 0.0, ..ClientOptions::default() };
    let client = Client::new(&config(cluster, manager), options).expect("a client");
    for slice in cluster.list("/apis/discovery.k8s.io/v1/endpointslices").await {
        let name = text(&slice["metadata"]["name"]);
        let edit = json!({"endpoints": []});
        client.merge_patch::<EndpointSlice>("default", &name, None, &edit).await.expect("patched");
    }
}

#[tokio::test]
async fn a_leader_reports_a_second_writer_about_the_lease_and_writes_on() {
    let (cluster, mut expected) = (start().await, BTreeMap::new());
    cluster.node().await;
    let ours = Instance::start(&cluster, OURS, Some(LeaderElection::default())).await;
    add(&cluster, &mut expected, names("web", 5)).await;
    cluster.wait_for_addresses(&expected).await;
    empty_slices(&cluster, OTHER).await;
    let found = until("event", || events(&cluster), |it| !it.is_empty()).await;
    assert!(found.len() == 1 && found[0].contains(OTHER), "{found:?}");
    assert_eq!(ours.second_writer().await, 1);
    cluster.wait_for_addresses(&expected).await;
    ours.stop().await;
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn an_edit_by_a_person_is_counted_and_reverted() {
    let (cluster, mut expected) = (start().await, BTreeMap::new());
    cluster.node().await;
    let ours = Instance::start(&cluster, OURS, None).await;
    add(&cluster, &mut expected, names("web", 1)).await;
    cluster.wait_for_addresses(&expected).await;
    empty_slices(&cluster, "kubectl-edit").await;
    eventually("an edit", &1, || ours.foreign_writes("endpointslices", "kubectl-edit")).await;
    cluster.wait_for_addresses(&expected).await;
    assert_eq!(ours.second_writer().await, 0);
    ours.stop().await;
    cluster.server.shutdown().await;
}
