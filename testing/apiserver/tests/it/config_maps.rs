//! Validation of `ConfigMap`s, as upstream's `ValidateConfigMap`.

use http::Method;
use kube_dev_apiserver::Config;
use rstest::rstest;
use serde_json::{Value, json};

use super::client::{CONFIG_MAPS, TestApi};

const KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
                   'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/// Maximum size of all values in bytes.
const MAX: usize = 1024 * 1024;
const TOO_LONG: &str = "Too long: may not be more than 1048576 bytes";

fn invalid_key(key: &str) -> String {
    format!("Invalid value: {key:?}: {KEY}")
}

#[rstest]
#[case::key(json!({"data": {"a/b": ""}}), json!([["data[a/b]", invalid_key("a/b")]]))]
#[case::binary_key(json!({"binaryData": {"a b": ""}}), json!([["binaryData[a b]", invalid_key("a b")]]))]
#[case::dots(json!({"data": {"..": ""}}), json!([["data[..]", "Invalid value: \"..\": must not be '..'"]]))]
#[case::several_rules(json!({"data": {"../x": ""}}), json!([
    ["data[../x]", invalid_key("../x")],
    ["data[../x]", "Invalid value: \"../x\": must not start with '..'"],
]))]
#[case::duplicate(json!({"data": {"a": "x"}, "binaryData": {"a": "eA=="}}), json!([
    ["data[a]", "Invalid value: \"a\": duplicate of key present in binaryData"],
]))]
#[case::size(json!({"data": {"a": "x".repeat(MAX + 1)}}), json!([["[]", TOO_LONG]]))]
#[case::total_size(json!({"data": {"a": "x".repeat(MAX - 2)}, "binaryData": {"b": "eHh4"}}), json!([["[]", TOO_LONG]]))]
#[case::largest(json!({"data": {"a": "x".repeat(MAX - 3)}, "binaryData": {"b": "eHh4"}}), json!([]))]
#[tokio::test]
async fn keys_and_size_are_validated(#[case] mut map: Value, #[case] expect: Value) {
    let api = TestApi::start(Config::default()).await;
    map["metadata"] = json!({"name": "a"});
    let (code, answer) = api.json(Method::POST, CONFIG_MAPS, &map).await;
    assert_eq!(code, if expect == json!([]) { 201 } else { 422 });
    let causes = answer["details"]["causes"].as_array().into_iter().flatten();
    let causes: Vec<Value> = causes.map(|cause| json!([cause["field"], cause["message"]])).collect();
    assert_eq!(json!(causes), expect);
}

/// Updates are validated like creates.
#[tokio::test]
async fn updates_are_validated() {
    let api = TestApi::start(Config::default()).await;
    api.create(CONFIG_MAPS, json!({"metadata": {"name": "a"}})).await;
    let patch = json!({"data": {"a/b": "x"}});
    assert_eq!(api.json(Method::PATCH, &format!("{CONFIG_MAPS}/a"), &patch).await.0, 422);
}
