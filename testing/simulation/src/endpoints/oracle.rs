//! The oracle: compares a settled cluster with the specification.

use std::collections::BTreeMap;

use serde_json::Value;

use super::marks::EDITED;
use super::object::{
    ENDPOINTS_CONTROLLER, ENDPOINTS_MANAGED_BY, HEADLESS, LAST_APPLIED, MIRRORING_CONTROLLER, OVER_CAPACITY,
    SERVICE_NAME, SLICE_CONTROLLER, SLICE_MANAGED_BY, TRIGGER_TIME, entries, has_selector, is_owned_by, is_terminating,
    items, label, labels, name, namespace, selector, text, uid,
};
use super::set::{Endpoints, compare};
use super::{Content, demanded, found, mirrored};

/// Maximum number of addresses in an Endpoints object.
const CAPACITY: usize = 1_000;

/// Returns the differences between the objects of the controllers and the specification; empty if there are none.
///
/// `content` must be that of a settled cluster with a garbage collector. Each line contains the name of an object and
/// the difference. The comparison ignores what depends on timing, and what upstream does not repair:
///
/// - packing and order of endpoints, names of slices, trigger times, and hints;
/// - slices and Endpoints that remain of a Service that lost its selector;
/// - objects that are being deleted;
/// - changes of the user that no sync reverts.
pub fn differences(content: &Content, max_endpoints_per_slice: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for service in content.services.iter().filter(|it| selector(it).is_some() && !is_terminating(it)) {
        slices_of_service(service, content, max_endpoints_per_slice, &mut lines);
        endpoints_of_service(service, content, &mut lines);
    }
    for endpoints in &content.endpoints {
        mirrored_slices(endpoints, content, &mut lines);
    }
    leftovers(content, &mut lines);
    lines
}

fn path(object: &Value) -> String {
    format!("{}/{}", namespace(object), name(object))
}

/// Returns the slices that `controller` manages for the Service or Endpoints with this namespace and name.
fn managed<'a>(
    content: &'a Content,
    controller: &'a str,
    (in_namespace, named): (&'a str, &'a str),
) -> impl Iterator<Item = &'a Value> + Clone {
    content.slices.iter().filter(move |slice| {
        namespace(slice) == in_namespace
            && label(slice, SERVICE_NAME) == Some(named)
            && label(slice, SLICE_MANAGED_BY) == Some(controller)
    })
}

fn key(object: &Value) -> (&str, &str) {
    (namespace(object), name(object))
}

fn slices_of_service(service: &Value, content: &Content, max: usize, lines: &mut Vec<String>) {
    let about = format!("{} slices", path(service));
    let slices: Vec<_> =
        managed(content, SLICE_CONTROLLER, key(service)).filter(|slice| !is_terminating(slice)).collect();
    let found = found::slices(&about, slices.iter().copied(), lines);
    compare(&about, &demanded::slices(service, content), &found, lines);

    let address_types = demanded::address_types(service);
    for address_type in &address_types {
        if !slices.iter().any(|slice| slice["addressType"] == **address_type) {
            lines.push(format!("{about}: none has address type {address_type}"));
        }
    }
    for slice in slices {
        let about = format!("{about}: {}", name(slice));
        let size = items(&slice["endpoints"]).len();
        if size > max {
            lines.push(format!("{about} has {size} endpoints, which is more than {max}"));
        }
        if !address_types.contains(text(&slice["addressType"])) {
            lines.push(format!("{about} has address type {}, which the Service does not have", slice["addressType"]));
        }
        // An empty slice with another owner serves as a placeholder as long as that owner exists (EC-47).
        let placeholder = size == 0 && items(&slice["ports"]).is_empty();
        let may_stay = placeholder && !has_lost_owner(slice, content);
        if !may_stay && !is_owned_by(slice, "Service", uid(service)) {
            lines.push(format!("{about} is not owned by the Service: {}", slice["metadata"]["ownerReferences"]));
        }
        let reserved = [SERVICE_NAME, SLICE_MANAGED_BY, HEADLESS];
        let (mut want, mut have) = (labels(service, &reserved), labels(slice, &reserved));
        // A placeholder may lack labels without a value (RC-26).
        if size == 0 {
            want.retain(|_, value| !value.is_empty());
            have.retain(|_, value| !value.is_empty());
        }
        same(&about, "labels", &want, &have, lines);
    }
}

fn endpoints_of_service(service: &Value, content: &Content, lines: &mut Vec<String>) {
    let about = format!("{} Endpoints", path(service));
    let Some(object) = content.endpoints_of(namespace(service), name(service)) else {
        lines.push(format!("{about}: missing"));
        return;
    };
    // An update of Endpoints triggers no sync (EP-H5), even if it was written during a sync that did not observe it.
    if label(object, EDITED).is_some() {
        return;
    }
    let reserved = [ENDPOINTS_MANAGED_BY, HEADLESS];
    same(&about, "labels", &labels(service, &reserved), &labels(object, &reserved), lines);
    if label(object, ENDPOINTS_MANAGED_BY) != Some(ENDPOINTS_CONTROLLER) {
        lines.push(format!("{about}: not labelled as managed by {ENDPOINTS_CONTROLLER}"));
    }
    let found = found::endpoints(&about, object, lines);
    let demanded = demanded::endpoints(service, content);
    let truncated = object["metadata"]["annotations"][OVER_CAPACITY] == "truncated";
    if addresses(&demanded) <= CAPACITY {
        compare(&about, &demanded, &found, lines);
        if truncated {
            lines.push(format!("{about}: marked as truncated, but all addresses fit"));
        }
    } else if !truncated || addresses(&found) > CAPACITY {
        lines.push(format!("{about}: {} addresses, truncated: {truncated}", addresses(&found)));
    }
}

/// Returns the number of addresses in all subsets of an Endpoints object: ports with the same addresses share a subset.
fn addresses(endpoints: &Endpoints) -> usize {
    let mut by_port = BTreeMap::<&str, Vec<(&str, &str)>>::new();
    for (key, facts) in endpoints {
        by_port.entry(&key.group).or_default().push((&key.who, &facts.shown));
    }
    let mut subsets: Vec<_> = by_port.into_values().collect();
    subsets.sort();
    subsets.dedup();
    subsets.iter().map(Vec::len).sum()
}

fn mirrored_slices(object: &Value, content: &Content, lines: &mut Vec<String>) {
    if !is_mirrored(object, content) || is_terminating(object) {
        return;
    }
    let about = format!("{} mirrored slices", path(object));
    let demanded = mirrored::slices(object);
    // A terminating slice counts as mirrored until it is removed (MI-4); other endpoints in it do not matter.
    let live = managed(content, MIRRORING_CONTROLLER, key(object)).filter(|slice| !is_terminating(slice));
    let mut found = found::slices(&about, live.clone(), lines);
    for (key, facts) in found::slices(&about, managed(content, MIRRORING_CONTROLLER, key(object)), &mut Vec::new()) {
        if demanded.contains_key(&key) {
            found.entry(key).or_insert(facts);
        }
    }
    compare(&about, &demanded, &found, lines);
    for slice in live {
        let about = format!("{about}: {}", name(slice));
        // A slice of other Endpoints that the user has labelled with this name keeps its owner (MI-15).
        let is_predecessor = |owner: &Value| owner["name"] == *name(object) && owner["uid"] != *uid(object);
        let owners = items(&slice["metadata"]["ownerReferences"]);
        if owners.is_empty() || owners.iter().any(is_predecessor) {
            lines.push(format!("{about} is not owned by the Endpoints: {}", slice["metadata"]["ownerReferences"]));
        }
        let reserved = [SERVICE_NAME, SLICE_MANAGED_BY];
        same(&about, "labels", &labels(object, &reserved), &labels(slice, &reserved), lines);
        let unmirrored = [TRIGGER_TIME, LAST_APPLIED];
        let annotations = |it| entries(it, &unmirrored);
        let (want, have) = (&object["metadata"]["annotations"], &slice["metadata"]["annotations"]);
        same(&about, "annotations", &annotations(want), &annotations(have), lines);
    }
}

/// Returns whether Endpoints must be mirrored (MI-2).
fn is_mirrored(endpoints: &Value, content: &Content) -> bool {
    let service = content.service(namespace(endpoints), name(endpoints));
    mirrored::is_wanted(endpoints) && service.is_some_and(|service| !has_selector(service))
}

/// Appends a line for each slice and each Endpoints object that should have been deleted.
fn leftovers(content: &Content, lines: &mut Vec<String>) {
    for slice in content.slices.iter().filter(|slice| !is_terminating(slice)) {
        let service = label(slice, SERVICE_NAME).unwrap_or_default();
        let about = format!("{}/{service} slices: {}", namespace(slice), name(slice));
        match label(slice, SLICE_MANAGED_BY) {
            Some(SLICE_CONTROLLER)
                if content.service(namespace(slice), service).is_none() && has_lost_owner(slice, content) =>
            {
                lines.push(format!("{about} belongs to a Service that does not exist"));
            }
            Some(MIRRORING_CONTROLLER)
                if !content
                    .endpoints_of(namespace(slice), service)
                    .is_some_and(|endpoints| is_mirrored(endpoints, content)) =>
            {
                lines.push(format!("{about} mirrors Endpoints that do not exist or must not be mirrored"));
            }
            _ => {}
        }
    }
    for object in &content.endpoints {
        let ours = label(object, ENDPOINTS_MANAGED_BY) == Some(ENDPOINTS_CONTROLLER);
        if ours && !is_terminating(object) && content.service(namespace(object), name(object)).is_none() {
            lines.push(format!("{} Endpoints: belong to a Service that does not exist", path(object)));
        }
    }
}

/// Returns whether an owner of the slice is a Service that does not exist: the garbage collector deletes such a slice.
fn has_lost_owner(slice: &Value, content: &Content) -> bool {
    let mut owners = items(&slice["metadata"]["ownerReferences"]).iter().filter(|it| it["kind"] == "Service");
    owners.any(|owner| !content.services.iter().any(|it| owner["uid"] == *uid(it)))
}

/// Compares labels or annotations, and appends a line if they differ.
fn same(about: &str, what: &str, want: &BTreeMap<&str, &str>, have: &BTreeMap<&str, &str>, lines: &mut Vec<String>) {
    if want != have {
        lines.push(format!("{about}: expected {what} {want:?}, found {have:?}"));
    }
}
