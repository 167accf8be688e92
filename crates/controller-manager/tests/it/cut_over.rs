//! Taking over from another writer: no write without a change, a limit for unexplained writes, and a comparison before
//! the first write.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use endpoint_controller_manager::{Settings, run};
use http::{Method, Request, Uri};
use http_body_util::Full;
use kube_controller_client::Config;
use kube_dev_apiserver::{On, Population, User};
use kube_endpoints_testing::{until, within};
use serde_json::{Value, json};
use tokio::process::Child;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tower::Service as _;

use crate::cluster::{Cluster, text};
use crate::process::{start_with_kubeconfig, stop};

const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/endpoint-controller-manager";
const WITHHELD: &str = "kube-endpoints.github.io/writes-withheld";
const CLEAN: &str = "kube-endpoints.github.io/clean-shadow";

/// Time for writes that are not expected: longer than a renewal of the Lease and the review of a key.
const QUIET: Duration = Duration::from_secs(5);

/// A cluster whose slices and Endpoints are written by processes with users of their own.
struct Takeover {
    cluster: Cluster,
    population: Population,
    folder: tempfile::TempDir,
}

impl Takeover {
    /// Returns a cluster with these Services and Pods, without slices and Endpoints.
    async fn new(services: usize, pods: usize) -> Takeover {
        let cluster = Cluster::start().await;
        let population = Population { pods, services, nodes: 5, services_of_a_namespace: 50 };
        let ports = json!([{"name": "http", "containerPort": 8080}]);
        let template = json!({
            "metadata": {"labels": {}},
            "spec": {"containers": [{"name": "main", "image": "registry.example/app:1", "ports": ports}]},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        });
        cluster.server.load(population.objects(&template)).expect("loaded");
        cluster.node().await;
        Takeover { cluster, population, folder: tempfile::tempdir().expect("a folder") }
    }

    /// Starts a process that is logged as `user`.
    fn start(&self, user: &str, arguments: &[&str]) -> Child {
        let kubeconfig = self.folder.path().join(user);
        self.kubeconfig(user, &kubeconfig);
        start_with_kubeconfig(&kubeconfig, arguments)
    }

    fn kubeconfig(&self, user: &str, path: &Path) {
        let user = User::new(user).group("system:masters");
        std::fs::write(path, self.cluster.server.kubeconfig_for(user)).expect("a kubeconfig");
    }

    /// Number of Pods of each Service.
    fn expected(&self) -> BTreeMap<String, usize> {
        let services = 0..self.population.services;
        services.map(|it| (Population::service_name(it), self.population.pods_of(it).len())).collect()
    }

    /// Writes all slices and Endpoints with a process that is stopped afterwards.
    async fn fill(&self) {
        let writer = self.start("writer", &[]);
        self.cluster.wait_for_addresses(&self.expected()).await;
        stop(writer).await;
    }

    /// Waits until a process with this user has led and synced for a while, and stops it. Returns its log.
    async fn lead_for(&self, child: Child, user: &str, time: Duration) -> String {
        let renewals = On::writes().user(user).resource("leases");
        until("lease", async || self.cluster.server.requests().count(&renewals), |it| *it > 0).await;
        sleep(time).await;
        stop(child).await
    }

    /// Number of writes of slices and Endpoints by a user.
    fn writes(&self, user: &str) -> usize {
        let of = |resource| self.cluster.server.requests().count(&On::writes().user(user).resource(resource));
        of("endpointslices") + of("endpoints")
    }

    async fn annotation(&self, name: &str) -> Option<String> {
        let lease = self.cluster.document(LEASE).await?;
        lease["metadata"]["annotations"][name].as_str().map(str::to_owned)
    }

    /// Empties all slices, as another program might.
    async fn empty_slices(&self) {
        for slice in self.cluster.list("/apis/discovery.k8s.io/v1/endpointslices").await {
            let [namespace, name] = ["namespace", "name"].map(|field| text(&slice["metadata"][field]));
            let path = format!("/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices/{name}");
            let status = self.cluster.try_call(Method::PATCH, &path, &json!({"endpoints": []})).await;
            assert!(status.is_success(), "{path}: {status}");
        }
    }

    /// Number of endpoints in all slices.
    async fn endpoints_in_slices(&self) -> usize {
        self.cluster.addresses().await.1.values().sum()
    }

    /// Creates a Service with a Pod; returns its name.
    async fn add(&self, name: &str) -> String {
        self.cluster.service("default", name).await;
        self.cluster.ready_pod("default", &format!("{name}-0"), name, "10.9.0.1").await;
        name.to_owned()
    }

    async fn is_written(&self, service: &str) -> bool {
        let (endpoints, slices) = self.cluster.addresses().await;
        endpoints.get(service) == Some(&1) && slices.get(service) == Some(&1)
    }
}

#[tokio::test]
async fn a_handover_writes_nothing_in_either_direction() {
    let takeover = Takeover::new(200, 2_000).await;
    takeover.fill().await;
    for user in ["there", "back"] {
        let log = takeover.lead_for(takeover.start(user, &[]), user, QUIET).await;
        assert_eq!(takeover.writes(user), 0, "{log}");
        assert_eq!(takeover.annotation(WITHHELD).await, None, "{log}");
    }
}

#[tokio::test]
async fn a_leader_stops_at_the_limit_and_later_leaders_write_nothing() {
    let takeover = Takeover::new(300, 300).await;
    takeover.fill().await;
    takeover.empty_slices().await;

    let first = takeover.start("first", &[]);
    until("annotation", || takeover.annotation(WITHHELD), Option::is_some).await;
    // Explained changes are withheld too.
    takeover.add("late").await;
    let events = async || takeover.cluster.list("/api/v1/namespaces/kube-system/events").await;
    let is_withheld = |event: &Value| event["reason"] == "WritesWithheld" && event["type"] == "Warning";
    let found = until("event", events, |all| all.iter().any(is_withheld)).await;
    let event = found.into_iter().find(is_withheld).expect("an event");
    assert_eq!(
        (text(&event["involvedObject"]["kind"]), text(&event["involvedObject"]["name"])),
        ("Lease".to_owned(), "endpoint-controller-manager".to_owned())
    );
    let log = takeover.lead_for(first, "first", QUIET).await;
    assert_eq!(takeover.writes("first"), 20, "{log}");
    assert_eq!(takeover.endpoints_in_slices().await, 20);
    assert!(!takeover.is_written("late").await);
    assert!(log.contains("21 writes in the first minute") && log.contains("the limit is 20 with 300 slices"), "{log}");
    assert_eq!(log.matches("Unexplained write: update EndpointSlice team-").count(), 10, "{log}");
    assert!(log.contains("endpoints: 0 items -> 1"), "{log}");

    let again = takeover.start("again", &[]);
    let log = takeover.lead_for(again, "again", QUIET).await;
    assert_eq!(takeover.writes("again"), 0, "{log}");
    assert!(log.contains("an earlier leader stopped"), "{log}");

    let forced = takeover.start("forced", &["--force"]);
    let all = until("all endpoints", || takeover.endpoints_in_slices(), |it| *it == 301).await;
    assert_eq!(all, 301);
    until("no annotation", || takeover.annotation(WITHHELD), Option::is_none).await;
    stop(forced).await;
    assert_eq!(takeover.annotation(WITHHELD).await, None);
}

/// The list of Pods is empty with status 200: the leader must not empty all slices and Endpoints. Each controller has the
/// limit; usually the first one to exceed it withholds the writes of the other before that has written much.
#[tokio::test]
async fn an_empty_list_of_pods_at_the_start_removes_at_most_the_limit() {
    let takeover = Takeover::new(100, 500).await;
    takeover.fill().await;
    let server = &takeover.cluster.server;
    server.requests().clear();
    let service = tower::service_fn({
        let service = server.service();
        move |mut request: Request<Full<Bytes>>| {
            // The Pods of a namespace without Pods.
            let uri = request.uri().to_string().replace("/api/v1/pods", "/api/v1/namespaces/kube-system/pods");
            *request.uri_mut() = uri.parse::<Uri>().expect("a URI");
            let mut service = service.clone();
            async move { service.call(request).await }
        }
    });
    let stopping = CancellationToken::new();
    let work = async {
        until("writes", async || server.requests().count(&On::writes()), |it| *it > 0).await;
        sleep(QUIET).await;
        stopping.cancel();
    };
    let running = Box::pin(run(Config::from_service(service), Settings::default(), stopping.clone()));
    let (ended, ()) = tokio::join!(running, work);
    ended.expect("the run");
    let of = |resource| server.requests().count(&On::writes().resource(resource));
    let writes = ["endpoints", "endpointslices"].map(of);
    assert_eq!(writes.iter().sum::<usize>(), server.requests().count(&On::writes()));
    assert!(writes.iter().all(|it| *it <= 20), "{writes:?} writes");
    let (endpoints, slices) = takeover.cluster.addresses().await;
    let kept = |addresses: &BTreeMap<String, usize>| addresses.values().filter(|it| **it == 5).count();
    assert!(kept(&endpoints) >= 80 && kept(&slices) >= 80, "{endpoints:?} {slices:?}");
}

#[tokio::test]
async fn a_leader_compares_before_it_writes_and_its_successor_need_not() {
    let takeover = Takeover::new(20, 60).await;
    // The other writer has another Lease.
    let writer = takeover.start("writer", &["--leader-elect-resource-name=kcm"]);
    takeover.cluster.wait_for_addresses(&takeover.expected()).await;

    let waiting = takeover.start("waiting", &["--require-clean-shadow=1h"]);
    let (one, requests) = (takeover.add("one").await, takeover.cluster.server.requests());
    until("writes of the other", || takeover.is_written(&one), |it| *it).await;
    let log = takeover.lead_for(waiting, "waiting", QUIET).await;
    assert_eq!((takeover.writes("waiting"), takeover.annotation(CLEAN).await), (0, None), "{log}");

    let new = takeover.start("new", &["--require-clean-shadow=3s", "--shadow-settle-period=1s"]);
    let led = On::writes().user("new").resource("leases");
    until("lease", async || requests.count(&led), |it| *it > 0).await;
    until("evidence", || takeover.annotation(CLEAN), Option::is_some).await;
    stop(writer).await;
    let two = takeover.add("two").await;
    let written = within(Duration::from_secs(10), || takeover.is_written(&two), |it| *it).await;
    assert_eq!(written, Ok(true), "the leader writes");
    let first_write = requests.matching(&On::writes().user("new").resource("endpoints"))[0].started;
    let compared = Duration::try_from(first_write.duration_since(requests.matching(&led)[0].started)).expect("later");
    assert!(compared >= Duration::from_secs(3), "{compared:?}");
    stop(new).await;

    let successor = takeover.start("successor", &["--require-clean-shadow=1h"]);
    let three = takeover.add("three").await;
    let written = within(Duration::from_secs(10), || takeover.is_written(&three), |it| *it).await;
    assert_eq!(written, Ok(true), "a successor does not compare again");
    stop(successor).await;
}

#[tokio::test]
async fn force_skips_the_comparison() {
    let takeover = Takeover::new(20, 60).await;
    let waiting = takeover.start("waiting", &["--require-clean-shadow=1h"]);
    let log = takeover.lead_for(waiting, "waiting", QUIET).await;
    assert_eq!(takeover.writes("waiting"), 0, "{log}");
    let forced = takeover.start("forced", &["--require-clean-shadow=1h", "--force"]);
    takeover.cluster.wait_for_addresses(&takeover.expected()).await;
    stop(forced).await;
    assert!(takeover.annotation(CLEAN).await.is_some(), "a later leader need not compare");
}
