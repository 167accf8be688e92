//! Table rows of Services.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{at, count, list, or, text};

pub(super) const COLUMNS: &str = "Name Type=spec.type Cluster-IP External-IP Port(s) Age Selector+";

pub(super) fn cells(service: &Value, _now: Timestamp) -> Vec<Value> {
    let cluster_ip = list(service, "spec.clusterIPs").first().and_then(Value::as_str).unwrap_or_default();
    vec![
        json!(or(cluster_ip, "<none>")),
        json!(external_ip(service)),
        json!(ports(list(service, "spec.ports"))),
        json!(selector(service)),
    ]
}

fn external_ip(service: &Value) -> String {
    let texts = |values: &[Value]| values.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>();
    let external = texts(list(service, "spec.externalIPs"));
    let joined = |all: Vec<String>, default: &str| if all.is_empty() { default.to_owned() } else { all.join(",") };
    match text(service, "spec.type") {
        "ClusterIP" | "NodePort" => joined(external, "<none>"),
        "ExternalName" => text(service, "spec.externalName").to_owned(),
        "LoadBalancer" => {
            let ingress = list(service, "status.loadBalancer.ingress")
                .iter()
                .map(|ingress| or(text(ingress, "ip"), text(ingress, "hostname")).to_owned());
            joined(ingress.chain(external).collect(), "<pending>")
        }
        _ => "<unknown>".to_owned(),
    }
}

fn ports(ports: &[Value]) -> String {
    if ports.is_empty() {
        return "<none>".to_owned();
    }
    let format_port = |port: &Value| match count(port, "nodePort") {
        0 => format!("{}/{}", count(port, "port"), text(port, "protocol")),
        node_port => format!("{}:{node_port}/{}", count(port, "port"), text(port, "protocol")),
    };
    ports.iter().map(format_port).collect::<Vec<_>>().join(",")
}

fn selector(service: &Value) -> String {
    let pairs = at(service, "spec.selector").and_then(Value::as_object).into_iter().flatten();
    let pairs: Vec<String> =
        pairs.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect();
    or(&pairs.join(","), "<none>").to_owned()
}
