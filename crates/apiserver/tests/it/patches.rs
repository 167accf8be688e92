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
const MERGE: &str = "application/merge-patch+json";
const JSON: &str = "application/json-patch+json";

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

#[tokio::test]
async fn apply_creates_and_merges() {
    let api = TestApi::start(Config::default()).await;
    let path = format!("{SERVICES}/web?fieldManager=me&force=true");
    let yaml = "apiVersion: v1\nkind: Service\nmetadata:\n  labels: {a: b}\nspec:\n  ports: [{port: 80}]\n";
    let (code, created, _) = send(&api, Method::PATCH, &path, APPLY, yaml).await;
    assert_eq!((code, &created["metadata"]["name"]), (201, &json!("web")));
    let yaml = "apiVersion: v1\nkind: Service\nmetadata:\n  labels: {c: d}\nspec:\n  ports: [{port: 80, name: x}]\n";
    let (code, merged, _) = send(&api, Method::PATCH, &path, APPLY, yaml).await;
    assert_eq!((code, &merged["metadata"]["labels"]), (200, &json!({"a": "b", "c": "d"})));
    assert_eq!(merged["spec"]["ports"].as_array().unwrap().len(), 1);
    assert_eq!(merged["spec"]["clusterIP"], created["spec"]["clusterIP"]);
}

/// kubectl sends this patch to migrate an object from client-side to server-side apply.
#[tokio::test]
async fn patches_of_managed_fields_have_no_effect() {
    let api = TestApi::start(Config::default()).await;
    let created = api.create(SERVICES, service()).await;
    let version = &created["metadata"]["resourceVersion"];
    let patch = json!([
        {"op": "replace", "path": "/metadata/managedFields", "value": [{"manager": "kubectl"}]},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": version}
    ]);
    let path = format!("{SERVICES}/web");
    let (code, object, _) = send(&api, Method::PATCH, &path, JSON, &patch.to_string()).await;
    assert_eq!((code, &object), (200, &created));
    let stale = patch.to_string().replace(version.as_str().unwrap(), "1");
    assert_eq!(send(&api, Method::PATCH, &path, JSON, &stale).await.0, 409);
}

#[rstest]
#[case::no_manager(APPLY, "", "apiVersion: v1\nkind: Service\n", 422, "fieldManager: Required value")]
#[case::no_kind(APPLY, "?fieldManager=me", "metadata: {}\n", 400, "apiVersion and kind")]
#[case::other_name(
    APPLY,
    "?fieldManager=me",
    "{apiVersion: v1, kind: Service, metadata: {name: x}}",
    400,
    "does not match the name"
)]
#[case::undeclared(
    APPLY,
    "?fieldManager=me",
    "{apiVersion: v1, kind: Service, spec: {foo: 1}}",
    500,
    "failed to create typed patch object (default/web; v1, Kind=Service): .spec.foo: field not declared in schema"
)]
#[case::managed(
    APPLY,
    "?fieldManager=me",
    "{apiVersion: v1, kind: Service, metadata: {managedFields: [{}]}}",
    400,
    "must be nil"
)]
#[case::forced(MERGE, "?force=true", "{}", 422, "force: Forbidden")]
#[case::strict(
    MERGE,
    "?fieldValidation=Strict",
    r#"{"spec": {"foo": 1}}"#,
    422,
    r#"strict decoding error: unknown field "spec.foo""#
)]
#[case::strict_strategic(STRATEGIC, "?fieldValidation=Strict", r#"{"x": 1}"#, 422, r#"unknown field "x""#)]
#[case::no_merge_key(STRATEGIC, "", r#"{"spec": {"ports": [{"name": "x"}]}}"#, 500, "declared merge key: port")]
#[case::not_json(STRATEGIC, "", "{", 400, "error decoding patch")]
#[case::bad_validation(MERGE, "?fieldValidation=x", "{}", 422, "fieldValidation: Unsupported value")]
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
    assert!(status["message"].as_str().unwrap().contains(message), "{status}");
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
