//! The differences of a mismatch in a bounded size.

use std::collections::BTreeSet;

use kube_endpoint_model::well_known::TRIGGER_TIME_ANNOTATION;
use kube_endpoints_explain::{Change, DifferenceClass};
use serde_json::Value;

use crate::mismatches::ObjectMismatch;

/// Maximum number of objects of one mismatch with details.
const MAX_OBJECTS: usize = 3;
/// Maximum number of endpoints or subsets of an object in the details.
const MAX_ENDPOINTS: usize = 5;
/// Maximum size of an object in the details, in bytes of JSON.
const MAX_BYTES: usize = 4_096;

/// Returns the classes of all writes of a plan, and the details of the first objects.
pub(crate) fn describe(changes: Vec<Change>) -> (BTreeSet<DifferenceClass>, Vec<ObjectMismatch>) {
    let classes = changes.iter().flat_map(|change| &change.classes).copied().collect();
    let objects = changes.into_iter().take(MAX_OBJECTS).map(|change| {
        let class = change.class();
        let Change { object, before, after, classes: _, reasons } = change;
        let codes = reasons.iter().map(|reason| reason.code).collect();
        let (actual, expected, omitted) = bounded(before, after);
        ObjectMismatch { object, class, codes, expected, actual, omitted }
    });
    (classes, objects.collect())
}

/// Returns two states of an object as JSON of a bounded size: without equal endpoints and subsets, and with at most 5 of
/// the others. The number counts those that are left out of either state.
fn bounded(mut before: Option<Value>, mut after: Option<Value>) -> (Option<Box<str>>, Option<Box<str>>, usize) {
    let mut omitted = 0;
    for field in ["endpoints", "subsets"] {
        let list =
            |object: &Option<Value>| object.as_ref().and_then(|it| it[field].as_array()).cloned().unwrap_or_default();
        let (old, new) = (list(&before), list(&after));
        for (object, own, other) in [(&mut before, &old, &new), (&mut after, &new, &old)] {
            let mut kept: Vec<Value> = own.iter().filter(|it| !other.contains(it)).cloned().collect();
            kept.truncate(MAX_ENDPOINTS);
            omitted += own.len() - kept.len();
            if let Some(list) = object.as_mut().and_then(|it| it.get_mut(field)) {
                *list = Value::Array(kept);
            }
        }
    }
    (before.map(bounded_text), after.map(bounded_text), omitted)
}

/// Returns the JSON of an object; only its metadata without labels and annotations if it is longer than [`MAX_BYTES`]. The
/// annotation with the trigger time is not compared, and left out.
fn bounded_text(mut object: Value) -> Box<str> {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove(TRIGGER_TIME_ANNOTATION);
        }
    }
    let text = object.to_string();
    if text.len() <= MAX_BYTES {
        return text.into();
    }
    let metadata = ["name", "namespace", "generateName", "resourceVersion", "uid"]
        .into_iter()
        .filter_map(|field| Some((field.to_owned(), object["metadata"].get(field)?.clone())));
    let short = serde_json::json!({
        "kind": object["kind"], "metadata": Value::Object(metadata.collect()), "truncated": true,
    });
    short.to_string().into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_and_too_many_endpoints_are_left_out() {
        let slice =
            |ips: std::ops::Range<u8>| json!({"endpoints": ips.map(|ip| json!({"ip": ip})).collect::<Vec<_>>()});
        let (before, after, omitted) = bounded(Some(slice(0..10)), Some(slice(8..20)));
        let ips = |text: Option<Box<str>>| {
            let object: Value = serde_json::from_str(&text.unwrap()).unwrap();
            object["endpoints"].as_array().unwrap().iter().map(|it| it["ip"].as_u64().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!((ips(before), ips(after), omitted), (vec![0, 1, 2, 3, 4], vec![10, 11, 12, 13, 14], 12));
    }

    /// A second comparison of the same plan has no trigger time.
    #[test]
    fn trigger_times_are_left_out() {
        let annotations = json!({"a": "b", TRIGGER_TIME_ANNOTATION: "2026-01-01T00:00:00Z"});
        let (before, _, _) = bounded(Some(json!({"metadata": {"annotations": annotations}})), None);
        assert_eq!(&*before.unwrap(), r#"{"metadata":{"annotations":{"a":"b"}}}"#);
    }

    #[test]
    fn large_objects_are_reduced_to_their_names() {
        let object = json!({"kind": "Endpoints", "metadata": {"name": "web", "labels": {"a": "x".repeat(MAX_BYTES)}}});
        let (before, after, omitted) = bounded(Some(object), None);
        assert_eq!(&*before.unwrap(), r#"{"kind":"Endpoints","metadata":{"name":"web"},"truncated":true}"#);
        assert_eq!((after, omitted), (None, 0));
    }
}
