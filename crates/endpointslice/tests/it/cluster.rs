//! Embedded API server with a client.

use std::collections::BTreeMap;

use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::Server;
use serde_json::{Value, json};

/// Embedded API server and a client for it.
pub(crate) struct Cluster {
    pub(crate) server: Server,
    pub(crate) client: Client,
}

impl Cluster {
    pub(crate) async fn start() -> Cluster {
        Cluster::with(kube_dev_apiserver::Config::default()).await
    }

    pub(crate) async fn with(config: kube_dev_apiserver::Config) -> Cluster {
        let server = Server::start(config).await.expect("the server starts");
        let url = server.url();
        Cluster::of(server, &Config::from_url(&url).expect("a valid URL"))
    }

    /// Without sockets, for paused time.
    pub(crate) fn in_process() -> Cluster {
        let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("no initial objects");
        let config = Config::from_service(server.service());
        Cluster::of(server, &config)
    }

    fn of(server: Server, config: &Config) -> Cluster {
        let client = Client::new(config, ClientOptions { qps: 0.0, ..ClientOptions::default() });
        Cluster { server, client: client.expect("a valid configuration") }
    }

    pub(crate) async fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let content = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let method = method.parse().expect("a method");
        let bytes = serde_json::to_vec(body).expect("JSON");
        let (status, answer) = self.client.raw(method, path, Some(content), bytes).await.expect("an answer");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(status.is_success(), "{path}: {status} {answer}");
        serde_json::from_str(&answer).expect("JSON")
    }

    pub(crate) async fn create(&self, path: &str, object: Value) -> Value {
        self.call("POST", path, &object).await
    }

    fn load(&self, object: Value) {
        self.server.load([object]).expect("a valid object");
    }

    pub(crate) fn node(&self, name: &str, zone: &str) {
        let labels = json!({"topology.kubernetes.io/zone": zone});
        self.load(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}));
    }

    pub(crate) fn pod(&self, name: &str, app: &str, node: &str, address: &str, annotations: Value) {
        let mut metadata = json!({"name": name, "namespace": "default", "labels": {"app": app}});
        metadata["annotations"] = annotations;
        let container = json!({"name": "main", "image": "registry.example/app:1"});
        let spec = json!({"nodeName": node, "containers": [container]});
        let ready = json!({"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"});
        let status = json!({"podIP": address, "podIPs": [{"ip": address}], "conditions": [ready], "phase": "Running"});
        self.load(json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}));
    }

    /// Creates a Service in the namespace `default` with the target port 8080.
    pub(crate) fn service(&self, name: &str, selector: Value, annotations: Value) {
        let ports = json!([{"name": "http", "port": 80, "targetPort": 8080}]);
        let mut metadata = json!({"name": name, "namespace": "default"});
        metadata["annotations"] = annotations;
        let mut spec = json!({"ports": ports});
        spec["selector"] = selector;
        self.load(json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}));
    }

    pub(crate) async fn slices(&self, controller: &str) -> Vec<Value> {
        let path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
        let list = self.client.get_json(path).await.expect("a list");
        let mut slices = list["items"].as_array().cloned().expect("items");
        slices.retain(|slice| slice["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"] == controller);
        slices
    }

    /// Returns the number of occurrences in these slices of each address with its readiness, for instance
    /// `10.1.0.1 true`.
    pub(crate) async fn addresses(&self, controller: &str) -> BTreeMap<String, usize> {
        let mut addresses = BTreeMap::new();
        for slice in self.slices(controller).await {
            for endpoint in slice["endpoints"].as_array().into_iter().flatten() {
                let address = endpoint["addresses"][0].as_str().expect("an address");
                *addresses.entry(format!("{address} {}", endpoint["conditions"]["ready"])).or_default() += 1;
            }
        }
        addresses
    }
}

/// Returns addresses with their readiness, each occurring once.
pub(crate) fn once(addresses: &[&str]) -> BTreeMap<String, usize> {
    addresses.iter().map(|address| ((*address).to_owned(), 1)).collect()
}
