//! Error responses, compared with recordings of a real server.

use rstest::rstest;

use super::*;

/// Compares with a recorded `metav1.Status`, byte for byte.
#[track_caller]
fn check(error: &StatusError, recorded: &str) {
    assert_eq!(String::from_utf8(error.encode()).unwrap(), recorded.trim());
}

#[test]
fn not_found() {
    let error = TestStore::new().try_delete("services", "nope", &DeleteOptions::default()).unwrap_err();
    check(&error, include_str!("../../../fixtures/not-found.status.json"));
}

#[test]
fn already_exists() {
    let mut store = TestStore::new();
    store.create("services", service("web", json!({})));
    let error = store.try_create("services", service("web", json!({}))).unwrap_err();
    check(&error, include_str!("../../../fixtures/already-exists.status.json"));
}

#[test]
fn conflict() {
    let mut store = TestStore::new();
    let stale = store.create("services", service("web", json!({})));
    store.merge("services", "web", json!({"metadata": {"labels": {"a": "b"}}}));
    let error = store.try_update("services", stale, Part::Main).unwrap_err();
    check(&error, include_str!("../../../fixtures/conflict.status.json"));
}

#[test]
fn invalid_status_lists_every_cause() {
    let object = json!({"metadata": {"name": "Bad_Name"}, "addressType": "IPv9", "endpoints": []});
    let error = TestStore::new().try_create("endpointslices", object).unwrap_err();
    check(&error, include_str!("../../../fixtures/invalid.status.json"));
}

#[rstest]
#[case::list_as_text("services", json!({"metadata": {"name": "a"}, "spec": {"ports": "x"}}), "spec.ports: ")]
#[case::deep("pods", json!({"metadata": {"name": "a"}, "spec": {"containers": [{"name": 1}]}}), "spec.containers[0].name: ")]
#[case::number_as_text("endpointslices", json!({"metadata": {"name": "a"}, "addressType": "IPv4", "ports": [{"port": "x"}]}), "ports[0].port: ")]
#[case::metadata("configmaps", json!({"metadata": []}), "metadata: ")]
#[case::labels("configmaps", json!({"metadata": {"name": "a", "labels": {"a": 1}}}), "metadata.labels.a: ")]
#[case::not_an_object("pods", json!([]), "not a JSON object")]
#[case::wrong_kind("pods", json!({"kind": "Service"}), "cannot be handled as a Pod")]
#[case::wrong_version("pods", json!({"apiVersion": "v2"}), "does not match the expected API version (v1)")]
fn undecodable_object_is_a_bad_request(#[case] plural: &str, #[case] object: Value, #[case] message: &str) {
    let error = TestStore::new().try_create(plural, object).unwrap_err();
    assert_eq!((error.code, error.reason), (400, "BadRequest"));
    assert!(error.to_string().contains(message), "{error}");
}
