//! The objects of a namespace before its incident.

use serde_json::{Value, json};

/// Namespace of an incident; the other objects are those of the namespace.
pub(super) fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

pub(super) fn node(name: &str, zone: Option<&str>, is_ready: bool) -> Value {
    let labels = match zone {
        Some(zone) => json!({"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}),
        None => json!({"kubernetes.io/hostname": name}),
    };
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": {"cpu": "4"}, "conditions": [ready(is_ready)]}})
}

/// The Service `web` of the Pods `app=web`, with one port, `http`.
pub(super) fn service() -> Value {
    let port = json!({"name": "http", "port": 80, "targetPort": "http"});
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
        "spec": {"selector": {"app": "web"}, "ports": [port]}})
}

/// The same without a selector.
pub(super) fn custom_service() -> Value {
    with(service(), "/spec", &json!({"selector": null}))
}

/// Endpoints of `web` that a user or a program writes.
pub(super) fn endpoints(ready: &[&str]) -> Value {
    let addresses: Vec<Value> = ready.iter().map(|ip| json!({"ip": ip})).collect();
    json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "web"}, "subsets": subsets(&addresses)})
}

pub(super) fn subsets(addresses: &[Value]) -> Value {
    json!([{"addresses": addresses, "ports": [{"name": "http", "port": 8080}]}])
}

/// A slice of `web` that another program manages.
pub(super) fn slice(name: &str, address: &str, pod: Option<&str>) -> Value {
    let target = pod.map(|pod| json!({"kind": "Pod", "name": pod}));
    json!({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": {"name": name, "labels": {
            "kubernetes.io/service-name": "web", "endpointslice.kubernetes.io/managed-by": "mesh.example.com"}},
        "endpoints": [{"addresses": [address], "conditions": {"ready": true}, "targetRef": target}],
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}]})
}

/// The Pod `web-NUMBER` with the address `10.1.0.NUMBER` on the Node `n1`.
pub(super) fn pod(number: usize) -> Value {
    let ports = json!([{"name": "http", "containerPort": 8080}, {"name": "metrics", "containerPort": 9090}]);
    let spec =
        json!({"nodeName": "n1", "containers": [{"name": "main", "image": "registry.example/app:1", "ports": ports}]});
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("web-{number}"), "labels": {"app": "web"}},
        "spec": spec, "status": running(&format!("10.1.0.{number}"))})
}

pub(super) fn pod_on(node: &str, number: usize) -> Value {
    with(pod(number), "/spec", &json!({"nodeName": node}))
}

pub(super) fn running(address: &str) -> Value {
    json!({"phase": "Running", "podIP": address, "podIPs": [{"ip": address}], "conditions": [ready(true)]})
}

pub(super) fn ready(is_ready: bool) -> Value {
    json!({"type": "Ready", "status": if is_ready { "True" } else { "False" }})
}

/// Returns an object with fields of a part merged into it.
pub(super) fn with(mut object: Value, pointer: &str, fields: &Value) -> Value {
    let part = object.pointer_mut(pointer).and_then(Value::as_object_mut).expect("the part");
    for (name, value) in fields.as_object().expect("fields") {
        part.insert(name.clone(), value.clone());
    }
    object
}
