//! Patches of all types, and field validation.

use http::Method;
use http_body_util::BodyExt as _;
use kube_dev_apiserver::Config;
use rstest::rstest;
use serde_json::{Value, json};

use super::client::TestApi;

const SERVICES: &str = "/api/v1/namespaces/default/services";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";
const JSON: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";

fn service() -> Value {
    json!({"metadata": {"name": "web"}, "spec": {"ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}]}})
}

async fn send(api: &TestApi, method: Method, path: &str, media_type: &str, body: &str) -> (u16, Value, String) {
    let response = api.send(method, path, media_type, body.to_owned()).await;
    let code = response.status().as_u16();
    let warnings = response.headers().get_all("warning").iter().map(|it| it.to_str().unwrap().to_owned());
    let warnings = warnings.collect::<Vec<_>>().join("; ");
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&bytes).unwrap(), warnings)
}

#[tokio::test]
async fn strategic_patches_merge_ports_by_number() {
    let api = TestApi::start(Config::default()).await;
    api.create(SERVICES, service()).await;
    let patch = r#"{"spec":{"ports":[{"port":81,"targetPort":9090}]}}"#;
    let (code, object, _) = send(&api, Method::PATCH, &format!("{SERVICES}/web"), STRATEGIC, patch).await;
    assert_eq!(code, 200, "{object}");
    assert_eq!(object["spec"]["ports"].as_array().unwrap().len(), 2);
    assert_eq!(object["spec"]["ports"][1]["targetPort"], 9090);
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
    let (found, status, _) = send(&api, Method::PATCH, &format!("{SERVICES}/web{query}"), media_type, body).await;
    assert_eq!(found, code, "{status}");
    assert!(status["message"].as_str().unwrap().ends_with(message), "{status}");
    assert_eq!(api.get(&format!("{SERVICES}/web")).await.1, created);
}

#[rstest]
#[case("Strict", 400, "")]
#[case("Warn", 201, r#"299 - "unknown field \"spec.ports[0].prot\"""#)]
#[case("", 201, r#"299 - "unknown field \"spec.ports[0].prot\"""#)]
#[case("Ignore", 201, "")]
#[tokio::test]
async fn unknown_fields_of_new_objects(#[case] validation: &str, #[case] code: u16, #[case] warnings: &str) {
    let api = TestApi::start(Config::default()).await;
    let object = r#"{"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80, "prot": 1}]}}"#;
    let path = format!("{SERVICES}?fieldValidation={validation}");
    let (found, body, found_warnings) = send(&api, Method::POST, &path, "application/json", object).await;
    assert_eq!((found, found_warnings.as_str()), (code, warnings), "{body}");
    if code == 400 {
        let expect = "Service in version \"v1\" cannot be handled as a Service: strict decoding error: \
                      unknown field \"spec.ports[0].prot\"";
        assert_eq!(body["message"], expect);
    }
}
