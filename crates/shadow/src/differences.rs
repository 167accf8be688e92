//! The writes of a plan as JSON, with their classes and reasons.

use std::collections::BTreeSet;

use kube_endpoint_model::well_known::TRIGGER_TIME_ANNOTATION;
use kube_endpoint_model::{ObjectKey, Write};
use kube_endpoints_explain::{Change, Difference, DifferenceClass, Kind, ObjectRef, classify};
use serde::Serialize;
use serde_json::Value;

use crate::mismatches::ObjectMismatch;

/// Maximum number of objects of one mismatch with details.
const MAX_OBJECTS: usize = 3;
/// Maximum number of endpoints or subsets of an object in the details.
const MAX_ENDPOINTS: usize = 5;
/// Maximum size of an object in the details, in bytes of JSON.
const MAX_BYTES: usize = 4_096;

/// One write of a plan, as JSON.
#[derive(Debug)]
pub(crate) struct ComparedWrite {
    /// Name of the stored object; empty for a create.
    pub(crate) stored: String,
    before: Option<Value>,
    after: Option<Value>,
}

impl ComparedWrite {
    pub(crate) fn new<T: Serialize + kube_wire::Object>(write: &Write<T>) -> ComparedWrite {
        let value = |object: &T| serde_json::to_value(object).unwrap_or_default();
        let stored = write.before().map(|object| object.name().to_owned()).unwrap_or_default();
        ComparedWrite { stored, before: write.before().map(value), after: write.after().map(value) }
    }

    /// Returns whether a write changes nothing: the delete of an object that is being deleted, which finalizers keep.
    pub(crate) fn has_no_effect<T: Serialize>(write: &Write<T>) -> bool {
        let Write::Delete(object) = write else { return false };
        serde_json::to_value(&**object).is_ok_and(|object| object["metadata"]["deletionTimestamp"].is_string())
    }

    /// Returns the object as `kubectl endpoints diff` names it: a create by the prefix of the name to generate.
    fn object(&self, key: &ObjectKey) -> ObjectRef {
        let object = self.before.as_ref().or(self.after.as_ref()).unwrap_or(&Value::Null);
        let kind = if object["kind"] == "EndpointSlice" { Kind::EndpointSlice } else { Kind::Endpoints };
        let text = |field: &str| object["metadata"][field].as_str().filter(|it| !it.is_empty()).map(str::to_owned);
        let name = text("name").or_else(|| text("generateName").map(|prefix| format!("{prefix}...")));
        ObjectRef { kind, namespace: key.namespace.to_string(), name: name.unwrap_or_default() }
    }
}

/// Returns the classes of all writes of a plan, and the details of the first objects. `unchanged` are the address types of
/// the slices that the plan does not write, and `changes` the same writes with reasons.
pub(crate) fn describe(
    key: &ObjectKey,
    writes: &[ComparedWrite],
    unchanged: &BTreeSet<String>,
    changes: &[Change],
) -> (BTreeSet<DifferenceClass>, Vec<ObjectMismatch>) {
    let plan: Vec<_> =
        writes.iter().map(|it| Difference { before: it.before.as_ref(), after: it.after.as_ref() }).collect();
    let classes = classify(&plan, unchanged);
    let all = classes.iter().flatten().copied().collect();
    let objects = writes.iter().zip(classes).take(MAX_OBJECTS).map(|(write, classes)| {
        let object = write.object(key);
        let reasons = changes.iter().find(|change| change.object == object).map(|change| &*change.reasons);
        let codes = reasons.unwrap_or_default().iter().map(|reason| reason.code).collect();
        let class = classes.first().copied().unwrap_or(DifferenceClass::Content);
        let (actual, expected, omitted) = bounded(write.before.clone(), write.after.clone());
        ObjectMismatch { object, class, codes, expected, actual, omitted }
    });
    (all, objects.collect())
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
