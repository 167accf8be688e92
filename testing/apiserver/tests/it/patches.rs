//! Patches of all types, and field validation.

use http::Method;
use kube_dev_apiserver::Config;
use rstest::rstest;
use serde_json::{Value, json};

use super::client::{SERVICES, TestApi, answer};

const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";
const JSON: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";

fn service() -> Value {
    json!({"metadata": {"name": "web"}, "spec": {"ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}]}})
}

#[rstest]
#[case::no_manager(APPLY, "", "apiVersion: v1\nkind: Service\n", 400, "fieldManager is required for apply patch")]
#[case::other_kind(
    APPLY,
    "?fieldManager=me",
    "{apiVersion: apps/v1, kind: Pod}",
    400,
    "invalid object type: apps/v1, Kind=Pod"
)]
#[case::undeclared(
    APPLY,
    "?fieldManager=me",
    "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {foo: 1}}",
    500,
    "failed to create typed patch object (/web; /v1, Kind=Service): .spec.foo: field not declared in schema"
)]
#[case::strict(
    MERGE,
    "?fieldValidation=Strict",
    r#"{"spec": {"foo": 1}}"#,
    422,
    r#"strict decoding error: unknown field "spec.foo""#
)]
#[case::strict_strategic(STRATEGIC, "?fieldValidation=Strict", r#"{"x": 1}"#, 422, r#"unknown field "x""#)]
#[case::json_patch(
    JSON,
    "",
    r#"[{"op": "replace", "path": "/x/y", "value": 1}]"#,
    422,
    "the server rejected our request due to an error in our request"
)]
#[case::bad_validation(MERGE, "?fieldValidation=x", "{}", 400, "fieldValidation: unsupported value \"x\"")]
#[tokio::test]
async fn invalid_patches_are_rejected(
    #[case] media_type: &str,
    #[case] query: &str,
    #[case] body: &str,
    #[case] code: u16,
    #[case] message: &str,
) {
    let api = TestApi::start(Config::default()).await;
    let created = api.create(SERVICES, service()).await;
    let path = format!("{SERVICES}/web{query}");
    let (found, status) = answer(api.send(Method::PATCH, &path, media_type, body.to_owned()).await).await;
    assert_eq!(found, code, "{status}");
    assert!(status["message"].as_str().unwrap().ends_with(message), "{status}");
    assert_eq!(api.get(&format!("{SERVICES}/web")).await.1, created);
}
