//! Patches of all types, and field validation.

use http::Method;
use http_body_util::BodyExt as _;
use kube_dev_apiserver::Config;
use rstest::rstest;
use serde_json::{Value, json};

use super::client::{PODS, TestApi};

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
#[case::no_manager(
    APPLY,
    "",
    "apiVersion: v1\nkind: Service\n",
    422,
    "fieldManager: Required value: is required for apply patch"
)]
#[case::no_kind(APPLY, "?fieldManager=me", "metadata: {}\n", 400, "invalid object type: /, Kind=")]
#[case::other_kind(
    APPLY,
    "?fieldManager=me",
    "{apiVersion: apps/v1, kind: Pod}",
    400,
    "invalid object type: apps/v1, Kind=Pod"
)]
#[case::list(
    APPLY,
    "?fieldManager=me",
    "[]",
    400,
    "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}"
)]
#[case::manager_with_a_tab(
    APPLY,
    "?fieldManager=a%09b",
    "{apiVersion: v1, kind: Service}",
    422,
    "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Invalid value: \"a\\tb\": invalid character U+0009 (at position 1)"
)]
#[case::other_namespace(
    APPLY,
    "?fieldManager=me",
    "{apiVersion: v1, kind: Service, metadata: {namespace: x}}",
    400,
    "the namespace of the provided object does not match the namespace sent on the request"
)]
#[case::other_name(
    APPLY,
    "?fieldManager=me",
    "{apiVersion: v1, kind: Service, metadata: {name: x}}",
    400,
    "the name of the object (x) does not match the name on the URL (web)"
)]
#[case::undeclared(
    APPLY,
    "?fieldManager=me",
    "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {foo: 1, ports: x}}",
    500,
    "failed to create typed patch object (/web; /v1, Kind=Service): errors:\n  .spec.foo: field not declared in schema\n  .spec.ports: expected list, got &{x}"
)]
#[case::managed(
    APPLY,
    "?fieldManager=me",
    "{apiVersion: v1, kind: Service, metadata: {managedFields: [{}]}}",
    400,
    "metadata.managedFields must be nil"
)]
#[case::managed_by_nobody(
    APPLY,
    "?fieldManager=me",
    "{apiVersion: v1, kind: Service, metadata: {managedFields: []}}",
    400,
    "metadata.managedFields must be nil"
)]
#[case::forced(MERGE, "?force=true", "{}", 422, "force: Forbidden: may not be specified for non-apply patch")]
#[case::strict(
    MERGE,
    "?fieldValidation=Strict",
    r#"{"spec": {"foo": 1}}"#,
    422,
    r#"strict decoding error: unknown field "spec.foo""#
)]
#[case::strict_duplicate(
    MERGE,
    "?fieldValidation=Strict",
    r#"{"spec": {"foo": 1, "type": "ClusterIP", "type": "ClusterIP"}}"#,
    422,
    r#"strict decoding error: duplicate field "spec.type", unknown field "spec.foo""#
)]
#[case::strict_configuration(
    APPLY,
    "?fieldManager=me&fieldValidation=Strict",
    "{apiVersion: v1, kind: Service, metadata: {name: web, name: web}}",
    400,
    r#"error strict decoding YAML: duplicate field "metadata.name""#
)]
#[case::kind_before_duplicates(
    APPLY,
    "?fieldManager=me&fieldValidation=Strict",
    "{apiVersion: v1, kind: Pod, metadata: {name: web, name: web}}",
    400,
    "invalid object type: /v1, Kind=Pod"
)]
#[case::strict_strategic(STRATEGIC, "?fieldValidation=Strict", r#"{"x": 1}"#, 422, r#"unknown field "x""#)]
#[case::no_merge_key(
    STRATEGIC,
    "",
    r#"{"spec": {"ports": [{"name": "x"}]}}"#,
    500,
    "map: map[name:x] does not contain declared merge key: port"
)]
#[case::unknown_directive(
    STRATEGIC,
    "",
    r#"{"spec": {"$patch": "x"}}"#,
    500,
    "unknown patch type: x in map: map[$patch:x]"
)]
#[case::bad_retain_keys(STRATEGIC, "", r#"{"spec": {"$retainKeys": 1}}"#, 400, "invalid patch format of retainKeys")]
#[case::strategic_list(
    STRATEGIC,
    "",
    "[]",
    400,
    "json: cannot unmarshal array into Go value of type map[string]interface {}"
)]
#[case::strategic_not_json(STRATEGIC, "", "{", 400, "unexpected end of JSON input")]
#[case::not_json(MERGE, "", "{", 400, "error decoding patch: unexpected end of JSON input")]
#[case::json_patch(
    JSON,
    "",
    r#"[{"op": "replace", "path": "/x/y", "value": 1}]"#,
    422,
    "the server rejected our request due to an error in our request"
)]
#[case::bad_validation(
    MERGE,
    "?fieldValidation=x",
    "{}",
    422,
    "fieldValidation: Unsupported value: \"x\": supported values: \"Ignore\", \"Strict\", \"Warn\""
)]
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

#[tokio::test]
async fn duplicate_fields_of_refused_patches_cause_warnings() {
    let api = TestApi::start(Config::default()).await;
    api.create(SERVICES, service()).await;
    let patch = r#"{"spec": {"type": "ClusterIP", "type": "x"}}"#;
    let (code, _, warnings) = send(&api, Method::PATCH, &format!("{SERVICES}/web"), MERGE, patch).await;
    assert_eq!((code, warnings.as_str()), (422, r#"299 - "duplicate field \"spec.type\"""#));
}

/// Creates a Deployment whose container has these ports.
fn deployment(ports: &Value) -> Value {
    let labels = json!({"app": "web"});
    let spec = json!({"containers": [{"name": "a", "image": "a", "ports": ports}]});
    let template = json!({"metadata": {"labels": labels}, "spec": spec});
    json!({"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": labels}, "template": template}})
}

#[tokio::test]
async fn duplicate_ports_cause_warnings() {
    const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
    let api = TestApi::start(Config::default()).await;
    let ports = json!([{"containerPort": 80}, {"containerPort": 80, "name": "b"}]);
    let expect = |root: &str| {
        format!("299 - \"{root}.containers[0].ports[1]: duplicate port definition with {root}.containers[0].ports[0]\"")
    };
    let pod =
        json!({"metadata": {"name": "web"}, "spec": {"containers": [{"name": "a", "image": "a", "ports": ports}]}});
    let (code, _, warnings) = send(&api, Method::POST, PODS, "application/json", &pod.to_string()).await;
    assert_eq!((code, warnings), (201, expect("spec")));
    // As upstream, updates of Pods cause none, and those of workloads do if the spec changes.
    let labels = r#"{"metadata": {"labels": {"a": "b"}}}"#;
    let (code, _, warnings) = send(&api, Method::PATCH, &format!("{PODS}/web"), MERGE, labels).await;
    assert_eq!((code, warnings.as_str()), (200, ""));
    let body = deployment(&ports).to_string();
    let (code, _, warnings) = send(&api, Method::POST, DEPLOYMENTS, "application/json", &body).await;
    assert_eq!((code, warnings), (201, expect("spec.template.spec")));
    for (patch, warns) in [(labels, false), (r#"{"spec": {"paused": true}}"#, true)] {
        let (code, _, warnings) = send(&api, Method::PATCH, &format!("{DEPLOYMENTS}/web"), MERGE, patch).await;
        assert_eq!((code, warnings), (200, if warns { expect("spec.template.spec") } else { String::new() }));
    }
}

#[rstest]
#[case::create(Method::POST, "", "CreateOptions")]
#[case::update(Method::PUT, "/web", "UpdateOptions")]
#[case::patch(Method::PATCH, "/web", "PatchOptions")]
#[tokio::test]
async fn field_managers_are_printable(#[case] method: Method, #[case] path: &str, #[case] options: &str) {
    let api = TestApi::start(Config::default()).await;
    let media_type = if method == Method::PATCH { MERGE } else { "application/json" };
    let path = format!("{SERVICES}{path}?fieldManager=a%0Ab");
    let (code, status, _) = send(&api, method, &path, media_type, &service().to_string()).await;
    let expect = format!(
        "{options}.meta.k8s.io \"\" is invalid: fieldManager: Invalid value: \"a\\nb\": invalid character U+000A (at position 1)"
    );
    assert_eq!((code, status["message"].as_str()), (422, Some(expect.as_str())));
}
