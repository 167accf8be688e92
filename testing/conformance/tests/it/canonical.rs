//! The canonical form of listed objects.

use kube_endpoints_conformance::{Kind, Owners, Snapshot, canonical, text};
use rstest::rstest;
use serde_json::{Value, json};

const NAMESPACE: &str = "replay-x7k2p";

fn owners() -> Owners {
    let mut owners = Owners::default();
    owners.observe(Kind::Service, &[json!({ "metadata": { "name": "web", "uid": "uid-of-web" } })]);
    owners
}

fn slice(object: Value) -> Value {
    let observed = Snapshot { slices: vec![object], ..Snapshot::default() };
    canonical(&observed, NAMESPACE, &owners()).slices.remove(0)
}

#[rstest]
#[case::generated("web", "web-x7k2p", "web-*")]
#[case::given("web", "imposter", "imposter")]
#[case::another_service("other", "web-x7k2p", "web-x7k2p")]
#[case::too_long("web", "web-x7k2pq", "web-x7k2pq")]
#[case::never_generated("web", "web-abcde", "web-abcde")]
#[case::no_dash("web", "webx7k2p5", "webx7k2p5")]
fn names(#[case] service: &str, #[case] name: &str, #[case] expect: &str) {
    let metadata = json!({ "name": name, "labels": { "kubernetes.io/service-name": service } });
    assert_eq!(slice(json!({ "metadata": metadata, "addressType": "IPv4" }))["name"], expect);
}

#[test]
fn a_slice() {
    let target = json!({ "kind": "Pod", "namespace": NAMESPACE, "name": "p1", "uid": "1-2-3", "resourceVersion": "7" });
    let form = slice(json!({
        "kind": "EndpointSlice",
        "metadata": {
            "name": "web-x7k2p",
            "namespace": NAMESPACE,
            "generateName": "web-",
            "uid": "u",
            "generation": 3,
            "labels": { "kubernetes.io/service-name": "web" },
            "annotations": {},
            "ownerReferences": [{ "kind": "Service", "name": "web", "uid": "uid-of-web" }, { "kind": "Service", "uid": "?" }],
        },
        "addressType": "IPv4",
        "endpoints": [
            { "addresses": ["10.0.0.2"], "conditions": { "ready": true }, "zone": null },
            { "addresses": ["10.0.0.1"], "targetRef": target },
        ],
        "ports": null,
    }));
    let expect = json!({
        "name": "web-*",
        "labels": { "kubernetes.io/service-name": "web" },
        "ownerReferences": [{ "kind": "Service", "name": "web", "uid": "Service/web" }, { "kind": "Service", "uid": "<gone>" }],
        "addressType": "IPv4",
        "endpoints": [
            { "addresses": ["10.0.0.1"], "targetRef": { "kind": "Pod", "namespace": "<ns>", "name": "p1", "uid": "Pod/p1" } },
            { "addresses": ["10.0.0.2"], "conditions": { "ready": true } },
        ],
        "ports": [],
    });
    assert_eq!(form, expect);
}

#[test]
fn endpoints() {
    let target = json!({ "kind": "Pod", "namespace": "elsewhere", "name": "p1" });
    let subsets = json!([
        { "addresses": [{ "ip": "10.0.0.2" }, { "ip": "10.0.0.1", "targetRef": target }], "ports": [{ "port": 2 }, { "port": 1 }] },
        { "addresses": null, "notReadyAddresses": [{ "ip": "10.0.0.3" }] },
    ]);
    let objects = vec![
        json!({ "metadata": { "name": "web" }, "subsets": subsets }),
        json!({ "metadata": { "name": "api", "labels": { "a": "b" } }, "subsets": null }),
    ];
    let observed = Snapshot { endpoints: objects, ..Snapshot::default() };
    let target = json!({ "kind": "Pod", "namespace": "<ns>", "name": "p1" });
    let subsets = json!([
        { "addresses": [{ "ip": "10.0.0.1", "targetRef": target }, { "ip": "10.0.0.2" }], "ports": [{ "port": 1 }, { "port": 2 }] },
        { "notReadyAddresses": [{ "ip": "10.0.0.3" }] },
    ]);
    let expect =
        [json!({ "name": "api", "labels": { "a": "b" }, "subsets": [] }), json!({ "name": "web", "subsets": subsets })];
    assert_eq!(canonical(&observed, NAMESPACE, &owners()).endpoints, expect);
}

#[test]
fn events() {
    let event = |component: &str, message: &str| {
        json!({
            "metadata": { "name": "web.18f" },
            "involvedObject": { "kind": "Service", "namespace": NAMESPACE, "name": "web", "uid": "u" },
            "type": "Warning", "reason": "Failed", "message": message, "count": 3,
            "source": { "component": component },
        })
    };
    let events = vec![
        event("endpoint-slice-controller", &format!("Service {NAMESPACE}/web")),
        event("kubelet", "not ours"),
        event("endpoint-controller", "x"),
        event("endpoint-controller", "x"),
    ];
    let observed = Snapshot { events, ..Snapshot::default() };
    let expect = [
        json!(["Service", "web", "Warning", "Failed", "Service <ns>/web", "endpoint-slice-controller"]),
        json!(["Service", "web", "Warning", "Failed", "x", "endpoint-controller"]),
    ];
    assert_eq!(canonical(&observed, NAMESPACE, &owners()).events, expect);
}

#[test]
fn text_has_its_keys_in_order() {
    let value: Value = serde_json::from_str(r#"{"b": [1, {"d": null, "c": "\""}], "a": {}}"#).expect("valid JSON");
    assert_eq!(text(&value), r#"{"a":{},"b":[1,{"c":"\"","d":null}]}"#);
}
