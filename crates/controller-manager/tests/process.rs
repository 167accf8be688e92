//! The binary as a process of its own, against an API server over HTTP.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use http::Method;
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::Server;
use rstest::rstest;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

/// An API server with a kubeconfig for it in a folder of its own.
struct Cluster {
    server: Server,
    client: Client,
    folder: TempDir,
}

impl Cluster {
    async fn start() -> Cluster {
        let server = Server::start(kube_dev_apiserver::Config::default()).await.expect("a server");
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("kubeconfig"), server.kubeconfig()).expect("a kubeconfig");
        let options = ClientOptions { user_agent: "test".into(), qps: 0.0, burst: 0 };
        let client = Client::new(&Config::from_url(&server.url()).expect("a configuration"), options);
        Cluster { client: client.expect("a client"), server, folder }
    }

    fn controllers(&self, arguments: &[&str]) -> Child {
        let mut command = binary();
        command.arg("--kubeconfig").arg(self.folder.path().join("kubeconfig")).args(arguments);
        command.args(["--kube-api-qps=2000", "--kube-api-burst=4000"]).stderr(Stdio::piped());
        command.spawn().expect("the binary starts")
    }

    async fn call(&self, method: Method, path: &str, content_type: &str, body: &Value) {
        let bytes = serde_json::to_vec(body).expect("JSON");
        let (status, answer) = self.client.raw(method, path, Some(content_type), bytes).await.expect("an answer");
        assert!(status.is_success(), "{path}: {status} {}", String::from_utf8_lossy(&answer));
    }

    async fn create(&self, path: &str, object: &Value) {
        self.call(Method::POST, path, "application/json", object).await;
    }

    async fn service(&self, name: &str) {
        let spec = json!({"selector": {"app": name}, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]});
        let object = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec});
        self.create("/api/v1/namespaces/default/services", &object).await;
    }

    async fn ready_pod(&self, name: &str, app: &str, address: &str) {
        let spec = json!({"nodeName": "n1", "containers": [{"name": "main", "image": "registry.example/app:1"}]});
        let metadata = json!({"name": name, "labels": {"app": app}});
        let object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec});
        self.create("/api/v1/namespaces/default/pods", &object).await;
        let status = json!({"status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}],
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}});
        let path = format!("/api/v1/namespaces/default/pods/{name}/status");
        self.call(Method::PATCH, &path, "application/merge-patch+json", &status).await;
    }

    async fn node(&self) {
        let object = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}});
        self.create("/api/v1/nodes", &object).await;
    }

    /// How many addresses each Service has, in Endpoints and, summed over its slices, in EndpointSlices.
    async fn addresses(&self) -> (BTreeMap<String, usize>, BTreeMap<String, usize>) {
        let mut endpoints = BTreeMap::new();
        for item in self.list("/api/v1/endpoints").await {
            let subsets = item["subsets"].as_array().map(Vec::as_slice).unwrap_or_default();
            let count = subsets.iter().map(|it| it["addresses"].as_array().map_or(0, Vec::len)).sum();
            endpoints.insert(text(&item["metadata"]["name"]), count);
        }
        let mut slices = BTreeMap::new();
        for item in self.list("/apis/discovery.k8s.io/v1/endpointslices").await {
            let service = text(&item["metadata"]["labels"]["kubernetes.io/service-name"]);
            *slices.entry(service).or_default() += item["endpoints"].as_array().map_or(0, Vec::len);
        }
        (endpoints, slices)
    }

    async fn list(&self, path: &str) -> Vec<Value> {
        let list = self.client.get_json(path).await.expect("a list");
        list["items"].as_array().cloned().unwrap_or_default()
    }

    /// Waits until every Service has these addresses, in both kinds of objects.
    async fn settles(&self, expected: &BTreeMap<String, usize>) {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let (endpoints, slices) = self.addresses().await;
            if endpoints == *expected && slices == *expected {
                return;
            }
            assert!(Instant::now() < deadline, "60s passed: endpoints {endpoints:?}, slices {slices:?}");
            sleep(Duration::from_millis(50)).await;
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_controller-manager"));
    command.kill_on_drop(true).stdin(Stdio::null());
    command
}

#[tokio::test]
async fn does_its_work_and_stops_cleanly_on_sigterm() {
    let cluster = Cluster::start().await;
    let child = cluster.controllers(&[]);
    cluster.node().await;
    cluster.service("web").await;
    cluster.ready_pod("web-0", "web", "10.1.0.1").await;
    cluster.settles(&[("web".to_owned(), 1)].into()).await;

    let pid = child.id().expect("still running").to_string();
    Command::new("sh").args(["-c", &format!("kill -TERM {pid}")]).status().await.expect("kill");
    let output = timeout(Duration::from_secs(5), child.wait_with_output()).await.expect("stops within 5s");
    let output = output.expect("its output");
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("Stopped"), "{output:?}");
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn killed_half_way_and_started_again_it_comes_to_the_same() {
    const SERVICES: usize = 40;
    let cluster = Cluster::start().await;
    cluster.node().await;
    let mut child = cluster.controllers(&[]);
    let mut expected = BTreeMap::new();
    for number in 0..SERVICES {
        let app = format!("app-{number:02}");
        cluster.service(&app).await;
        for pod in 0..3 {
            cluster.ready_pod(&format!("{app}-{pod}"), &app, &format!("10.1.{number}.{pod}")).await;
        }
        expected.insert(app, 3);
        if number == SERVICES / 2 {
            // Events of the last objects are under way: some are written, others not.
            child.kill().await.expect("killed");
        }
    }
    let (endpoints, _) = cluster.addresses().await;
    assert!(!endpoints.is_empty() && endpoints.len() < SERVICES, "was to be killed half way: {}", endpoints.len());

    let _again = cluster.controllers(&[]);
    cluster.settles(&expected).await;
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn controllers_that_are_switched_off_write_nothing() {
    let cluster = Cluster::start().await;
    let _child = cluster.controllers(&["--controllers=*,-endpoints-controller"]);
    cluster.service("web").await;
    let deadline = Instant::now() + Duration::from_secs(60);
    while cluster.addresses().await.1.is_empty() {
        assert!(Instant::now() < deadline, "60s passed without a slice");
        sleep(Duration::from_millis(50)).await;
    }
    assert!(cluster.addresses().await.0.is_empty());
    cluster.server.shutdown().await;
}

async fn refused(arguments: &[&str]) -> Output {
    let output = timeout(Duration::from_secs(20), binary().args(arguments).output()).await.expect("ends at once");
    output.expect("the binary runs")
}

#[rstest]
#[case::unknown_flag(&["--nonsense"], "--nonsense")]
#[case::unknown_controller(&["--controllers=nonsense"], "nonsense")]
#[case::missing_kubeconfig(&["--kubeconfig=/nonexistent/kubeconfig"], "/nonexistent/kubeconfig")]
#[case::no_kubeconfig(&[], "no --kubeconfig given")]
#[tokio::test]
async fn mistakes_are_one_line_on_stderr(#[case] arguments: &[&str], #[case] expected: &str) {
    let output = refused(arguments).await;
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.lines().count() == 1 && stderr.contains(expected), "{stderr}");
    assert!(output.stdout.is_empty());
}

#[rstest]
#[case::no_yaml("{")]
#[case::no_clusters("apiVersion: v1\nkind: Config\n")]
#[tokio::test]
async fn a_malformed_kubeconfig_is_named(#[case] content: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("broken");
    std::fs::write(&path, content).expect("a file");
    let output = refused(&["--kubeconfig", Path::to_str(&path).expect("a path")]).await;
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.lines().count() == 1 && stderr.contains("broken"), "{stderr}");
}

#[tokio::test]
async fn help_goes_to_stdout() {
    let output = refused(&["--help"]).await;
    assert!(output.status.success() && output.stderr.is_empty());
    assert!(String::from_utf8_lossy(&output.stdout).contains("--endpointslice-updates-batch-period"));
}
