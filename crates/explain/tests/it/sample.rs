//! The sample output in the book and in the README.

use std::sync::Arc;

use kube_endpoint_model::{EndpointSlice, Node, ObjectKey, Part as _, Pod, Service};
use kube_endpoints_explain::{Kind, LastWrite, ObjectRef, PodDetails, Settings, TextStyle, World, text};
use kube_endpoints_testing::repository::text_of;
use kube_wire::Object as _;
use serde_json::{Value, json};

use crate::cluster::Cluster;

fn parsed<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("valid")
}

/// A running Pod on a Node in zone a.
fn pod(name: &str, app: &str, address: &str, port: &str, ready: bool) -> Value {
    let status = |ready| if ready { "True" } else { "False" };
    let condition = |kind: &str, ready| json!({"type": kind, "status": status(ready), "lastTransitionTime": "2026-07-01T14:01:55Z"});
    let conditions = [condition("Ready", ready), condition("ContainersReady", true), condition("lb/attached", ready)];
    json!({"metadata": {"namespace": "shop", "name": name, "labels": {"app": app}},
        "spec": {"nodeName": "node-a", "readinessGates": [{"conditionType": "lb/attached"}],
            "containers": [{"name": "main", "ports": [{"name": port, "containerPort": 8080, "protocol": "TCP"}]}]},
        "status": {"phase": "Running", "podIPs": [{"ip": address}], "conditions": conditions}})
}

fn output() -> String {
    let now = Some("2026-07-01T15:00:00Z".parse().expect("a time"));
    let mut settings = Settings::default();
    settings.now = now;
    let mut cluster = Cluster { settings, ..Cluster::default() };
    let service: Service = parsed(json!({"metadata": {"namespace": "shop", "name": "checkout"},
        "spec": {"selector": {"app": "checkout"}, "ipFamilies": ["IPv4"],
            "ports": [{"port": 80, "targetPort": "http", "protocol": "TCP"}]}}));
    cluster.services.insert(service.key(), service);
    let labels = json!({"topology.kubernetes.io/zone": "a"});
    let node: Node = parsed(json!({"metadata": {"name": "node-a", "labels": labels}}));
    cluster.nodes.insert(node.key(), node);
    let pods = [
        pod("checkout-7d-abc", "checkout", "10.1.2.3", "http", true),
        pod("checkout-7d-def", "checkout", "10.1.2.4", "http", false),
        pod("checkout-7d-ghi", "checkout", "10.1.2.5", "web", true),
        pod("api-5c-jkl", "check-out", "10.1.2.6", "http", true),
    ];
    for value in pods {
        let details = PodDetails::from_json("Pod", value.to_string().as_bytes()).expect("a Pod");
        let pod: Pod = parsed(value);
        cluster.details.insert(pod.key(), details);
        cluster.pods.insert(pod.key(), pod);
    }
    cluster.settle();
    let mut world: World = cluster.world();
    let slices: Vec<Arc<EndpointSlice>> = cluster.slices.values().cloned().map(Arc::new).collect();
    for slice in slices {
        let time = "2026-07-01T14:02:07Z".parse().expect("a time");
        let write = LastWrite { manager: "kube-controller-manager".to_owned(), time };
        world.add_last_write(ObjectRef::new(Kind::EndpointSlice, &slice.key()), write);
    }
    let report = world.service(&ObjectKey::new("shop", "checkout")).expect("the Service");
    text::service(&report, TextStyle { now, ..TextStyle::default() })
}

#[test]
fn the_sample_is_what_is_printed() {
    let output = output();
    assert!(text_of("docs/src/explain.md").contains(&output), "docs/src/explain.md has not:\n{output}");
    let indented = output.trim_end().replace('\n', "\n    ");
    assert!(text_of("README.md").contains(&format!("    {indented}\n")), "README.md has not:\n{output}");
}
