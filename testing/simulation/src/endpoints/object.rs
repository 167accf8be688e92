//! Accessors of JSON objects, and the labels and annotations of the endpoint controllers.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::Value;

pub(super) const SLICE_CONTROLLER: &str = "endpointslice-controller.k8s.io";
pub(super) const MIRRORING_CONTROLLER: &str = "endpointslicemirroring-controller.k8s.io";
pub(super) const ENDPOINTS_CONTROLLER: &str = "endpoint-controller";

pub(super) const SLICE_MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
pub(super) const ENDPOINTS_MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";
pub(super) const SERVICE_NAME: &str = "kubernetes.io/service-name";
pub(super) const HEADLESS: &str = "service.kubernetes.io/headless";
pub(super) const SKIP_MIRROR: &str = "endpointslice.kubernetes.io/skip-mirror";
pub(super) const OVER_CAPACITY: &str = "endpoints.kubernetes.io/over-capacity";
pub(super) const TRIGGER_TIME: &str = "endpoints.kubernetes.io/last-change-trigger-time";
pub(super) const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
pub(super) const LEADER: &str = "control-plane.alpha.kubernetes.io/leader";
pub(super) const ZONE: &str = "topology.kubernetes.io/zone";

/// Returns a field as a string; empty if it is missing.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the items of a list; none if it is missing or null.
pub(super) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn name(object: &Value) -> &str {
    text(&object["metadata"]["name"])
}

pub(super) fn namespace(object: &Value) -> &str {
    text(&object["metadata"]["namespace"])
}

pub(super) fn uid(object: &Value) -> &str {
    text(&object["metadata"]["uid"])
}

pub(super) fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object["metadata"]["labels"][key].as_str()
}

/// Returns whether the object is being deleted.
pub(super) fn is_terminating(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

/// Returns the entries of a map of strings, except those with the keys `without`.
pub(super) fn entries<'a>(map: &'a Value, without: &[&str]) -> BTreeMap<&'a str, &'a str> {
    let fields = map.as_object().into_iter().flatten();
    fields.map(|(key, value)| (key.as_str(), text(value))).filter(|(key, _)| !without.contains(key)).collect()
}

pub(super) fn labels<'a>(object: &'a Value, without: &[&str]) -> BTreeMap<&'a str, &'a str> {
    entries(&object["metadata"]["labels"], without)
}

/// Returns the selector of a Service. `None` for Services that the controllers ignore: without a selector, or of the
/// type `ExternalName`.
pub(super) fn selector(service: &Value) -> Option<BTreeMap<&str, &str>> {
    let spec = &service["spec"];
    (has_selector(service) && spec["type"] != "ExternalName").then(|| entries(&spec["selector"], &[]))
}

/// Returns whether a Service has a selector. An empty selector counts as none; API servers omit it.
pub(super) fn has_selector(service: &Value) -> bool {
    service["spec"]["selector"].as_object().is_some_and(|selector| !selector.is_empty())
}

pub(super) fn is_owned_by(object: &Value, kind: &str, owner_uid: &str) -> bool {
    let references = items(&object["metadata"]["ownerReferences"]);
    references.iter().any(|it| it["apiVersion"] == "v1" && it["kind"] == *kind && it["uid"] == *owner_uid)
}

/// Parses an address. An IPv4-mapped IPv6 address becomes an IPv4 address.
pub(super) fn address(value: &str) -> Option<IpAddr> {
    value.parse::<IpAddr>().ok().map(|ip| ip.to_canonical())
}

/// Returns the IP family of an address, which is also the address type of its slices.
pub(super) fn family(ip: IpAddr) -> &'static str {
    if ip.is_ipv4() { "IPv4" } else { "IPv6" }
}
