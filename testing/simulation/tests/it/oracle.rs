//! The oracle with hand-written content: one that is correct, and variants with one difference each.

use kube_simulation::endpoints::{Content, differences, write_violation};
use rstest::rstest;
use serde_json::{Value, json};

const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const SERVICE_NAME: &str = "kubernetes.io/service-name";

fn pod(name: &str, ip: &str, ready: bool) -> Value {
    let status = if ready { "True" } else { "False" };
    json!({
        "metadata": { "namespace": "shop", "name": name, "uid": name, "labels": { "app": "web" } },
        "spec": {
            "nodeName": "n",
            "containers": [{ "name": "main", "ports": [{ "name": "http", "containerPort": 8080 }] }],
        },
        "status": { "podIPs": [{ "ip": ip }], "conditions": [{ "type": "Ready", "status": status }] },
    })
}

fn endpoint(name: &str, ip: &str, ready: bool) -> Value {
    json!({
        "addresses": [ip],
        "conditions": { "ready": ready, "serving": ready, "terminating": false },
        "nodeName": "n",
        "zone": "a",
        "targetRef": { "kind": "Pod", "namespace": "shop", "name": name, "uid": name },
    })
}

fn slice(name: &str, manager: &str, owner: (&str, &str, &str), endpoints: &Value, port: u16) -> Value {
    let (kind, service, uid) = owner;
    json!({
        "metadata": {
            "namespace": "shop", "name": name, "uid": name,
            "labels": { MANAGED_BY: manager, SERVICE_NAME: service, "team": "blue" },
            "ownerReferences": [{ "apiVersion": "v1", "kind": kind, "name": service, "uid": uid }],
        },
        "addressType": "IPv4",
        "endpoints": endpoints,
        "ports": [{ "name": "http", "port": port, "protocol": "TCP" }],
    })
}

/// A Service with a ready and an unready Pod, and one without a selector whose Endpoints are mirrored.
fn content() -> Content {
    let service = |name: &str, selector: Value| {
        let ports = json!([{ "name": "http", "port": 80, "protocol": "TCP", "targetPort": "http" }]);
        json!({
            "metadata": { "namespace": "shop", "name": name, "uid": name, "labels": { "team": "blue" } },
            "spec": { "selector": selector, "ports": ports, "clusterIP": "10.96.0.1", "ipFamilies": ["IPv4"] },
        })
    };
    let address = |name: &str, ip: &str| json!({ "ip": ip, "nodeName": "n", "targetRef": { "kind": "Pod", "name": name, "uid": name } });
    let ports = |port: u16| json!([{ "name": "http", "port": port, "protocol": "TCP" }]);
    let of_pods = json!([endpoint("p1", "10.0.0.1", true), endpoint("p2", "10.0.0.2", false)]);
    let custom = json!([{ "addresses": ["10.9.9.9"], "conditions": { "ready": true } }]);
    Content {
        services: vec![service("web", json!({ "app": "web" })), service("own", Value::Null)],
        pods: vec![pod("p1", "10.0.0.1", true), pod("p2", "10.0.0.2", false)],
        nodes: vec![json!({ "metadata": { "name": "n", "labels": { "topology.kubernetes.io/zone": "a" } } })],
        endpoints: vec![
            json!({
                "metadata": {
                    "namespace": "shop", "name": "web",
                    "labels": { "team": "blue", "endpoints.kubernetes.io/managed-by": "endpoint-controller" },
                },
                "subsets": [{
                    "addresses": [address("p1", "10.0.0.1")], "notReadyAddresses": [address("p2", "10.0.0.2")],
                    "ports": ports(8080),
                }],
            }),
            json!({
                "metadata": { "namespace": "shop", "name": "own", "uid": "e", "labels": { "team": "blue" } },
                "subsets": [{ "addresses": [{ "ip": "10.9.9.9" }], "ports": ports(90) }],
            }),
        ],
        slices: vec![
            slice("web-1", "endpointslice-controller.k8s.io", ("Service", "web", "web"), &of_pods, 8080),
            slice("own-1", "endpointslicemirroring-controller.k8s.io", ("Endpoints", "own", "e"), &custom, 90),
        ],
    }
}

#[test]
fn agrees() {
    assert_eq!(differences(&content(), 2), [""; 0]);
}

#[rstest]
// Membership.
#[case::missing(|it: &mut Content| it.pods.push(pod("p3", "10.0.0.3", true)), "slices: Pod p3 (10.0.0.3) is missing at IPv4 http:8080/TCP")]
#[case::missing_in_endpoints(|it: &mut Content| it.pods.push(pod("p3", "10.0.0.3", true)), "Endpoints: Pod p3 (10.0.0.3) is missing at http:8080/TCP")]
#[case::deleted(|it: &mut Content| drop(it.pods.remove(0)), "Endpoints: Pod p1 (10.0.0.1) should not be at http:8080/TCP: found ready")]
#[case::relabelled(|it: &mut Content| it.pods[0]["metadata"]["labels"] = json!({ "app": "db" }), "slices: Pod p1 (10.0.0.1) should not be")]
#[case::finished(|it: &mut Content| it.pods[0]["status"]["phase"] = "Failed".into(), "slices: Pod p1 (10.0.0.1) should not be")]
#[case::without_ip(|it: &mut Content| it.pods[0]["status"]["podIPs"] = Value::Null, "slices: Pod p1 (10.0.0.1) should not be")]
#[case::other_ip(|it: &mut Content| it.pods[0]["status"]["podIPs"] = json!([{ "ip": "10.0.0.7" }]), "Pod p1 (10.0.0.7) is missing")]
#[case::unknown_node(|it: &mut Content| drop(it.nodes.remove(0)), "slices: Pod p1 (10.0.0.1) should not be")]
#[case::recreated(|it: &mut Content| it.pods[0]["metadata"]["uid"] = "new".into(), "expected target uid new, found p1")]
// Properties of endpoints.
#[case::unready(|it: &mut Content| it.pods[0]["status"]["conditions"] = Value::Null, r#"expected {"ready":false,"serving":false,"#)]
#[case::terminating(|it: &mut Content| it.pods[0]["metadata"]["deletionTimestamp"] = "2026".into(), r#"expected {"ready":false,"serving":true,"terminating":true} on "n", found"#)]
#[case::terminating_in_endpoints(|it: &mut Content| it.pods[0]["metadata"]["deletionTimestamp"] = "2026".into(), "Endpoints: Pod p1 (10.0.0.1) should not be")]
#[case::published(|it: &mut Content| it.services[0]["spec"]["publishNotReadyAddresses"] = true.into(), r#"Pod p2 (10.0.0.2) at IPv4 http:8080/TCP: expected {"ready":true,"serving":false,"#)]
#[case::zone(|it: &mut Content| it.nodes[0]["metadata"]["labels"] = json!({}), r#"expected zone [None], found [Some("a")]"#)]
#[case::hostname(|it: &mut Content| { it.pods[0]["spec"]["hostname"] = "h".into(); it.pods[0]["spec"]["subdomain"] = "web".into(); }, "Pod p1 (10.0.0.1) as h is missing")]
// Ports and address families.
#[case::number(|it: &mut Content| it.services[0]["spec"]["ports"][0]["targetPort"] = 81.into(), "is missing at IPv4 http:81/TCP")]
#[case::not_served(|it: &mut Content| it.pods[0]["spec"]["containers"] = json!([]), "Pod p1 (10.0.0.1) is missing at IPv4 no ports")]
#[case::app_protocol(|it: &mut Content| it.services[0]["spec"]["ports"][0]["appProtocol"] = "h2c".into(), "at IPv4 http:8080/TCP(h2c)")]
#[case::family(|it: &mut Content| it.services[0]["spec"]["ipFamilies"] = json!(["IPv4", "IPv6"]), "web slices: none has address type IPv6")]
#[case::other_family(|it: &mut Content| it.services[0]["spec"]["ipFamilies"] = json!(["IPv6"]), r#"web-1 has address type "IPv4", which the Service does not have"#)]
// Slices.
#[case::twice(|it: &mut Content| { let again = it.slices[0].clone(); it.slices.push(again); }, "Pod p1 (10.0.0.1) at IPv4 http:8080/TCP twice, also in web-1")]
#[case::too_many(|it: &mut Content| it.slices[0]["endpoints"].as_array_mut().unwrap().push(endpoint("p3", "10.0.0.3", true)), "web-1 has 3 endpoints, which is more than 2")]
#[case::owner(|it: &mut Content| it.services[0]["metadata"]["uid"] = "new".into(), "web-1 is not owned by the Service")]
#[case::labels(|it: &mut Content| it.services[0]["metadata"]["labels"] = json!({}), r#"web-1: expected labels {}, found {"team": "blue"}"#)]
#[case::left(|it: &mut Content| drop(it.services.remove(0)), "web slices: web-1 belongs to a Service that does not exist")]
#[case::disowned(|it: &mut Content| it.slices[0]["metadata"]["labels"][MANAGED_BY] = "other".into(), "web slices: none has address type IPv4")]
// Endpoints.
#[case::no_endpoints(|it: &mut Content| drop(it.endpoints.remove(0)), "web Endpoints: missing")]
#[case::left_endpoints(|it: &mut Content| drop(it.services.remove(0)), "web Endpoints: belong to a Service that does not exist")]
#[case::truncated(|it: &mut Content| it.endpoints[0]["metadata"]["annotations"] = json!({ "endpoints.kubernetes.io/over-capacity": "truncated" }), "marked as truncated")]
#[case::endpoint_labels(|it: &mut Content| it.endpoints[0]["metadata"]["labels"]["x"] = "y".into(), "web Endpoints: expected labels")]
// Mirroring.
#[case::custom_added(|it: &mut Content| it.endpoints[1]["subsets"][0]["addresses"] = json!([{ "ip": "10.9.9.9" }, { "ip": "10.9.9.8" }]), "own mirrored slices: (10.9.9.8) is missing at IPv4 http:90/TCP")]
#[case::custom_unready(|it: &mut Content| it.endpoints[1]["subsets"][0]["notReadyAddresses"] = json!([{ "ip": "10.9.9.9" }]), r#"expected {"ready":false}"#)]
#[case::skipped(|it: &mut Content| it.endpoints[1]["metadata"]["labels"]["endpointslice.kubernetes.io/skip-mirror"] = "true".into(), "own-1 mirrors Endpoints that do not exist or must not be mirrored")]
#[case::leader(|it: &mut Content| it.endpoints[1]["metadata"]["annotations"]["control-plane.alpha.kubernetes.io/leader"] = "{}".into(), "own-1 mirrors Endpoints that do not exist or must not be mirrored")]
#[case::no_service(|it: &mut Content| drop(it.services.remove(1)), "own-1 mirrors Endpoints that do not exist or must not be mirrored")]
#[case::selector(|it: &mut Content| it.services[1]["spec"]["selector"] = json!({ "app": "x" }), "own-1 mirrors Endpoints that do not exist or must not be mirrored")]
#[case::custom_labels(|it: &mut Content| it.endpoints[1]["metadata"]["labels"] = json!({}), "own-1: expected labels {}")]
#[case::custom_annotations(|it: &mut Content| it.endpoints[1]["metadata"]["annotations"] = json!({ "a": "b" }), r#"own-1: expected annotations {"a": "b"}"#)]
#[case::custom_owner(|it: &mut Content| it.endpoints[1]["metadata"]["uid"] = "new".into(), "own-1 is not owned by the Endpoints")]
fn differs(#[case] change: fn(&mut Content), #[case] expected: &str) {
    let mut content = content();
    change(&mut content);
    let found = differences(&content, 2);
    assert!(found.iter().any(|line| line.contains(expected) && line.starts_with("shop/")), "{found:#?}");
}

#[rstest]
#[case::selector_removed(|it: &mut Content| { it.services[0]["spec"]["selector"] = Value::Null; it.endpoints.remove(0); })]
#[case::external_name(|it: &mut Content| { it.services[0]["spec"]["type"] = "ExternalName".into(); it.pods.clear(); })]
#[case::foreign_slice(|it: &mut Content| { let mut other = it.slices[0].clone(); other["metadata"]["labels"][MANAGED_BY] = "x".into(); it.slices.push(other); })]
#[case::slice_going(|it: &mut Content| { let mut other = it.slices[0].clone(); other["metadata"]["deletionTimestamp"] = "2026".into(); it.slices.push(other); })]
#[case::edited_by_user(|it: &mut Content| { it.endpoints[0]["metadata"]["labels"]["example.com/edited"] = "true".into(); it.endpoints[0]["subsets"] = json!([]); })]
#[case::former_zone(|it: &mut Content| it.nodes[0]["metadata"] = json!({ "name": "n", "labels": { "topology.kubernetes.io/zone": "b" }, "annotations": { "example.com/zone.a": "" } }))]
#[case::headless_label(|it: &mut Content| it.slices[0]["metadata"]["labels"]["service.kubernetes.io/headless"] = "".into())]
#[case::packed_otherwise(|it: &mut Content| {
    let mut other = it.slices[0].clone();
    other["metadata"]["name"] = "web-2".into();
    let moved = it.slices[0]["endpoints"].as_array_mut().unwrap().remove(0);
    other["endpoints"] = json!([moved]);
    it.slices.push(other);
})]
#[case::endpoints_packed_otherwise(|it: &mut Content| {
    let subset = it.endpoints[0]["subsets"][0].clone();
    let part = |list: &str| json!({ list: subset[list], "ports": subset["ports"] });
    it.endpoints[0]["subsets"] = json!([part("addresses"), part("notReadyAddresses")]);
})]
fn leaves_alone(#[case] change: fn(&mut Content)) {
    let mut content = content();
    change(&mut content);
    assert_eq!(differences(&content, 2), [""; 0]);
}

/// Modifies the object before and the object after a write.
type Change = fn(&mut Value, &mut Value);

#[rstest]
#[case::slice("endpointslices", 0, |_: &mut Value, _: &mut Value| {}, None)]
#[case::mirrored("endpointslices", 1, |_: &mut Value, _: &mut Value| {}, None)]
#[case::endpoints("endpoints", 0, |_: &mut Value, _: &mut Value| {}, None)]
#[case::foreign("endpointslices", 0, |before: &mut Value, _: &mut Value| before["metadata"]["labels"][MANAGED_BY] = "x".into(), Some(r#"written, but managed by Some("x")"#))]
#[case::service("endpointslices", 0, |before: &mut Value, _: &mut Value| before["metadata"]["labels"][SERVICE_NAME] = "x".into(), Some(r#"changed from Some("x") to Some("web")"#))]
#[case::owner("endpointslices", 0, |_: &mut Value, after: &mut Value| after["metadata"]["ownerReferences"] = json!([]), Some("not owned by any version of Service web"))]
#[case::family("endpointslices", 0, |_: &mut Value, after: &mut Value| after["addressType"] = "IPv6".into(), Some("are not of the type IPv6"))]
#[case::twice("endpointslices", 0, |_: &mut Value, after: &mut Value| after["endpoints"][1] = after["endpoints"][0].clone(), Some("Pod p1 (10.0.0.1) occurs twice"))]
#[case::custom("endpoints", 1, |_: &mut Value, _: &mut Value| {}, Some("there is no Service with a selector"))]
#[case::annotation("endpoints", 0, |before: &mut Value, _: &mut Value| before["metadata"]["annotations"] = json!({ "a": "b" }), Some("annotations were changed"))]
#[case::finalizer("endpoints", 0, |before: &mut Value, _: &mut Value| before["metadata"]["finalizers"] = json!(["a"]), Some("finalizers were changed"))]
#[case::kind("pods", 0, |_: &mut Value, _: &mut Value| {}, Some("no controller writes this kind"))]
fn writes(#[case] resource: &str, #[case] index: usize, #[case] change: Change, #[case] expected: Option<&str>) {
    let content = content();
    let objects = if resource == "endpointslices" { &content.slices } else { &content.endpoints };
    let (mut before, mut after) = (objects[index].clone(), objects[index].clone());
    change(&mut before, &mut after);
    let found = write_violation(Some(&before), Some(&after), resource, &content.services, &content.endpoints);
    match expected {
        Some(expected) => assert!(found.as_ref().is_some_and(|line| line.contains(expected)), "{found:?}"),
        None => assert_eq!(found, None),
    }
}
