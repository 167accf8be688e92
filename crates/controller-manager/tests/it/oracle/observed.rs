//! The objects that the controllers wrote, in the oracle's form: without packing and trigger times.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::cluster::text;

/// Contents of one Endpoints object, or of all slices of one Service: metadata, and every pair of address and port,
/// duplicates included.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Contents {
    pub(super) metadata: Vec<String>,
    pub(super) addresses: Vec<String>,
}

pub(super) const TRIGGER_TIME: &str = "endpoints.kubernetes.io/last-change-trigger-time";
pub(super) const MIRRORING: &str = "endpointslicemirroring-controller.k8s.io";

pub(super) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Endpoints by name; empty contents for those of Services without selector.
pub(super) fn endpoints(services: &[Value], endpoints: &[Value]) -> BTreeMap<String, Contents> {
    let mut observed = BTreeMap::new();
    for object in endpoints {
        let name = text(&object["metadata"]["name"]);
        let service = services.iter().find(|it| it["metadata"]["name"] == object["metadata"]["name"]);
        let mut contents = Contents::default();
        if service.is_none_or(|it| !it["spec"]["selector"].is_null()) {
            contents.metadata.push(object["metadata"]["labels"].to_string());
            contents
                .metadata
                .push(object["metadata"]["annotations"]["endpoints.kubernetes.io/over-capacity"].to_string());
            for subset in items(&object["subsets"]) {
                for (list, ready) in [("addresses", true), ("notReadyAddresses", false)] {
                    for address in items(&subset[list]) {
                        contents
                            .addresses
                            .extend(with_ports(&json!({"address": address, "ready": ready}), &subset["ports"]));
                    }
                }
            }
        }
        contents.addresses.sort();
        observed.insert(name, contents);
    }
    observed
}

/// One text per port for an address; a single one with `null` if there are no ports.
pub(super) fn with_ports(address: &Value, ports: &Value) -> Vec<String> {
    let observed: Vec<String> = items(ports).map(|port| json!([address, port]).to_string()).collect();
    if observed.is_empty() { vec![json!([address, null]).to_string()] } else { observed }
}

/// Slices of the mirroring controller, by Service. Metadata is deduplicated, so that more than one entry shows a
/// difference between the slices of a Service.
pub(super) fn slices(slices: &[Value]) -> BTreeMap<String, Contents> {
    let mut observed: BTreeMap<String, Contents> = BTreeMap::new();
    for slice in slices {
        let metadata = &slice["metadata"];
        if metadata["labels"]["endpointslice.kubernetes.io/managed-by"] != MIRRORING {
            continue;
        }
        let contents = observed.entry(text(&metadata["labels"]["kubernetes.io/service-name"])).or_default();
        contents
            .metadata
            .push(json!([metadata["labels"], metadata["annotations"], metadata["ownerReferences"]]).to_string());
        for endpoint in items(&slice["endpoints"]) {
            for address in items(&endpoint["addresses"]) {
                let mut endpoint = endpoint.clone();
                endpoint["addresses"] = address.clone();
                endpoint["family"] = slice["addressType"].clone();
                contents.addresses.extend(with_ports(&endpoint, &slice["ports"]));
            }
        }
    }
    for contents in observed.values_mut() {
        contents.metadata.sort();
        contents.metadata.dedup();
        contents.addresses.sort();
    }
    observed
}
