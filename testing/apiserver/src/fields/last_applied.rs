//! The annotation in which `kubectl apply` without `--server-side` records what it applied, as upstream's
//! `lastAppliedManager` and `lastAppliedUpdater`.

use serde_json::Value;

use super::apply::Live;
use super::set::FieldSet;
use super::walk::{Comparison, fields_of};

/// Manager of a server-side apply by kubectl. Other managers leave the annotation alone.
pub(super) const MANAGER: &str = "kubectl";

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Maximum size of all annotations of an object, in bytes.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// Returns the fields that kubectl has applied client-side and that still have the applied value. A server-side apply by
/// kubectl may change them, even if other managers own them.
pub(super) fn owned(live: Live<'_>, api_version: &str) -> FieldSet {
    let Some(config) = annotation(live.object).and_then(|text| serde_json::from_str::<Value>(text).ok()) else {
        return FieldSet::default();
    };
    if config.get("apiVersion").and_then(Value::as_str) != Some(api_version) {
        return FieldSet::default();
    }
    let mut fields = fields_of(&config, live.schema);
    let comparison = Comparison::of(&config, live.object, live.schema);
    for different in [comparison.modified, comparison.added, comparison.removed] {
        fields.subtract(&different);
    }
    fields
}

/// Replaces the annotation of an object, if there is one, by the applied configuration.
pub(super) fn refresh(object: &mut Value, config: &Value) {
    if annotation(object).is_none() {
        return;
    }
    let mut config = config.clone();
    if let Some(Value::Object(annotations)) = config.get_mut("metadata").and_then(|meta| meta.get_mut("annotations")) {
        annotations.remove(ANNOTATION);
    }
    // As Go's encoder, which escapes what is special in HTML.
    let text = config.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026") + "\n";
    let Some(Value::Object(annotations)) = object.get_mut("metadata").and_then(|meta| meta.get_mut("annotations"))
    else {
        return;
    };
    let size = |value: &Value| value.as_str().map_or(0, str::len);
    let others: usize = annotations.iter().filter(|(key, _)| *key != ANNOTATION).map(|(k, v)| k.len() + size(v)).sum();
    if others + ANNOTATION.len() + text.len() > MAX_ANNOTATIONS {
        annotations.remove(ANNOTATION);
    } else {
        annotations.insert(ANNOTATION.to_owned(), Value::String(text));
    }
}

fn annotation(object: &Value) -> Option<&str> {
    object.get("metadata")?.get("annotations")?.get(ANNOTATION)?.as_str().filter(|text| !text.is_empty())
}
