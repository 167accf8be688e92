//! Evaluation of expectations, and explanations.

use kube_endpoint_model::{Code, well_known::SERVICE_NAME_LABEL};
use rstest::rstest;
use serde_json::json;

use super::{expect::Expectation, explain::explanations};
use crate::{
    cluster::{Snapshot, put},
    view::EndpointCounts,
};

fn shop() -> Snapshot {
    let mut cluster = Snapshot::default();
    let subsets = json!([{"addresses": [{"ip": "10.0.0.1"}]}]);
    put(&mut cluster.endpoints, json!({"metadata": {"name": "web", "namespace": "shop"}, "subsets": subsets}));
    let slice = |name: &str, namespace: &str, family: &str, hint: &str| {
        let labels = json!({SERVICE_NAME_LABEL: "web"});
        let endpoint = json!({
            "addresses": [name],
            "zone": "zone-a",
            "hints": {"forZones": [{"name": hint}]},
        });
        json!({
            "metadata": {"name": name, "namespace": namespace, "labels": labels},
            "addressType": family,
            "endpoints": [endpoint],
        })
    };
    put(&mut cluster.slices, slice("one", "shop", "IPv4", "zone-a"));
    put(&mut cluster.slices, slice("two", "shop", "IPv4", "zone-a"));
    put(&mut cluster.slices, slice("three", "shop", "IPv6", "zone-b"));
    put(&mut cluster.slices, slice("four", "elsewhere", "IPv4", "zone-b"));
    let selector = json!({"selector": {"app": "checkout"}, "clusterIP": "10.96.0.9"});
    put(&mut cluster.services, json!({"metadata": {"name": "checkout", "namespace": "shop"}, "spec": selector}));
    let labels = json!({"app": "check-out"});
    put(&mut cluster.pods, json!({"metadata": {"name": "checkout-1", "namespace": "shop", "labels": labels}}));
    cluster
}

const ONE: EndpointCounts = EndpointCounts { ready: 1, not_ready: 0, draining: 0, terminating: 0 };
const TWO: EndpointCounts = EndpointCounts { ready: 2, ..ONE };

#[rstest]
#[case(Expectation::Endpoints("web", ONE), None)]
#[case(Expectation::Endpoints("web", TWO), Some("Endpoints shop/web: expected 2 ready, found 1 ready"))]
#[case(Expectation::Endpoints("db", ONE), Some("Endpoints shop/db: expected 1 ready, found no such object"))]
#[case(Expectation::Slices("web", "IPv4", TWO), None)]
#[case(Expectation::Slices("web", "IPv6", TWO), Some("IPv6 slices of shop/web: expected 2 ready, found 1 ready"))]
#[case(Expectation::Slices("db", "IPv4", ONE), Some("IPv4 slices of shop/db: expected 1 ready, found none"))]
#[case(
    Expectation::OwnZones("web"),
    Some("endpoints of shop/web without a hint for exactly their own zone: expected 0, found 1")
)]
#[case(Expectation::FirstCause("checkout", Code::PodNotSelected, "app=check-out"), None)]
#[case(
    Expectation::FirstCause("checkout", Code::NoPort, "app=check-out"),
    Some(
        "first cause of shop/checkout: expected EP203 with \"app=check-out\", found EP001 not selected: has \
         app=check-out, selector requires app=checkout (one edit away)"
    )
)]
#[case(
    Expectation::FirstCause("checkout", Code::PodNotSelected, "app=cart"),
    Some(
        "first cause of shop/checkout: expected EP001 with \"app=cart\", found EP001 not selected: has \
         app=check-out, selector requires app=checkout (one edit away)"
    )
)]
#[case(
    Expectation::FirstCause("db", Code::NoPort, "port"),
    Some("first cause of shop/db: expected EP203 with \"port\", found none")
)]
fn unmet_expectations_describe_the_difference(#[case] expectation: Expectation, #[case] expect: Option<&str>) {
    assert_eq!(expectation.unmet(&shop()).as_deref(), expect);
}

/// Returns a cluster with the Service `cart`, whose Pod has a pending readiness gate. Its slice does not exist yet.
fn gated() -> Snapshot {
    let mut cluster = Snapshot::default();
    put(&mut cluster.nodes, json!({"metadata": {"name": "node-a1"}}));
    let ports = json!([{"port": 80, "targetPort": 8080, "protocol": "TCP"}]);
    let service = json!({"selector": {"app": "cart"}, "clusterIP": "10.96.0.9", "ports": ports});
    put(&mut cluster.services, json!({"metadata": {"name": "cart", "namespace": "shop"}, "spec": service}));
    let metadata = json!({"name": "cart-1", "namespace": "shop", "labels": {"app": "cart"}});
    let gates = json!([{"conditionType": "shop.example/prices-loaded"}]);
    let conditions = json!([{"type": "Ready", "status": "False", "lastTransitionTime": "2026-07-01T14:01:55Z"}]);
    let status = json!({"phase": "Running", "podIP": "10.112.1.2", "podIPs": [{"ip": "10.112.1.2"}],
        "conditions": conditions});
    let spec = json!({"nodeName": "node-a1", "containers": [{"name": "cart"}], "readinessGates": gates});
    put(&mut cluster.pods, json!({"metadata": metadata, "spec": spec, "status": status}));
    cluster
}

#[rstest]
#[case::same_day("2026-07-01T15:00:00Z", "14:01:55")]
#[case::another_day("2026-07-02T15:00:00Z", "2026-07-01 14:01:55Z")]
fn explanations_are_indented(#[case] now: &str, #[case] since: &str) {
    let text = explanations(&gated(), &["cart", "missing"], false, now.parse().unwrap());
    let lines: Vec<_> = text.lines().collect();
    let gate = "readiness gate \"shop.example/prices-loaded\" has no condition, all containers are ready";
    let pod = format!("    ✗ cart-1   EP102 not ready since {since}: {gate}");
    assert_eq!(lines[..2], ["  ✗ cart  0 of 1 Pods would serve, no slice", &pod]);
    assert!(lines.iter().all(|line| line.starts_with("  ")), "{text}");
    assert!(!text.contains('\u{1b}') && !text.contains("missing"), "{text}");
}

#[test]
fn explanations_have_colours_on_request() {
    let text = explanations(&gated(), &["cart"], true, "2026-07-01T15:00:00Z".parse().unwrap());
    assert!(text.starts_with("  \u{1b}[31m✗\u{1b}[0m cart"), "{text:?}");
}
