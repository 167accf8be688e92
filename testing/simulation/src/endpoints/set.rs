//! Comparable and printable sets of endpoints.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::object::{items, text};

/// Set of endpoints, by identity.
pub(super) type Endpoints = BTreeMap<Key, Facts>;

/// Identity of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    /// Target, addresses and host name.
    pub(super) who: String,
    /// Address type, if any, and ports.
    pub(super) group: String,
}

/// Other properties of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    /// Conditions and Node, formatted.
    pub(super) shown: String,
    /// The uid of the target.
    pub(super) uid: String,
    /// The zone of an endpoint that was found, or the zones that an expected endpoint may have.
    pub(super) zones: Vec<Option<String>>,
}

impl Key {
    pub(super) fn new(address_type: &str, ports: &str, target: &str, addresses: &[String], hostname: &str) -> Self {
        let mut who = if target.is_empty() { String::new() } else { format!("{target} ") };
        let _ = write!(who, "({})", addresses.join(", "));
        if !hostname.is_empty() {
            let _ = write!(who, " as {hostname}");
        }
        let group = [address_type, ports].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ");
        Self { who, group }
    }
}

/// Formats a target reference, such as `Pod web-1`.
pub(super) fn target(reference: &Value) -> String {
    if reference.is_null() {
        return String::new();
    }
    format!("{} {}", text(&reference["kind"]), text(&reference["name"]))
}

/// Formats a port, such as `http:80/TCP`, or `http:80/TCP(h2c)` if it has an application protocol.
pub(super) fn port(port_name: &str, number: &Value, protocol: &str, app_protocol: &Value) -> String {
    let mut shown = format!("{port_name}:{number}/{protocol}");
    if let Some(app_protocol) = app_protocol.as_str() {
        let _ = write!(shown, "({app_protocol})");
    }
    shown
}

/// Formats the ports of a slice or subset, sorted.
pub(super) fn ports(list: &Value) -> String {
    let mut shown: Vec<_> = items(list)
        .iter()
        .map(|it| port(text(&it["name"]), &it["port"], it["protocol"].as_str().unwrap_or("TCP"), &it["appProtocol"]))
        .collect();
    join(&mut shown)
}

/// Joins formatted ports, sorted and without duplicates.
pub(super) fn join(ports: &mut Vec<String>) -> String {
    ports.sort();
    ports.dedup();
    if ports.is_empty() { "no ports".to_owned() } else { ports.join(",") }
}

/// Compares endpoints and appends a line for each difference.
pub(super) fn compare(about: &str, expected: &Endpoints, found: &Endpoints, lines: &mut Vec<String>) {
    for (key, want) in expected {
        let Key { who, group } = key;
        let Some(have) = found.get(key) else {
            lines.push(format!("{about}: {who} is missing at {group}: expected {}", want.shown));
            continue;
        };
        if want.shown != have.shown {
            lines.push(format!("{about}: {who} at {group}: expected {}, found {}", want.shown, have.shown));
        }
        if want.uid != have.uid {
            lines.push(format!("{about}: {who} at {group}: expected target uid {}, found {}", want.uid, have.uid));
        }
        if !have.zones.iter().all(|zone| want.zones.contains(zone)) {
            lines.push(format!("{about}: {who} at {group}: expected zone {:?}, found {:?}", want.zones, have.zones));
        }
    }
    for (Key { who, group }, have) in found.iter().filter(|(key, _)| !expected.contains_key(key)) {
        lines.push(format!("{about}: {who} should not be at {group}: found {}", have.shown));
    }
}
