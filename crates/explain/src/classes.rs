//! Classes of the differences between what is stored and what the controllers would write.

use std::collections::{BTreeMap, BTreeSet};

use kube_endpoint_model::well_known::TRIGGER_TIME_ANNOTATION;
use serde::Serialize;
use serde_json::Value;

use crate::report::Change;

/// Class of a difference, the most serious first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DifferenceClass {
    /// An endpoint is missing or superfluous, or its address, port, condition, Node or target differs.
    Content,
    /// Labels, annotations or owner references differ. The annotation with the trigger time does not count.
    Metadata,
    /// Endpoints are equal apart from their hints.
    Hints,
    /// The endpoints of all slices together are equal, but not their distribution to slices, or to subsets.
    Packing,
    /// An object is missing, because the Service has none of the kind or address type, or superfluous, because the Service
    /// is to have none.
    Objects,
}

impl DifferenceClass {
    /// All classes, in order.
    pub const ALL: [DifferenceClass; 5] = [
        DifferenceClass::Content,
        DifferenceClass::Metadata,
        DifferenceClass::Hints,
        DifferenceClass::Packing,
        DifferenceClass::Objects,
    ];

    /// Returns the name in output, JSON and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            DifferenceClass::Content => "content",
            DifferenceClass::Metadata => "metadata",
            DifferenceClass::Hints => "hints",
            DifferenceClass::Packing => "packing",
            DifferenceClass::Objects => "objects",
        }
    }
}

impl std::fmt::Display for DifferenceClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Sets the classes of each write in the plan of one controller for one Service; at least one for each.
///
/// `plan` must contain all writes, since an endpoint that moves to another slice is a difference of packing only.
/// `unchanged` are the address types of the stored slices that the plan does not write; for a plan of Endpoints it is
/// empty.
pub(crate) fn classify(plan: &mut [Change], unchanged: &BTreeSet<&str>) {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for write in &*plan {
        let address_type = address_type(write);
        let group = groups.entry(address_type.to_owned()).or_default();
        let has_unchanged = unchanged.contains(address_type);
        group.is_stored |= has_unchanged || write.before.is_some();
        group.is_desired |= has_unchanged || write.after.is_some();
        group.endpoints.add(write);
    }
    for write in plan {
        write.classes = groups[address_type(write)].classes(write);
        if write.classes.is_empty() {
            // Equal endpoints in another order, or in other subsets.
            write.classes.insert(DifferenceClass::Packing);
        }
    }
}

/// The writes of one address type, or of the Endpoints object, with the endpoints of all of them.
#[derive(Default)]
struct Group {
    is_stored: bool,
    is_desired: bool,
    endpoints: Compared,
}

impl Group {
    fn classes(&self, write: &Change) -> BTreeSet<DifferenceClass> {
        if self.is_stored != self.is_desired {
            return BTreeSet::from([DifferenceClass::Objects]);
        }
        let mut own = Compared::default();
        own.add(write);
        let mut classes = BTreeSet::new();
        for (endpoint, sides) in &own.0 {
            let Some(all) = self.endpoints.0.get(endpoint) else { continue };
            if all.before.len() != all.after.len() {
                if sides.before.len() != sides.after.len() {
                    classes.insert(DifferenceClass::Content);
                }
                continue;
            }
            if all.hints_differ() {
                classes.insert(DifferenceClass::Hints);
            }
            if sides.before.len() != sides.after.len() {
                classes.insert(DifferenceClass::Packing);
            }
        }
        if let (Some(before), Some(after)) = (&write.before, &write.after) {
            if metadata(before) != metadata(after) {
                classes.insert(DifferenceClass::Metadata);
            }
            if own.0.is_empty() && ports(before) != ports(after) {
                classes.insert(DifferenceClass::Content);
            }
        }
        classes
    }
}

/// Endpoints without their hints, and the hints of each occurrence before and after the writes.
#[derive(Default)]
struct Compared(BTreeMap<String, Sides>);

#[derive(Default)]
struct Sides {
    before: Vec<String>,
    after: Vec<String>,
}

impl Sides {
    fn hints_differ(&self) -> bool {
        let sorted = |hints: &[String]| {
            let mut hints = hints.to_vec();
            hints.sort_unstable();
            hints
        };
        sorted(&self.before) != sorted(&self.after)
    }
}

impl Compared {
    fn add(&mut self, write: &Change) {
        for (endpoint, hints) in write.before.as_ref().map(endpoints).unwrap_or_default() {
            self.0.entry(endpoint).or_default().before.push(hints);
        }
        for (endpoint, hints) in write.after.as_ref().map(endpoints).unwrap_or_default() {
            self.0.entry(endpoint).or_default().after.push(hints);
        }
    }
}

/// Returns the endpoints of a slice, or the addresses of an Endpoints object with each of their ports: the identity
/// without hints, and the hints.
fn endpoints(object: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for endpoint in elements(&object["endpoints"]) {
        let mut endpoint = without_version(endpoint);
        let hints = endpoint.as_object_mut().and_then(|it| it.remove("hints")).unwrap_or_default();
        found.push((format!("{endpoint} {:?}", ports(object)), hints.to_string()));
    }
    for subset in elements(&object["subsets"]) {
        let ports = ports(subset);
        let ports = if ports.is_empty() { vec![String::new()] } else { ports };
        for list in ["addresses", "notReadyAddresses"] {
            for address in elements(&subset[list]).map(without_version) {
                found.extend(ports.iter().map(|port| (format!("{list} {address} {port}"), String::new())));
            }
        }
    }
    found
}

/// Returns an endpoint without the resource version of its target, which the controllers do not compare.
fn without_version(endpoint: &Value) -> Value {
    let mut endpoint = endpoint.clone();
    if let Some(target) = endpoint.get_mut("targetRef").and_then(Value::as_object_mut) {
        target.remove("resourceVersion");
    }
    endpoint
}

fn ports(object: &Value) -> Vec<String> {
    let mut ports: Vec<String> = elements(&object["ports"]).map(ToString::to_string).collect();
    ports.sort_unstable();
    ports
}

/// Returns labels, annotations and owner references, without those that are empty.
fn metadata(object: &Value) -> Vec<Value> {
    let metadata = &object["metadata"];
    let mut annotations = metadata["annotations"].clone();
    if let Some(annotations) = annotations.as_object_mut() {
        annotations.remove(TRIGGER_TIME_ANNOTATION);
    }
    let present = |value: Value| {
        let is_empty = value.as_object().is_some_and(serde_json::Map::is_empty) || value == Value::Array(Vec::new());
        if is_empty { Value::Null } else { value }
    };
    vec![present(metadata["labels"].clone()), present(annotations), present(metadata["ownerReferences"].clone())]
}

fn elements(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// Returns the address type of a slice; empty for an Endpoints object.
fn address_type(write: &Change) -> &str {
    write.before.as_ref().or(write.after.as_ref()).and_then(|object| object["addressType"].as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
