//! Services, Endpoints, Pods and Nodes that scenarios create.

use serde_json::{Value, json};

use crate::Kind;

/// A Pod to create, which is ready.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pod<'a> {
    pub(crate) namespace: &'a str,
    /// Name of the Service that selects it.
    pub(crate) service: &'a str,
    pub(crate) name: &'a str,
    pub(crate) ip: &'a str,
    pub(crate) node: &'a str,
}

/// Returns a Service that selects the Pods whose label `app` is its name.
pub(crate) fn service(namespace: &str, name: &str) -> (Kind, Value) {
    let spec = json!({"selector": {"app": name}, "ports": [{"name": "http", "port": 80}]});
    (Kind::Service, json!({"metadata": {"namespace": namespace, "name": name}, "spec": spec}))
}

/// Returns a Service without a selector, and its custom Endpoints with these ready addresses.
pub(crate) fn own(namespace: &str, name: &str, addresses: &[&str]) -> [(Kind, Value); 2] {
    let metadata = json!({"namespace": namespace, "name": name});
    let ports = json!([{"name": "http", "port": 80}]);
    [
        (Kind::Service, json!({"metadata": metadata, "spec": {"ports": ports}})),
        (Kind::Endpoints, json!({"metadata": metadata, "subsets": subsets(addresses)})),
    ]
}

pub(crate) fn pod(pod: Pod<'_>) -> (Kind, Value) {
    let Pod { namespace, service, name, ip, node } = pod;
    let spec = json!({"nodeName": node, "containers": [{"name": "main", "image": "app:1"}]});
    let status = json!({"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}],
        "conditions": [{"type": "Ready", "status": "True"}]});
    let metadata = json!({"namespace": namespace, "name": name, "labels": {"app": service}});
    (Kind::Pod, json!({"metadata": metadata, "spec": spec, "status": status}))
}

pub(crate) fn node(name: &str) -> (Kind, Value) {
    (Kind::Node, json!({"metadata": {"name": name}}))
}

/// Returns the subsets of an Endpoints object with these ready addresses.
pub(crate) fn subsets(addresses: &[&str]) -> Value {
    let addresses: Vec<_> = addresses.iter().map(|ip| json!({"ip": ip})).collect();
    json!([{"addresses": addresses, "ports": [{"name": "http", "port": 80}]}])
}
