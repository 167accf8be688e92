//! Two controllers that write the same objects, and a person who edits one.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use endpoint_controller_manager::{
    AuthenticationSettings, AuthorizationSettings, CertificateFiles, ClientSettings, LeaderElection, RunError,
    ServerCertificate, ServingSettings, Settings, run,
};
use http::header::{ACCEPT, CONTENT_LENGTH};
use http::{HeaderValue, Method, Request};
use http_body_util::{BodyExt as _, Either, Full};
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::ReservedPort;
use kube_endpoint_model::EndpointSlice;
use kube_endpoints_testing::https::HttpsClient;
use kube_endpoints_testing::{eventually, until};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::{BoxError, ServiceExt as _, service_fn};

use crate::cluster::{Cluster, text};

/// Field manager of this program.
const OURS: &str = "controller-manager";
/// Field manager of the other writer, an instance of this program as well.
const OTHER: &str = "kube-controller-manager";

/// The embedded server stores no `managedFields`: a layer over its service adds them to the answers.
#[derive(Clone, Default)]
struct FieldManagers(Arc<Mutex<Writes>>);

#[derive(Default)]
struct Writes {
    /// Entries of `managedFields`, by uid.
    entries: HashMap<String, Vec<Value>>,
    /// Successful writes of Endpoints and EndpointSlices, by manager.
    counts: HashMap<&'static str, usize>,
}

impl FieldManagers {
    /// Returns the configuration of clients whose writes have this field manager.
    fn config(&self, cluster: &Cluster, manager: &'static str) -> Config {
        let (server, managers) = (cluster.server.service(), self.clone());
        Config::from_service(service_fn(move |mut request: Request<Full<Bytes>>| {
            let (server, managers) = (server.clone(), managers.clone());
            async move {
                let is_write = request.method() != Method::GET;
                let is_resource = request.uri().path().contains("/endpoint");
                let is_list_of_one = request.uri().query().is_some_and(|query| query.contains("metadata.name"));
                if is_resource && is_write {
                    request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
                }
                let answer = server.oneshot(request).await?;
                if !is_resource || !(is_write || is_list_of_one) || !answer.status().is_success() {
                    return Ok::<_, BoxError>(answer.map(Either::Right));
                }
                let (mut head, body) = answer.into_parts();
                let mut answer: Value = serde_json::from_slice(&body.collect().await?.to_bytes())?;
                if is_write {
                    managers.written(manager, &answer);
                } else {
                    answer["items"].as_array_mut().into_iter().flatten().for_each(|object| managers.add_to(object));
                }
                head.headers.remove(CONTENT_LENGTH);
                let body = Full::from(serde_json::to_vec(&answer)?);
                Ok(http::Response::from_parts(head, Either::Left(body)))
            }
        }))
    }

    fn written(&self, manager: &'static str, object: &Value) {
        let mut writes = self.0.lock().expect("no panic");
        let entries = writes.entries.entry(text(&object["metadata"]["uid"])).or_default();
        entries.retain(|entry| entry["manager"] != manager);
        entries.push(json!({"manager": manager, "operation": "Update", "time": "2026-01-01T00:00:00Z"}));
        *writes.counts.entry(manager).or_default() += 1;
    }

    fn add_to(&self, object: &mut Value) {
        let writes = self.0.lock().expect("no panic");
        object["metadata"]["managedFields"] = json!(writes.entries.get(&text(&object["metadata"]["uid"])));
    }

    fn count(&self, manager: &str) -> usize {
        self.0.lock().expect("no panic").counts.get(manager).copied().unwrap_or_default()
    }
}

/// A running instance of the program.
struct Instance {
    stop: CancellationToken,
    run: JoinSet<Result<(), RunError>>,
    metrics: HttpsClient,
    _port: ReservedPort,
}

impl Instance {
    async fn start(
        cluster: &Cluster,
        managers: &FieldManagers,
        manager: &'static str,
        leader_election: Option<LeaderElection>,
    ) -> Instance {
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
        tasks.spawn(Box::pin(run(managers.config(cluster, manager), settings, stop.clone())));
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
    let (cluster, managers, mut expected) = (Cluster::start().await, FieldManagers::default(), BTreeMap::new());
    cluster.node().await;
    let ours = Instance::start(&cluster, &managers, OURS, None).await;
    let other = Instance::start(&cluster, &managers, OTHER, None).await;
    add(&cluster, &mut expected, names("web", SERVICES)).await;
    cluster.wait_for_addresses(&expected).await;
    eventually("a second writer", &1, || ours.second_writer()).await;
    eventually("a second writer", &1, || other.second_writer()).await;
    assert!(ours.foreign_writes("endpointslices", OTHER).await >= 5);
    assert_eq!(ours.foreign_writes("endpointslices", OURS).await, 0, "own writes");
    // Both write on, and each corrects the state once.
    let writes = managers.count(OURS) + managers.count(OTHER);
    assert!(writes <= 10 * SERVICES, "{writes} writes");
    ours.stop().await;
    other.stop().await;
    cluster.server.shutdown().await;
}

async fn empty_slices(cluster: &Cluster, managers: &FieldManagers, manager: &'static str) {
    let options = ClientOptions { qps: 0.0, ..ClientOptions::default() };
    let client = Client::new(&managers.config(cluster, manager), options).expect("a client");
    for slice in cluster.list("/apis/discovery.k8s.io/v1/endpointslices").await {
        let name = text(&slice["metadata"]["name"]);
        let edit = json!({"endpoints": []});
        client.merge_patch::<EndpointSlice>("default", &name, None, &edit).await.expect("patched");
    }
}

#[tokio::test]
async fn a_leader_reports_a_second_writer_about_the_lease_and_writes_on() {
    let (cluster, managers, mut expected) = (Cluster::start().await, FieldManagers::default(), BTreeMap::new());
    cluster.node().await;
    let ours = Instance::start(&cluster, &managers, OURS, Some(LeaderElection::default())).await;
    add(&cluster, &mut expected, names("web", 5)).await;
    cluster.wait_for_addresses(&expected).await;
    empty_slices(&cluster, &managers, OTHER).await;
    let found = until("event", || events(&cluster), |it| !it.is_empty()).await;
    assert!(found.len() == 1 && found[0].contains(OTHER), "{found:?}");
    assert_eq!(ours.second_writer().await, 1);
    cluster.wait_for_addresses(&expected).await;
    ours.stop().await;
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn an_edit_by_a_person_is_counted_and_reverted() {
    let (cluster, managers, mut expected) = (Cluster::start().await, FieldManagers::default(), BTreeMap::new());
    cluster.node().await;
    let ours = Instance::start(&cluster, &managers, OURS, None).await;
    add(&cluster, &mut expected, names("web", 1)).await;
    cluster.wait_for_addresses(&expected).await;
    empty_slices(&cluster, &managers, "kubectl-edit").await;
    eventually("an edit", &1, || ours.foreign_writes("endpointslices", "kubectl-edit")).await;
    cluster.wait_for_addresses(&expected).await;
    assert_eq!(ours.second_writer().await, 0);
    ours.stop().await;
    cluster.server.shutdown().await;
}
