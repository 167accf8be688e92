//! Conversion of listed objects to a snapshot in canonical form.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::{Owners, Snapshot};

/// Length of the suffix of generated names, which consists of the characters `bcdfghjklmnpqrstvwxz2456789`.
const SUFFIX: usize = 5;

/// Returns the canonical form of the objects of `namespace`, as listed by an API server. Generated values are replaced,
/// and lists whose order has no meaning are sorted.
pub fn canonical(observed: &Snapshot, namespace: &str, owners: &Owners) -> Snapshot {
    let Snapshot { endpoints, slices, events } = observed;
    let by_name: BTreeMap<_, _> =
        endpoints.iter().map(|object| (object["metadata"]["name"].as_str(), endpoints_form(object, owners))).collect();
    let mut events: Vec<_> = events.iter().filter_map(|event| event_form(event, namespace)).collect();
    sort(&mut events);
    events.dedup();
    let mut slices: Vec<_> = slices.iter().map(|object| slice_form(object, owners)).collect();
    sort(&mut slices);
    Snapshot { endpoints: by_name.into_values().collect(), slices, events }
}

/// Returns the JSON text of a value, with the keys of objects sorted.
pub fn text(value: &Value) -> String {
    let mut sorted = value.clone();
    // Needed if another crate of the build enables serde_json's feature `preserve_order`.
    sorted.sort_all_objects();
    sorted.to_string()
}

/// Sorts values by their JSON text.
pub(crate) fn sort(values: &mut [Value]) {
    values.sort_by_cached_key(text);
}

fn endpoints_form(object: &Value, owners: &Owners) -> Value {
    let mut form = metadata(object, owners);
    let mut subsets = items(&object["subsets"]);
    for subset in subsets.iter_mut().filter_map(Value::as_object_mut) {
        for list in subset.values_mut() {
            let mut entries = items(list);
            entries.iter_mut().for_each(anonymous);
            sort(&mut entries);
            *list = entries.into();
        }
        // kube-apiserver omits empty lists; other servers may not.
        subset.retain(|_, list| list.as_array().is_none_or(|list| !list.is_empty()));
    }
    sort(&mut subsets);
    form.insert("subsets".to_owned(), subsets.into());
    form.into()
}

fn slice_form(object: &Value, owners: &Owners) -> Value {
    let mut form = metadata(object, owners);
    let service = object["metadata"]["labels"]["kubernetes.io/service-name"].as_str();
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    if let Some(service) = service
        && is_generated(name, service)
    {
        form.insert("name".to_owned(), format!("{service}-*").into());
    }
    form.insert("addressType".to_owned(), object["addressType"].clone());
    for part in ["endpoints", "ports"] {
        let mut entries = items(&object[part]);
        entries.iter_mut().for_each(anonymous);
        sort(&mut entries);
        form.insert(part.to_owned(), entries.into());
    }
    form.into()
}

/// Returns whether a name consists of the name of the Service, a dash and a generated suffix.
fn is_generated(name: &str, service: &str) -> bool {
    let suffix = name.strip_prefix(service).and_then(|rest| rest.strip_prefix('-'));
    suffix.is_some_and(|it| it.len() == SUFFIX && it.bytes().all(|c| b"bcdfghjklmnpqrstvwxz2456789".contains(&c)))
}

/// Returns name, labels, annotations and owner references, without those that are empty.
fn metadata(object: &Value, owners: &Owners) -> Map<String, Value> {
    let metadata = &object["metadata"];
    let mut form = Map::new();
    form.insert("name".to_owned(), metadata["name"].clone());
    for part in ["labels", "annotations"] {
        if metadata[part].as_object().is_some_and(|entries| !entries.is_empty()) {
            form.insert(part.to_owned(), metadata[part].clone());
        }
    }
    let mut references = items(&metadata["ownerReferences"]);
    for reference in &mut references {
        let owner = owners.name(reference["uid"].as_str().unwrap_or_default());
        reference["uid"] = owner.into();
    }
    if !references.is_empty() {
        form.insert("ownerReferences".to_owned(), references.into());
    }
    form
}

/// Replaces the values of an address, an endpoint or a port that differ from run to run, and removes nulls.
fn anonymous(entry: &mut Value) {
    let Some(fields) = entry.as_object_mut() else { return };
    fields.retain(|_, value| !value.is_null());
    let Some(target) = fields.get_mut("targetRef").and_then(Value::as_object_mut) else { return };
    target.remove("resourceVersion");
    if let Some(namespace) = target.get_mut("namespace") {
        *namespace = "<ns>".into();
    }
    let word = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let name = format!("{}/{}", word(target.get("kind")), word(target.get("name")));
    if let Some(uid) = target.get_mut("uid") {
        *uid = name.into();
    }
}

fn event_form(event: &Value, namespace: &str) -> Option<Value> {
    let component = event["source"]["component"].as_str().filter(|component| component.starts_with("endpoint"))?;
    let object = &event["involvedObject"];
    let words = [&object["kind"], &object["name"], &event["type"], &event["reason"], &event["message"]];
    let words = words.into_iter().map(|word| word.as_str().unwrap_or_default()).chain([component]);
    Some(words.map(|word| word.replace(namespace, "<ns>")).collect::<Vec<_>>().into())
}

/// Returns the items of a list; none if it is missing or null.
pub(crate) fn items(list: &Value) -> Vec<Value> {
    list.as_array().cloned().unwrap_or_default()
}
