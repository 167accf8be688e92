//! Expected endpoints of mirrored slices, computed from custom Endpoints.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::found;
use super::object::{LEADER, SKIP_MIRROR, address, family, items, label, text};
use super::set::{self, Endpoints, Facts};

/// Returns whether Endpoints are mirrored, provided that their Service has no selector (MI-1).
pub(super) fn is_wanted(endpoints: &Value) -> bool {
    label(endpoints, SKIP_MIRROR) != Some("true") && endpoints["metadata"]["annotations"][LEADER].is_null()
}

/// Identity of an address: its IP and the uid of its target (RP-2).
type Address<'a> = (&'a str, &'a str);

/// Returns the endpoints that all mirrored slices of an Endpoints object together must contain (MI-6 to MI-10).
///
/// Ports with the same addresses in the same readiness share a slice (RP-5), so addresses are first grouped by port.
pub(super) fn slices(object: &Value) -> Endpoints {
    // Of several records of an address, the first one is used; if one is not ready, the address is not (RP-2, RP-4).
    let mut records = BTreeMap::<Address<'_>, &Value>::new();
    let mut by_port = BTreeMap::<Option<String>, BTreeMap<Address<'_>, bool>>::new();
    for subset in items(&object["subsets"]) {
        let listed = items(&subset["ports"]).iter().map(|port| Some(set::ports(&json!([port]))));
        let mut ports: Vec<_> = listed.collect();
        if ports.is_empty() {
            ports.push(None);
        }
        for (list, ready) in [("addresses", true), ("notReadyAddresses", false)] {
            for entry in items(&subset[list]) {
                let identity = (text(&entry["ip"]), text(&entry["targetRef"]["uid"]));
                records.entry(identity).or_insert(entry);
                for port in &ports {
                    let known = by_port.entry(port.clone()).or_default().entry(identity).or_insert(ready);
                    *known = *known && ready;
                }
            }
        }
    }
    let mut groups = BTreeMap::<BTreeMap<Address<'_>, bool>, Vec<String>>::new();
    for (port, addresses) in by_port {
        groups.entry(addresses).or_default().extend(port);
    }

    let mut endpoints = Endpoints::new();
    for (addresses, mut ports) in groups {
        let ports = set::join(&mut ports);
        for (identity, ready) in addresses {
            let record = records[&identity];
            let Some(ip) = address(identity.0) else { continue };
            let endpoint = json!({
                "addresses": [ip.to_string()], "targetRef": record["targetRef"], "hostname": record["hostname"],
            });
            let conditions = json!({ "ready": ready });
            let facts = Facts {
                shown: format!("{conditions} on {:?}", text(&record["nodeName"])),
                uid: identity.1.to_owned(),
                zones: vec![None],
            };
            endpoints.insert(found::key(family(ip), &ports, &endpoint), facts);
        }
    }
    endpoints
}
