//! Endpoints found in slices and Endpoints.

use serde_json::{Value, json};

use super::object::{address, items, name, text};
use super::set::{self, Endpoints, Facts, Key};

/// Returns the endpoints of all slices together. Appends a line for each endpoint that occurs twice.
pub(super) fn slices<'a>(
    about: &str,
    slices: impl IntoIterator<Item = &'a Value>,
    lines: &mut Vec<String>,
) -> Endpoints {
    let mut endpoints = Endpoints::new();
    for slice in slices {
        let ports = set::ports(&slice["ports"]);
        for endpoint in items(&slice["endpoints"]) {
            let key = key(text(&slice["addressType"]), &ports, endpoint);
            let facts = Facts {
                shown: format!("{} on {:?}", conditions(endpoint), text(&endpoint["nodeName"])),
                uid: text(&endpoint["targetRef"]["uid"]).to_owned(),
                zones: vec![endpoint["zone"].as_str().map(str::to_owned)],
            };
            let again = format!("{about}: {} at {} twice, also in {}", key.who, key.group, name(slice));
            if endpoints.insert(key, facts).is_some() {
                lines.push(again);
            }
        }
    }
    endpoints
}

/// Returns the identity of an endpoint of a slice.
pub(super) fn key(address_type: &str, ports: &str, endpoint: &Value) -> Key {
    let addresses = items(&endpoint["addresses"]).iter().map(|it| canonical(text(it)));
    let addresses: Vec<_> = addresses.collect();
    Key::new(address_type, ports, &set::target(&endpoint["targetRef"]), &addresses, text(&endpoint["hostname"]))
}

fn canonical(ip: &str) -> String {
    address(ip).map_or_else(|| ip.to_owned(), |ip| ip.to_string())
}

/// Returns the conditions that are set, in a fixed order.
fn conditions(endpoint: &Value) -> Value {
    let mut conditions = json!({});
    for condition in ["ready", "serving", "terminating"] {
        if let Some(value) = endpoint["conditions"][condition].as_bool() {
            conditions[condition] = value.into();
        }
    }
    conditions
}

/// Returns the endpoints of an Endpoints object, with one key per port. Appends a line for each address that occurs
/// twice at a port, for example as ready and as not ready.
pub(super) fn endpoints(about: &str, object: &Value, lines: &mut Vec<String>) -> Endpoints {
    let mut endpoints = Endpoints::new();
    for subset in items(&object["subsets"]) {
        let no_ports = [json!({})];
        let ports = if items(&subset["ports"]).is_empty() { &no_ports } else { items(&subset["ports"]) };
        for (list, ready) in [("addresses", "ready"), ("notReadyAddresses", "not ready")] {
            for (port, entry) in ports.iter().flat_map(|port| items(&subset[list]).iter().map(move |it| (port, it))) {
                let port = if port["port"].is_null() { json!([]) } else { json!([port]) };
                let ip = [canonical(text(&entry["ip"]))];
                let target = set::target(&entry["targetRef"]);
                let key = Key::new("", &set::ports(&port), &target, &ip, text(&entry["hostname"]));
                let shown = format!("{ready} on {:?}", text(&entry["nodeName"]));
                let uid = text(&entry["targetRef"]["uid"]).to_owned();
                let again = format!("{about}: {} at {} twice", key.who, key.group);
                if endpoints.insert(key, Facts { shown, uid, zones: Vec::new() }).is_some() {
                    lines.push(again);
                }
            }
        }
    }
    endpoints
}
