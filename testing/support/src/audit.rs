//! Events of audit logs, in JSON.

use serde_json::{Value, json};

/// Returns the event of an answered request for Endpoints of the namespace `shop`, by alice at 14:00; `more` has other
/// fields, and those that replace its own.
pub fn event(verb: &str, more: &Value) -> Value {
    let mut event = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "stage": "ResponseComplete", "verb": verb,
        "user": {"username": "alice"}, "userAgent": "curl/8.5.0 (x)", "responseStatus": {"code": 200},
        "requestURI": "/api/v1/namespaces/shop/endpoints", "objectRef": {"resource": "endpoints", "namespace": "shop"},
        "stageTimestamp": "2026-11-27T14:00:00Z",
    });
    for (field, value) in more.as_object().into_iter().flatten() {
        event[field] = value.clone();
    }
    event
}

/// Returns the values as the lines of a log.
pub fn lines(values: &[Value]) -> Vec<u8> {
    values.iter().flat_map(|value| format!("{value}\n").into_bytes()).collect()
}
