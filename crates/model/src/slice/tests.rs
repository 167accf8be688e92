use super::*;

const FULL: &str = r#"{
    "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
    "metadata": {
        "name": "web-abcde", "generateName": "web-", "namespace": "shop", "uid": "u-1", "resourceVersion": "42",
        "generation": 3, "creationTimestamp": "2026-02-03T04:00:00Z", "deletionTimestamp": "2026-02-03T05:00:00Z",
        "deletionGracePeriodSeconds": 30, "finalizers": ["example.com/hold"],
        "labels": {"kubernetes.io/service-name": "web"}, "annotations": {"note": "ü"},
        "ownerReferences": [{"apiVersion": "v1", "kind": "Service", "name": "web", "uid": "u-2",
            "controller": true, "blockOwnerDeletion": true}]
    },
    "addressType": "IPv6",
    "endpoints": [{
        "addresses": ["2001:0db8:0:0:0:0:0:1"], "conditions": {"ready": true, "terminating": false},
        "deprecatedTopology": {"kubernetes.io/hostname": "n1"}, "hostname": "h", "nodeName": "n1", "zone": "a",
        "hints": {"forNodes": [{"name": "n1"}], "forZones": [{"name": "a"}]},
        "targetRef": {"apiVersion": "v1", "kind": "Pod", "name": "p", "namespace": "shop", "uid": "u-3",
            "resourceVersion": "7", "fieldPath": "spec"}
    }],
    "ports": [{"name": "", "port": 80, "protocol": "TCP", "appProtocol": "http"}, {"port": null}]
}"#;

#[test]
fn is_written_as_the_full_type() {
    let full: k8s_openapi::api::discovery::v1::EndpointSlice = serde_json::from_str(FULL).unwrap();
    let compact: EndpointSlice = serde_json::from_str(FULL).unwrap();
    assert_eq!(serde_json::to_string(&compact).unwrap(), serde_json::to_string(&full).unwrap());
}

#[test]
fn null_lists_are_empty() {
    let slice: EndpointSlice =
        serde_json::from_str(r#"{"metadata":{},"addressType":"IPv4","endpoints":null,"ports":null}"#).unwrap();
    assert!(slice.endpoints.is_empty() && slice.ports.is_empty());
}
