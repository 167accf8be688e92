//! The embedded API server and helpers to create objects in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use http::{Method, StatusCode};
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::{Server, Transport, User};
use kube_endpoints_testing::eventually;
use serde_json::{Value, json};
use tempfile::TempDir;

/// An API server, a client for it, and a temporary directory with a kubeconfig.
pub(crate) struct Cluster {
    pub(crate) server: Server,
    client: Client,
    folder: TempDir,
}

impl Cluster {
    pub(crate) async fn start() -> Cluster {
        Cluster::start_with(kube_dev_apiserver::Config::default()).await
    }

    /// Starts a server with TLS: credentials in a kubeconfig are not sent over plain HTTP.
    pub(crate) async fn start_with_tls() -> Cluster {
        let config = kube_dev_apiserver::Config { transport: Transport::Tls, ..kube_dev_apiserver::Config::default() };
        Cluster::start_with(config).await
    }

    pub(crate) async fn start_with(config: kube_dev_apiserver::Config) -> Cluster {
        let server = Server::start(config).await.expect("a server");
        let folder = tempfile::tempdir().expect("a folder");
        let kubeconfig = folder.path().join("kubeconfig");
        std::fs::write(&kubeconfig, server.kubeconfig()).expect("a kubeconfig");
        let options = ClientOptions { user_agent: "test".into(), qps: 0.0, burst: 0, ..ClientOptions::default() };
        let client = Client::new(&Config::from_kubeconfig(&kubeconfig).await.expect("a configuration"), options);
        Cluster { client: client.expect("a client"), server, folder }
    }

    /// Sends a request, which must succeed. Patches are JSON merge patches; a null `body` is sent as an empty one.
    pub(crate) async fn call(&self, method: Method, path: &str, body: &Value) {
        let (status, answer) = self.send(method, path, body).await;
        assert!(status.is_success(), "{path}: {status} {}", String::from_utf8_lossy(&answer));
    }

    /// Sends a request like [`Cluster::call`], and returns the status.
    pub(crate) async fn try_call(&self, method: Method, path: &str, body: &Value) -> StatusCode {
        self.send(method, path, body).await.0
    }

    async fn send(&self, method: Method, path: &str, body: &Value) -> (StatusCode, Bytes) {
        let bytes = if body.is_null() { Vec::new() } else { serde_json::to_vec(body).expect("JSON") };
        let content_type = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
        self.client.raw(method, path, Some(content_type), bytes).await.expect("an answer")
    }

    pub(crate) async fn create(&self, path: &str, object: &Value) {
        self.call(Method::POST, path, object).await;
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    pub(crate) fn kubeconfig_for(&self, user: User) -> PathBuf {
        let path = self.folder.path().join(&user.name);
        std::fs::write(&path, self.server.kubeconfig_for(user)).expect("a kubeconfig");
        path
    }

    pub(crate) async fn service(&self, namespace: &str, name: &str) {
        let spec = json!({"selector": {"app": name}, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]});
        let object = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec});
        self.create(&format!("/api/v1/namespaces/{namespace}/services"), &object).await;
    }

    pub(crate) async fn ready_pod(&self, namespace: &str, name: &str, app: &str, address: &str) {
        let spec = json!({"nodeName": "n1", "containers": [{"name": "main", "image": "registry.example/app:1"}]});
        let metadata = json!({"name": name, "labels": {"app": app}});
        let object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec});
        self.create(&format!("/api/v1/namespaces/{namespace}/pods"), &object).await;
        let status = json!({"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]});
        self.pod_status(namespace, name, &status).await;
        self.readiness(namespace, name, "True", "2026-01-01T00:00:00Z").await;
    }

    pub(crate) async fn readiness(&self, namespace: &str, name: &str, status: &str, since: &str) {
        let condition = json!({"type": "Ready", "status": status, "lastTransitionTime": since});
        self.pod_status(namespace, name, &json!({"conditions": [condition]})).await;
    }

    async fn pod_status(&self, namespace: &str, name: &str, status: &Value) {
        let path = format!("/api/v1/namespaces/{namespace}/pods/{name}/status");
        self.call(Method::PATCH, &path, &json!({"status": status})).await;
    }

    pub(crate) async fn node(&self) {
        let object = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}});
        self.create("/api/v1/nodes", &object).await;
    }

    /// Creates a Node, and a Service with a ready Pod.
    pub(crate) async fn web(&self) {
        self.node().await;
        self.service("default", "web").await;
        self.ready_pod("default", "web-0", "web", "10.1.0.1").await;
    }

    /// Waits until the Pod of [`Cluster::web`] is published.
    pub(crate) async fn wait_for_web(&self) {
        self.wait_for_addresses(&BTreeMap::from([("web".to_owned(), 1)])).await;
    }

    /// Creates a Service without selector, and its Endpoints with one address.
    pub(crate) async fn custom_endpoints(&self, name: &str) {
        let ports = json!([{"name": "http", "port": 80}]);
        let service = json!({"metadata": {"name": name}, "spec": {"ports": ports}});
        self.create("/api/v1/namespaces/default/services", &service).await;
        let subsets = json!([{"addresses": [{"ip": "192.0.2.1"}], "ports": ports}]);
        let endpoints = json!({"metadata": {"name": name}, "subsets": subsets});
        self.create("/api/v1/namespaces/default/endpoints", &endpoints).await;
    }

    /// Number of addresses of each Service, in Endpoints and, summed over its slices, in EndpointSlices.
    pub(crate) async fn addresses(&self) -> (BTreeMap<String, usize>, BTreeMap<String, usize>) {
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

    /// Gets an object or another document; `None` if the request fails.
    pub(crate) async fn document(&self, path: &str) -> Option<Value> {
        self.client.get_json(path).await.ok()
    }

    pub(crate) async fn list(&self, path: &str) -> Vec<Value> {
        let list = self.client.get_json(path).await.expect("a list");
        list["items"].as_array().cloned().unwrap_or_default()
    }

    /// Waits until every Service has the expected number of addresses, in Endpoints and EndpointSlices.
    pub(crate) async fn wait_for_addresses(&self, expected: &BTreeMap<String, usize>) {
        let both = (expected.clone(), expected.clone());
        eventually("addresses in Endpoints and in EndpointSlices", &both, || self.addresses()).await;
    }
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
