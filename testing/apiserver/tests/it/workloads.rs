//! Deployments and their subresource `scale`, Jobs and Secrets.

use http::Method;
use http_body_util::BodyExt as _;
use kube_dev_apiserver::{Config, FieldTracking};
use rstest::rstest;
use serde_json::{Value, json};

use super::client::TestApi;

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

fn deployment() -> Value {
    let pod =
        json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "app:1"}]}});
    json!({"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": pod}})
}

async fn api() -> TestApi {
    let api = TestApi::start(Config { field_tracking: FieldTracking::Always, ..Config::default() }).await;
    api.create(DEPLOYMENTS, deployment()).await;
    api
}

async fn patch(api: &TestApi, path: &str, media_type: &str, body: &Value) -> (u16, Value) {
    let response = api.send(Method::PATCH, path, media_type, body.to_string()).await;
    let code = response.status().as_u16();
    (code, serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).unwrap())
}

#[rstest]
#[case::merge("application/merge-patch+json", "", json!({"spec": {"replicas": 3}}))]
#[case::strategic("application/strategic-merge-patch+json", "", json!({"spec": {"replicas": 3}}))]
#[case::json("application/json-patch+json", "", json!([{"op": "replace", "path": "/spec/replicas", "value": 3}]))]
#[case::apply(
    "application/apply-patch+yaml",
    // The creator of the Deployment owns the default.
    "&force=true",
    json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web"}, "spec": {"replicas": 3}})
)]
#[tokio::test]
async fn scale_is_patched(#[case] media_type: &str, #[case] options: &str, #[case] body: Value) {
    let api = api().await;
    let path = format!("{DEPLOYMENTS}/web/scale?fieldManager=me{options}");
    let (code, scale) = patch(&api, &path, media_type, &body).await;
    assert_eq!((code, &scale["kind"], &scale["spec"]["replicas"]), (200, &json!("Scale"), &json!(3)), "{scale}");
    let (_, object) = api.get(&format!("{DEPLOYMENTS}/web")).await;
    assert_eq!(object["spec"]["replicas"], 3);
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let scaled = entries.iter().find(|entry| entry["subresource"] == "scale").unwrap();
    assert_eq!((&scaled["manager"], &scaled["apiVersion"]), (&json!("me"), &json!("apps/v1")));
    assert_eq!(scaled["fieldsV1"], json!({"f:spec": {"f:replicas": {}}}));
}

#[tokio::test]
async fn scale_is_replaced_and_conflicts_with_an_applied_number() {
    let api = api().await;
    let path = format!("{DEPLOYMENTS}/web/scale");
    let (_, mut scale) = api.get(&path).await;
    scale["spec"]["replicas"] = json!(5);
    let (code, replaced) = api.json(Method::PUT, &path, &scale).await;
    assert_eq!((code, &replaced["spec"]["replicas"]), (200, &json!(5)));
    let (code, stale) = api.json(Method::PUT, &path, &scale).await;
    assert_eq!((code, &stale["reason"]), (409, &json!("Conflict")));
    let seven = json!({"spec": {"replicas": 7}});
    let (_, dry) = patch(&api, &format!("{path}?dryRun=All"), "application/merge-patch+json", &seven).await;
    assert_eq!(dry["spec"]["replicas"], 7);
    assert_eq!(api.get(&path).await.1["spec"]["replicas"], 5);

    let applied =
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 1}});
    let path = format!("{DEPLOYMENTS}/web?fieldManager=gitops");
    let (code, conflict) = patch(&api, &path, "application/apply-patch+yaml", &applied).await;
    assert_eq!(code, 409);
    let message = conflict["message"].as_str().unwrap();
    assert!(message.contains("with subresource \"scale\"") && message.contains(".spec.replicas"), "{message}");
}

#[tokio::test]
async fn scale_is_validated_like_other_objects() {
    let api = api().await;
    let path = format!("{DEPLOYMENTS}/web/scale");
    let body = json!({"spec": {"replicas": 3, "foo": 1}});
    let (code, refused) =
        patch(&api, &format!("{path}?fieldValidation=Strict"), "application/merge-patch+json", &body).await;
    let message = refused["message"].as_str().unwrap();
    assert!(code == 422 && message.ends_with(r#"strict decoding error: unknown field "spec.foo""#), "{message}");
    assert_eq!(patch(&api, &path, "application/merge-patch+json", &body).await.0, 200);
    let written = api.server.requests().all().into_iter().rfind(|it| it.subresource == "scale").unwrap();
    assert_eq!((written.object_name.as_str(), written.applied), ("web", true));
}

#[rstest]
#[case::missing(Method::GET, "/apis/apps/v1/namespaces/default/deployments/none/scale", 404)]
#[case::delete(Method::DELETE, "/apis/apps/v1/namespaces/default/deployments/web/scale", 405)]
#[case::not_scalable(Method::GET, "/api/v1/namespaces/default/pods/web/scale", 404)]
#[case::jobs(Method::GET, "/apis/batch/v1/namespaces/default/jobs/web/scale", 404)]
#[tokio::test]
async fn other_scales_are_refused(#[case] method: Method, #[case] path: &str, #[case] code: u16) {
    assert_eq!(api().await.json(method, path, &Value::Null).await.0, code);
}

#[tokio::test]
async fn discovery_lists_the_scale_with_its_kind() {
    let (_, list) = api().await.get("/apis/apps/v1").await;
    let resources = list["resources"].as_array().unwrap();
    let scale = resources.iter().find(|it| it["name"] == "deployments/scale").unwrap();
    assert_eq!(
        (&scale["group"], &scale["version"], &scale["kind"]),
        (&json!("autoscaling"), &json!("v1"), &json!("Scale"))
    );
}

/// A Job deleted without a policy orphans its Pods, as upstream; a Deployment deletes what it owns.
#[rstest]
#[case::job("/apis/batch/v1/namespaces/default/jobs", "batch/v1", "Job", true)]
#[case::deployment(DEPLOYMENTS, "apps/v1", "Deployment", false)]
#[tokio::test]
async fn default_propagation_of_a_delete(
    #[case] path: &str,
    #[case] api_version: &str,
    #[case] kind: &str,
    #[case] stays: bool,
) {
    let api = TestApi::start(Config { garbage_collection: true, ..Config::default() }).await;
    let mut object = deployment();
    if kind == "Job" {
        object["spec"] = json!({"template": object["spec"]["template"]});
        object["spec"]["template"]["spec"]["restartPolicy"] = json!("Never");
    }
    let owner = api.create(path, object).await;
    let reference = json!({"apiVersion": api_version, "kind": kind, "name": "web", "uid": owner["metadata"]["uid"]});
    let secret = json!({"metadata": {"name": "owned", "ownerReferences": [reference]}});
    api.create("/api/v1/namespaces/default/secrets", secret).await;
    let (code, answer) = api.json(Method::DELETE, &format!("{path}/web"), &Value::Null).await;
    assert_eq!((code, &answer["status"]), (200, &json!("Success")));
    let (code, _) = api.get("/api/v1/namespaces/default/secrets/owned").await;
    assert_eq!(code, if stays { 200 } else { 404 });
}
