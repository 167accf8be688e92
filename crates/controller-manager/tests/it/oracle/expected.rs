//! The oracle: the expected objects, computed from the specification without the planning and packing of the
//! controllers.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::observed::{Contents, MIRRORING, TRIGGER_TIME, items, with_ports};
use crate::cluster::text;

fn is_ready(pod: &Value) -> bool {
    items(&pod["status"]["conditions"]).find(|it| it["type"] == "Ready").is_some_and(|it| it["status"] == "True")
}

fn selects(service: &Value, pod: &Value) -> bool {
    let selector = service["spec"]["selector"].as_object().expect("a selector");
    selector.iter().all(|(key, value)| pod["metadata"]["labels"][key] == *value)
}

/// Number of the port of a Pod that a Service port targets; `None` if the Pod has no port of that name.
fn target(pod: &Value, port: &Value) -> Option<i64> {
    let target_port = &port["targetPort"];
    let containers = items(&pod["spec"]["containers"]).flat_map(|it| items(&it["ports"]));
    let named = |it: &&Value| it["name"] == *target_port && it["protocol"] == port["protocol"];
    target_port.as_i64().or_else(|| containers.into_iter().find(named)?["containerPort"].as_i64())
}

fn without_nulls(object: Value) -> Value {
    match object {
        Value::Object(fields) => Value::Object(fields.into_iter().filter(|(_, value)| !value.is_null()).collect()),
        other => other,
    }
}

/// Expected Endpoints by name (EP-1, EP-3 to EP-13, EP-15 to EP-18). For Services without selector only their existence is
/// expected: users write their contents.
pub(super) fn endpoints(services: &[Value], pods: &[Value], endpoints: &[Value]) -> BTreeMap<String, Contents> {
    let mut expected = BTreeMap::new();
    for service in services {
        let name = &service["metadata"]["name"];
        if service["spec"]["selector"].is_null() {
            if endpoints.iter().any(|it| it["metadata"]["name"] == *name) {
                expected.insert(text(name), Contents::default());
            }
            continue;
        }
        let mut labels: Map<String, Value> = service["metadata"]["labels"].as_object().cloned().unwrap_or_default();
        labels.insert("endpoints.kubernetes.io/managed-by".into(), "endpoint-controller".into());
        let headless = service["spec"]["clusterIP"] == "None";
        if headless {
            labels.insert("service.kubernetes.io/headless".into(), "".into());
        }
        let mut contents =
            Contents { metadata: vec![Value::Object(labels).to_string(), "null".into()], ..Contents::default() };
        let publish = service["spec"]["publishNotReadyAddresses"] == true;
        for pod in pods.iter().filter(|pod| selects(service, pod)) {
            let finished = pod["status"]["phase"] == "Failed" || pod["status"]["phase"] == "Succeeded";
            let terminating = !pod["metadata"]["deletionTimestamp"].is_null();
            let v6 = service["spec"]["ipFamilies"][0] == "IPv6";
            let ip = items(&pod["status"]["podIPs"]).find(|it| text(&it["ip"]).contains(':') == v6);
            let Some(ip) = ip.filter(|_| !finished && (publish || !terminating)) else { continue };
            let named = !pod["spec"]["hostname"].is_null() && pod["spec"]["subdomain"] == *name;
            let metadata = &pod["metadata"];
            let address = without_nulls(json!({
                "ip": ip["ip"],
                "hostname": if named { pod["spec"]["hostname"].clone() } else { Value::Null },
                "nodeName": pod["spec"]["nodeName"],
                "targetRef": {"kind": "Pod", "namespace": metadata["namespace"], "name": metadata["name"],
                    "uid": metadata["uid"]},
            }));
            let address = json!({"address": address, "ready": publish || is_ready(pod)});
            let ports: Vec<Value> = items(&service["spec"]["ports"])
                .filter_map(|port| {
                    let number = target(pod, port)?;
                    let fields = json!({"name": port["name"], "port": number, "protocol": port["protocol"],
                        "appProtocol": port["appProtocol"]});
                    Some(without_nulls(fields))
                })
                .collect();
            let portless = headless && items(&service["spec"]["ports"]).next().is_none();
            if portless || !ports.is_empty() {
                contents.addresses.extend(with_ports(&address, &Value::Array(ports)));
            }
        }
        contents.addresses.sort();
        expected.insert(text(name), contents);
    }
    expected
}

/// Expected mirrored slices by Service: which Endpoints are mirrored (MI-1, MI-2), their endpoints and ports (MI-7, MI-9),
/// readiness (RP-4), and labels, annotations and owner (MI-19). Endpoints without addresses have no slice (MI-20).
pub(super) fn slices(services: &[Value], endpoints: &[Value]) -> BTreeMap<String, Contents> {
    let mut expected = BTreeMap::new();
    for object in endpoints {
        let metadata = &object["metadata"];
        let service = services.iter().find(|it| it["metadata"]["name"] == metadata["name"]);
        let skipped = metadata["labels"]["endpointslice.kubernetes.io/skip-mirror"] == "true"
            || !metadata["annotations"]["control-plane.alpha.kubernetes.io/leader"].is_null();
        if skipped || service.is_none_or(|it| !it["spec"]["selector"].is_null()) {
            continue;
        }
        // Whether each pair of address and port is ready; one that is both is not ready.
        let mut addresses: BTreeMap<(String, String), bool> = BTreeMap::new();
        for subset in items(&object["subsets"]) {
            for (list, ready) in [("addresses", true), ("notReadyAddresses", false)] {
                for address in items(&subset[list]) {
                    let address = json!({
                        "addresses": address["ip"], "nodeName": address["nodeName"], "hostname": address["hostname"],
                        "family": if text(&address["ip"]).contains(':') { "IPv6" } else { "IPv4" },
                    });
                    for port in with_ports(&Value::Null, &subset["ports"]) {
                        *addresses.entry((without_nulls(address.clone()).to_string(), port)).or_insert(ready) &= ready;
                    }
                }
            }
        }
        if addresses.is_empty() {
            continue;
        }
        let mut labels = metadata["labels"].as_object().cloned().unwrap_or_default();
        labels.insert("kubernetes.io/service-name".into(), metadata["name"].clone());
        labels.insert("endpointslice.kubernetes.io/managed-by".into(), MIRRORING.into());
        let mut annotations = metadata["annotations"].as_object().cloned().unwrap_or_default();
        annotations.remove(TRIGGER_TIME);
        annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
        let annotations = if annotations.is_empty() { Value::Null } else { Value::Object(annotations) };
        let owner = json!([{"apiVersion": "v1", "kind": "Endpoints", "name": metadata["name"], "uid": metadata["uid"],
            "controller": true, "blockOwnerDeletion": true}]);
        let mut contents =
            Contents { metadata: vec![json!([labels, annotations, owner]).to_string()], ..Contents::default() };
        for ((address, port), ready) in addresses {
            let mut endpoint: Value = serde_json::from_str(&address).expect("just written");
            endpoint["conditions"] = json!({"ready": ready});
            let port: Value = serde_json::from_str(&port).expect("just written");
            contents.addresses.push(json!([endpoint, port[1]]).to_string());
        }
        contents.addresses.sort();
        expected.insert(text(&metadata["name"]), contents);
    }
    expected
}
