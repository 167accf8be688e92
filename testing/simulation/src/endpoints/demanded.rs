//! Expected endpoints of slices and Endpoints, computed from Services, Pods and Nodes.

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde_json::{Value, json};

use super::Content;
use super::marks::zones;
use super::object::{address, family, is_terminating, items, labels, name, namespace, selector, text, uid};
use super::set::{self, Endpoints, Facts, Key};

/// Returns the Pods that are endpoints of a Service, including terminating ones (PD-1).
fn pods<'a>(service: &'a Value, content: &'a Content) -> impl Iterator<Item = &'a Value> {
    let selected = move |pod: &Value| {
        let Some(selector) = selector(service) else { return false };
        let labels = labels(pod, &[]);
        namespace(pod) == namespace(service) && selector.iter().all(|(key, value)| labels.get(key) == Some(value))
    };
    let finished = |pod: &Value| ["Succeeded", "Failed"].contains(&text(&pod["status"]["phase"]));
    content.pods.iter().filter(move |pod| selected(pod) && !finished(pod) && !addresses(pod).is_empty())
}

fn addresses(pod: &Value) -> Vec<IpAddr> {
    items(&pod["status"]["podIPs"]).iter().filter_map(|it| address(text(&it["ip"]))).collect()
}

fn is_ready(pod: &Value) -> bool {
    let ready = items(&pod["status"]["conditions"]).iter().find(|it| it["type"] == "Ready");
    ready.is_some_and(|condition| condition["status"] == "True")
}

fn publishes_not_ready(service: &Value) -> bool {
    service["spec"]["publishNotReadyAddresses"] == true
}

/// Returns the host name of a Pod within a Service, or `""` (PD-3).
fn hostname<'a>(pod: &'a Value, service: &Value) -> &'a str {
    let is_of_service = text(&pod["spec"]["subdomain"]) == name(service);
    if is_of_service { text(&pod["spec"]["hostname"]) } else { "" }
}

/// Returns the ports of a Service with the target ports of a Pod, without those that the Pod does not serve (PD-4).
fn ports(pod: &Value, service: &Value) -> Vec<String> {
    let all = items(&service["spec"]["ports"]).iter();
    let served = all.filter_map(|port| {
        let protocol = port["protocol"].as_str().unwrap_or("TCP");
        let target = match &port["targetPort"] {
            Value::Null => port["port"].clone(),
            Value::String(named) => named_port(pod, named, protocol)?.clone(),
            number => number.clone(),
        };
        Some(set::port(text(&port["name"]), &target, protocol, &port["appProtocol"]))
    });
    served.collect()
}

fn named_port<'a>(pod: &'a Value, named: &str, protocol: &str) -> Option<&'a Value> {
    let sidecars = items(&pod["spec"]["initContainers"]).iter().filter(|it| it["restartPolicy"] == "Always");
    let mut ports = items(&pod["spec"]["containers"]).iter().chain(sidecars).flat_map(|it| items(&it["ports"]));
    let port = ports.find(|it| it["name"] == *named && it["protocol"].as_str().unwrap_or("TCP") == protocol)?;
    Some(&port["containerPort"])
}

/// Returns the address types of a Service's slices (RC-1).
pub(super) fn address_types(service: &Value) -> BTreeSet<&str> {
    let spec = &service["spec"];
    let families = items(&spec["ipFamilies"]);
    if !families.is_empty() {
        return families.iter().map(text).collect();
    }
    match address(text(&spec["clusterIP"])) {
        Some(ip) => [family(ip)].into(),
        None => ["IPv4", "IPv6"].into(),
    }
}

/// Returns whether the sync of a Service's slices fails because a Pod has no Node, or one that does not exist (RC-11).
pub(super) fn waits_for_node(service: &Value, content: &Content) -> bool {
    !publishes_not_ready(service)
        && pods(service, content).any(|pod| content.node(text(&pod["spec"]["nodeName"])).is_none())
}

/// Returns the endpoints that all slices of a Service together must contain (RC-8 to RC-14).
pub(super) fn slices(service: &Value, content: &Content) -> Endpoints {
    let publish = publishes_not_ready(service);
    let mut endpoints = Endpoints::new();
    for pod in pods(service, content) {
        let node_name = text(&pod["spec"]["nodeName"]);
        let node = content.node(node_name);
        // A Pod without an existing Node is omitted, unless not-ready addresses are published (RC-11).
        if node.is_none() && !publish {
            continue;
        }
        // A Node that is created after the endpoint triggers no sync, so the endpoint may have no zone.
        let unknown = (publish || node.is_none()).then_some(None);
        let (serving, terminating) = (is_ready(pod), is_terminating(pod));
        let ready = publish || (serving && !terminating);
        let ports = set::join(&mut ports(pod, service));
        for address_type in address_types(service) {
            let of_type = addresses(pod).into_iter().filter(|ip| family(*ip) == address_type);
            let of_type: Vec<_> = of_type.map(|ip| ip.to_string()).collect();
            if of_type.is_empty() {
                continue;
            }
            let target = format!("Pod {}", name(pod));
            let key = Key::new(address_type, &ports, &target, &of_type, hostname(pod, service));
            let conditions = json!({ "ready": ready, "serving": serving, "terminating": terminating });
            let facts = Facts {
                shown: format!("{conditions} on {node_name:?}"),
                uid: uid(pod).to_owned(),
                zones: node.map(zones).into_iter().flatten().chain(unknown.clone()).collect(),
            };
            endpoints.insert(key, facts);
        }
    }
    endpoints
}

/// Returns the endpoints that a Service's Endpoints must contain, one key per port (EP-7 to EP-12, EP-24 to EP-27).
pub(super) fn endpoints(service: &Value, content: &Content) -> Endpoints {
    let spec = &service["spec"];
    let publish = publishes_not_ready(service);
    let mut endpoints = Endpoints::new();
    for pod in pods(service, content).filter(|pod| publish || !is_terminating(pod)) {
        let addresses = addresses(pod);
        let wanted = spec["ipFamilies"][0].as_str().or_else(|| address(text(&spec["clusterIP"])).map(family));
        let wanted = wanted.or_else(|| addresses.first().map(|ip| family(*ip)));
        let Some(ip) = addresses.iter().find(|ip| Some(family(**ip)) == wanted) else { continue };
        let mut ports = ports(pod, service);
        if items(&spec["ports"]).is_empty() && spec["clusterIP"] == "None" {
            ports.push(set::join(&mut Vec::new()));
        }
        let ready = if publish || is_ready(pod) { "ready" } else { "not ready" };
        for port in ports {
            let target = format!("Pod {}", name(pod));
            let key = Key::new("", &port, &target, &[ip.to_string()], hostname(pod, service));
            let shown = format!("{ready} on {:?}", text(&pod["spec"]["nodeName"]));
            endpoints.insert(key, Facts { shown, uid: uid(pod).to_owned(), zones: Vec::new() });
        }
    }
    endpoints
}
