//! The annotation in which `kubectl apply` without `--server-side` records what it applied, as upstream's
//! `lastAppliedManager` and `lastAppliedUpdater`.

use serde_json::Value;

/// Manager of a server-side apply by kubectl. Other managers leave the annotation alone.
pub(super) const MANAGER: &str = "kubectl";

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

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
    annotations.insert(ANNOTATION.to_owned(), Value::String(text));
}

fn annotation(object: &Value) -> Option<&str> {
    object.get("metadata")?.get("annotations")?.get(ANNOTATION)?.as_str().filter(|text| !text.is_empty())
}
