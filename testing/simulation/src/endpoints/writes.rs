//! Checks of single writes of the endpoint controllers.

use std::collections::BTreeSet;

use serde_json::Value;

use super::object::{
    ENDPOINTS_CONTROLLER, ENDPOINTS_MANAGED_BY, MIRRORING_CONTROLLER, OVER_CAPACITY, SERVICE_NAME, SLICE_CONTROLLER,
    SLICE_MANAGED_BY, TRIGGER_TIME, address, entries, family, is_owned_by, items, label, name, namespace, selector,
    text, uid,
};
use super::{found, set};

/// Returns the violation if a controller must not make this write of an object of `resource`.
///
/// `before` and `after` are the object on the API server before and after the write; one of them is `None` for a create
/// or a delete. `services` and `endpoints_versions` are all versions of the Service and the Endpoints of that name on
/// which the controller may still act, including deleted objects: a write is valid if one of them justifies it. If only
/// the current versions are passed, writes that were planned before the watch delivered a change are reported too.
pub fn write_violation(
    before: Option<&Value>,
    after: Option<&Value>,
    resource: &str,
    services: &[Value],
    endpoints_versions: &[Value],
) -> Option<String> {
    let object = after.or(before)?;
    let wrong = match resource {
        "endpointslices" => slice(before, after, services, endpoints_versions),
        "endpoints" => endpoints(before, after, services),
        "events" | "leases" => None,
        _ => Some("no controller writes this kind".to_owned()),
    };
    wrong.map(|wrong| format!("{resource} {}/{}: {wrong}", namespace(object), name(object)))
}

fn slice(before: Option<&Value>, after: Option<&Value>, services: &[Value], endpoints: &[Value]) -> Option<String> {
    for object in [before, after].into_iter().flatten() {
        let manager = label(object, SLICE_MANAGED_BY);
        if ![Some(SLICE_CONTROLLER), Some(MIRRORING_CONTROLLER)].contains(&manager) {
            return Some(format!("written, but managed by {manager:?}"));
        }
    }
    let after = after?;
    if let Some(before) = before {
        for key in [SLICE_MANAGED_BY, SERVICE_NAME] {
            if label(before, key) != label(after, key) {
                return Some(format!("label {key} changed from {:?} to {:?}", label(before, key), label(after, key)));
            }
        }
    }
    let (kind, owners) = match label(after, SLICE_MANAGED_BY) {
        Some(SLICE_CONTROLLER) => ("Service", services),
        _ => ("Endpoints", endpoints),
    };
    let service = label(after, SERVICE_NAME).unwrap_or_default();
    let mut owners = owners.iter().filter(|it| namespace(it) == namespace(after) && name(it) == service);
    let demands =
        |owner: &Value| is_owned_by(after, kind, uid(owner)) && (kind != "Service" || selector(owner).is_some());
    if !owners.any(demands) {
        return Some(format!("not owned by any version of {kind} {service}: {}", after["metadata"]["ownerReferences"]));
    }
    wrong_endpoint(after)
}

/// Returns the violation if an endpoint of a slice occurs twice or has addresses of the wrong type.
fn wrong_endpoint(slice: &Value) -> Option<String> {
    let address_type = text(&slice["addressType"]);
    let ports = set::ports(&slice["ports"]);
    let mut seen = BTreeSet::new();
    items(&slice["endpoints"]).iter().find_map(|endpoint| {
        let key = found::key(address_type, &ports, endpoint);
        let addresses = items(&endpoint["addresses"]);
        let is_right = |it: &Value| address(text(it)).map(family) == Some(address_type);
        if addresses.is_empty() || !addresses.iter().all(is_right) {
            return Some(format!("the addresses of {} are not of the type {address_type}", key.who));
        }
        let who = key.who.clone();
        (!seen.insert(key)).then(|| format!("{who} occurs twice"))
    })
}

fn endpoints(before: Option<&Value>, after: Option<&Value>, services: &[Value]) -> Option<String> {
    // Deletes are not checked: Endpoints of a deleted Service are deleted, whatever created them (EP-1), and the state
    // that the process saw is not known here.
    let after = after?;
    let mut services = services.iter().filter(|it| namespace(it) == namespace(after) && name(it) == name(after));
    if !services.any(|service| selector(service).is_some()) {
        return Some("written, but there is no Service with a selector".to_owned());
    }
    if label(after, ENDPOINTS_MANAGED_BY) != Some(ENDPOINTS_CONTROLLER) {
        return Some(format!("not labelled as managed by {ENDPOINTS_CONTROLLER}"));
    }
    let mut again = Vec::new();
    found::endpoints("written", after, &mut again);
    if let Some(again) = again.pop() {
        return Some(again);
    }
    // Metadata of other writers must be preserved (EP-18).
    let before = &before?["metadata"];
    let own = [TRIGGER_TIME, OVER_CAPACITY];
    let annotations = |metadata: &Value| format!("{:?}", entries(&metadata["annotations"], &own));
    let kept = |key: &str| items(&before[key]) == items(&after["metadata"][key]);
    if annotations(before) != annotations(&after["metadata"]) {
        return Some(format!("annotations were changed, before: {}", before["annotations"]));
    }
    ["ownerReferences", "finalizers"]
        .into_iter()
        .find(|key| !kept(key))
        .map(|key| format!("{key} were changed, before: {}", before[key]))
}
