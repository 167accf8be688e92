//! Shadow mode beside an active instance: it writes nothing, finds nothing after changes, and finds and classifies each
//! planted deviation. Random histories, recordings and faults of the other instance:
//! `testing/simulation/tests/it/shadow.rs`.

mod planted;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use endpoint_controller_manager::{CertificateFiles, Mode, ServerCertificate, Settings, ShadowSettings};
use http::Method;
use kube_controller_client::Config;
use kube_dev_apiserver::{On, ReservedPort, User};
use kube_endpoint_model::{EndpointSlice, Endpoints, Node, Pod, Service};
use kube_endpoints_explain::World;
use kube_endpoints_testing::https::HttpsClient;
use kube_endpoints_testing::{eventually, until};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::cluster::{Cluster, text};
use crate::program::Program;
use crate::serving::{rbac_cluster, start};
use planted::{PLANTED, Planted};

/// Starts the program as a user of this name, by which the server's request log identifies it.
async fn start_as(name: &str, cluster: &Cluster, settings: Settings) -> Program {
    let kubeconfig = cluster.kubeconfig_for(User::new(name).group("system:masters"));
    Program::start(Config::from_kubeconfig(&kubeconfig).await.expect("a configuration"), settings)
}

fn active() -> Settings {
    let mut settings = Settings::default();
    settings.client.qps = 0.0;
    settings
}

/// The program in shadow mode, and a client of its HTTPS server.
struct Shadow {
    program: Program,
    https: HttpsClient,
    _port: ReservedPort,
}

impl Shadow {
    async fn start(cluster: &Cluster, settle_period: Duration) -> Shadow {
        let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        let file = |name: &str, pem: String| {
            let path = cluster.folder().join(name);
            std::fs::write(&path, pem).expect("a file");
            path
        };
        let certificate = certified.cert.pem();
        let files = CertificateFiles {
            certificate: file("shadow.crt", certificate.clone()),
            key: file("shadow.key", certified.signing_key.serialize_pem()),
        };
        let port = ReservedPort::new().expect("a free port");
        let address = port.address();
        let compare_period = Duration::from_secs(1);
        let shadow = ShadowSettings { settle_period, writer_lease: None, compare_period };
        let mut settings = Settings { mode: Mode::Shadow, shadow, ..active() };
        settings.serving.bind_address = address.ip();
        settings.serving.port = address.port();
        settings.serving.certificate = ServerCertificate::Files(files);
        settings.serving.authorization.always_allow_paths = vec!["*".to_owned()];
        let program = start_as("shadow", cluster, settings).await;
        until("connection", || TcpStream::connect(address), Result::is_ok).await.expect("accepted");
        let https = HttpsClient::anonymous(address, certificate.into_bytes());
        // The server starts before the comparison.
        until("page", || https.get("/shadow"), |reply| reply.code == 200).await;
        Shadow { program, https, _port: port }
    }

    async fn report(&self) -> Value {
        let reply = self.https.get("/shadow?output=json").await;
        serde_json::from_str(&reply.text).unwrap_or_else(|error| panic!("{error}: {}", reply.text))
    }

    async fn text(&self) -> String {
        self.https.get("/shadow").await.text
    }
}

fn writes(cluster: &Cluster) -> Vec<String> {
    let requests = cluster.server.requests().all().into_iter().filter(|request| request.user == "shadow");
    let writes = requests.filter(|request| !["get", "list", "watch"].contains(&request.verb.as_str()));
    writes.map(|request| format!("{} {}", request.verb, request.path)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_beside_an_active_instance_cause_no_mismatch_and_no_write() {
    let cluster = Cluster::start_with_tls().await;
    cluster.node().await;
    let writer = start_as("active", &cluster, active()).await;
    // Longer than a writer needs on a busy machine.
    let shadow = Shadow::start(&cluster, Duration::from_secs(60)).await;
    assert!(shadow.text().await.starts_with("No Service compared yet"));
    for (number, planted) in PLANTED.iter().enumerate() {
        planted.create(&cluster, number).await;
    }
    cluster.readiness("default", "s-address-0", "False", "2026-01-01T00:01:00Z").await;
    cluster.call(Method::DELETE, "/api/v1/namespaces/default/services/s-node", &Value::Null).await;
    cluster.call(Method::DELETE, "/api/v1/namespaces/default/endpoints/m-address", &Value::Null).await;
    let changed = Instant::now();
    // A difference that lasts is unsettled until it is a mismatch.
    let settled = |report: &Value| {
        report["unsettled"] == 0
            && report["cleanSeconds"].as_u64() >= Some(1)
            && report["oldestComparisonSeconds"].as_u64().is_some_and(|it| it < changed.elapsed().as_secs())
    };
    let report = until("settled comparison", || shadow.report(), settled).await;
    assert_eq!(report["mismatches"], json!([]), "{report:#}");
    // What `kubectl endpoints shadow --wait` reads.
    for field in ["summary", "openMismatches", "cleanSeconds", "servicesCompared", "requiredPeriodSeconds", "panics"] {
        assert!(!report[field].is_null(), "no {field}: {report:#}");
    }
    // After an hour.
    assert_eq!(
        (&report["isSafeToSwitch"], &report["recommendedCleanSeconds"]),
        (&json!(false), &json!(3_600)),
        "{report:#}"
    );
    assert!(report["changesCompared"].as_u64() > Some(PLANTED.len() as u64), "{report:#}");
    let text = shadow.text().await;
    assert!(text.starts_with("Clean for ") && text.contains("s of the recommended 1h, "), "{text}");
    let metrics = shadow.https.get("/metrics").await.text;
    for line in [
        "endpoint_controllers_shadow_mismatches{class=\"content\",controller=\"endpointslice-controller\"} 0",
        "endpoint_controllers_shadow_mismatches{class=\"objects\",controller=\"endpoints-controller\"} 0",
    ] {
        assert!(metrics.lines().any(|it| it == line), "no {line} in {metrics}");
    }
    assert_eq!(shadow.https.get("/readyz").await.text, "ok");
    shadow.program.stop().await;
    writer.stop().await;
    assert_eq!(writes(&cluster), [""; 0]);
    let written = cluster.server.requests().count(&On::writes().user("active").resource("endpointslices"));
    assert!(written > 0, "expected writes of the active instance");
    cluster.server.shutdown().await;
}

/// Controller, Service and classes of each open mismatch.
async fn open(shadow: &Shadow) -> BTreeSet<String> {
    let report = shadow.report().await;
    let open = report["mismatches"].as_array().expect("mismatches").iter().filter(|it| it["resolved"].is_null());
    let shown = |mismatch: &Value| {
        let classes: Vec<String> = mismatch["classes"].as_array().expect("classes").iter().map(text).collect();
        line(&text(&mismatch["controller"]), &text(&mismatch["service"]), &classes.join(","))
    };
    open.map(shown).collect()
}

fn line(controller: &str, service: &str, classes: &str) -> String {
    format!("{service} {controller}: {classes}")
}

/// Object and class of all open mismatches of the shadow.
fn objects(report: &Value) -> BTreeSet<String> {
    let open = report["mismatches"].as_array().expect("mismatches").iter().filter(|it| it["resolved"].is_null());
    let objects = open.flat_map(|mismatch| mismatch["objects"].as_array().expect("objects"));
    objects.map(|it| format!("{} {}: {}", it["object"]["kind"], it["object"]["name"], it["class"])).collect()
}

/// Object and class of all changes that `kubectl endpoints diff` would show.
async fn diff(cluster: &Cluster) -> BTreeSet<String> {
    async fn list<T: DeserializeOwned>(cluster: &Cluster, path: &str) -> Vec<Arc<T>> {
        let items = cluster.list(path).await.into_iter();
        items.map(|item| Arc::new(serde_json::from_value(item).expect("an object"))).collect()
    }
    let mut world = World::new(kube_endpoints_explain::Settings::default());
    world.add_services(list::<Service>(cluster, "/api/v1/services").await);
    world.add_pods(list::<Pod>(cluster, "/api/v1/pods").await);
    world.add_nodes(list::<Node>(cluster, "/api/v1/nodes").await);
    world.add_endpoints(list::<Endpoints>(cluster, "/api/v1/endpoints").await);
    world.add_slices(list::<EndpointSlice>(cluster, "/apis/discovery.k8s.io/v1/endpointslices").await);
    let changes = world.changes();
    changes
        .iter()
        .map(|it| format!("{} {}: {}", json!(it.object.kind), json!(it.object.name), json!(it.class())))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn planted_deviations_are_found_and_classified() {
    assert!(PLANTED.len() >= 30, "{}", PLANTED.len());
    let cluster = Cluster::start_with_tls().await;
    let metadata = json!({"name": "n1", "labels": {"topology.kubernetes.io/zone": "z1"}});
    let status = json!({"conditions": [{"type": "Ready", "status": "True"}], "allocatable": {"cpu": "4"}});
    cluster.create("/api/v1/nodes", &json!({"metadata": metadata, "status": status})).await;
    let writer = start_as("active", &cluster, active()).await;
    for (number, planted) in PLANTED.iter().enumerate() {
        planted.create(&cluster, number).await;
    }
    for planted in PLANTED {
        planted.wait_until_written(&cluster).await;
    }
    eventually("no difference", &BTreeSet::new(), || diff(&cluster)).await;
    writer.stop().await;

    let shadow = Shadow::start(&cluster, Duration::from_millis(200)).await;
    until("comparison", || shadow.report(), |report| report["cleanSeconds"].as_u64() >= Some(1)).await;
    assert_eq!(open(&shadow).await, BTreeSet::new());
    for planted in PLANTED {
        planted.plant(&cluster).await;
    }
    // For changes after which no controller syncs, such as those of Endpoints, the first sync counts.
    shadow.program.stop().await;
    let shadow = Shadow::start(&cluster, Duration::from_millis(200)).await;
    let expected: BTreeSet<String> = PLANTED.iter().map(|it| line(it.controller, it.name, it.classes)).collect();
    eventually("mismatches", &expected, || open(&shadow)).await;

    let report = shadow.report().await;
    assert_eq!(objects(&report), diff(&cluster).await, "shadow mode and diff give the same result");
    assert_eq!((&report["openMismatches"], &report["isSafeToSwitch"]), (&json!(expected.len()), &json!(false)));
    for mismatch in report["mismatches"].as_array().expect("mismatches") {
        for object in mismatch["objects"].as_array().expect("objects") {
            let has_code = object["codes"].as_array().is_some_and(|codes| !codes.is_empty());
            assert!(has_code && object["expected"] != object["actual"], "{mismatch:#}");
        }
    }
    let page = shadow.text().await;
    assert!(page.starts_with(&format!("{} mismatches, ", expected.len())), "{page}");
    assert!(page.lines().next().is_some_and(|first| first.ends_with(": do not switch")), "{page}");
    let metrics = shadow.https.get("/metrics").await.text;
    for class in ["content", "metadata", "hints", "packing", "objects"] {
        let series = |line: &&str| {
            line.starts_with("endpoint_controllers_shadow_mismatches{") && line.contains(&format!("\"{class}\""))
        };
        let count: u32 =
            metrics.lines().filter(series).filter_map(|it| it.rsplit(' ').next()?.parse::<u32>().ok()).sum();
        let has_class = |it: &&Planted| it.classes.split(',').any(|it| it == class);
        assert_eq!(usize::try_from(count), Ok(PLANTED.iter().filter(has_class).count()), "{class}");
    }
    assert!(metrics.lines().any(|line| line == "endpoint_controllers_shadow_clean_seconds 0"), "{metrics}");
    assert_eq!(writes(&cluster), [""; 0]);

    // The writer repairs everything when it starts.
    let writer = start_as("active", &cluster, active()).await;
    eventually("open mismatches", &BTreeSet::new(), || open(&shadow)).await;
    let report = shadow.report().await;
    let resolved = report["mismatches"].as_array().expect("mismatches").iter().filter(|it| it["resolved"].is_string());
    assert_eq!(resolved.count(), expected.len());
    shadow.program.stop().await;
    writer.stop().await;
    assert_eq!(writes(&cluster), [""; 0]);
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn page_of_the_active_mode_does_not_exist() {
    let cluster = rbac_cluster().await;
    let process = start(&cluster, &["--leader-elect=false"]);
    let master = process.master(&cluster).await;
    assert_eq!((process.anonymous().await.get("/shadow").await.code, master.get("/shadow").await.code), (403, 404));
    cluster.server.shutdown().await;
}
