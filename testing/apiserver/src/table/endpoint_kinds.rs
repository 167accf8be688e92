//! Table rows of Endpoints and EndpointSlices.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{at, list, some_of, text};

pub(super) const SLICE_COLUMNS: &str = "Name AddressType=addressType Ports Endpoints Age";

pub(super) fn endpoints(object: &Value, _now: Timestamp) -> Vec<Value> {
    let mut items = Vec::new();
    for subset in list(object, "subsets") {
        let addresses = list(subset, "addresses").iter().map(|address| text(address, "ip"));
        let ports = list(subset, "ports");
        if ports.is_empty() {
            items.extend(addresses.clone().map(str::to_owned));
        }
        for port in ports {
            let port = at(port, "port").and_then(Value::as_i64).unwrap_or_default();
            items.extend(
                addresses
                    .clone()
                    .map(|ip| if ip.contains(':') { format!("[{ip}]:{port}") } else { format!("{ip}:{port}") }),
            );
        }
    }
    let when_empty = if list(object, "subsets").is_empty() { "<none>" } else { "" };
    vec![json!(some_of(&items, when_empty))]
}

pub(super) fn slice(slice: &Value, _now: Timestamp) -> Vec<Value> {
    let port = |port: &Value| match at(port, "port").and_then(Value::as_i64) {
        Some(number) => number.to_string(),
        // A port without a number means all ports. As upstream, it is shown as its name, which the server sets to an empty
        // text if it is absent.
        None => at(port, "name").and_then(Value::as_str).unwrap_or("*").to_owned(),
    };
    let ports: Vec<String> = list(slice, "ports").iter().map(port).collect();
    let addresses = list(slice, "endpoints").iter().flat_map(|endpoint| list(endpoint, "addresses"));
    let addresses: Vec<String> = addresses.filter_map(Value::as_str).map(str::to_owned).collect();
    vec![json!(some_of(&ports, "<unset>")), json!(some_of(&addresses, "<unset>"))]
}
