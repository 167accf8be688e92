//! Objects of the namespace `shop`, in JSON: Services, their Pods on the Node `n1`, and their slices.

use serde_json::{Value, json};

/// Returns a Service that selects the Pods `app=NAME`, with the port 80 and the targetPort 8080.
pub fn service(name: &str) -> Value {
    json!({"kind": "Service", "metadata": {"namespace": "shop", "name": name},
        "spec": {"clusterIP": "10.96.0.1", "selector": {"app": name}, "ipFamilies": ["IPv4"],
            "ports": [{"port": 80, "targetPort": 8080, "protocol": "TCP"}]}})
}

/// Returns the Pod `APP-NUMBER` with the address `10.1.0.NUMBER`.
pub fn pod(app: &str, number: usize, ready: bool) -> Value {
    let (name, address) = (format!("{app}-{number}"), address(number));
    json!({"kind": "Pod",
        "metadata": {"namespace": "shop", "name": name, "uid": format!("uid-{name}"), "labels": {"app": app}},
        "spec": {"nodeName": "n1"},
        "status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}],
            "conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }}]}})
}

/// Returns the slice `SERVICE-x` of the endpointslice controller.
pub fn slice(service: &str, endpoints: &[Value]) -> Value {
    json!({"kind": "EndpointSlice", "addressType": "IPv4", "endpoints": endpoints,
        "metadata": {"namespace": "shop", "name": format!("{service}-x"), "labels": {
            "kubernetes.io/service-name": service,
            "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"}},
        "ports": [{"name": "", "port": 8080, "protocol": "TCP"}]})
}

/// Returns the endpoint of a Pod in a slice: ready, serving, terminating.
pub fn endpoint(app: &str, number: usize, [ready, serving, terminating]: [bool; 3]) -> Value {
    json!({"addresses": [address(number)], "nodeName": "n1",
        "conditions": {"ready": ready, "serving": serving, "terminating": terminating},
        "targetRef": {"kind": "Pod", "namespace": "shop", "name": format!("{app}-{number}")}})
}

/// Returns the Node `n1`, which is ready.
pub fn node() -> Value {
    json!({"kind": "Node", "metadata": {"name": "n1"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}})
}

fn address(number: usize) -> String {
    format!("10.1.0.{number}")
}
