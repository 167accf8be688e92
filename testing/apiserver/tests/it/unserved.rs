//! Answers for paths that are not served.

use http::Method;
use kube_dev_apiserver::{Config, CustomKind};
use rstest::rstest;
use serde_json::{Value, json};

use super::client::TestApi;

const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

async fn api() -> TestApi {
    let kinds = vec![CustomKind::new("example.com", "v1", "Widget")];
    let api = TestApi::start(Config { kinds, ..Config::default() }).await;
    api.create(WIDGETS, json!({"metadata": {"name": "w"}})).await;
    api
}

/// Upstream's `director` passes each path of a built-in group to go-restful, whose error handler answers with a `Status`.
#[rstest]
#[case::core("/api/v1/nope")]
#[case::namespaced("/api/v1/namespaces/default/nope")]
#[case::object("/api/v1/namespaces/default/nope/a")]
#[case::group("/apis/apps/v1/namespaces/default/nope")]
#[case::version("/apis/apps/v9/deployments")]
#[case::core_version("/api/v2/pods")]
#[case::without_namespace("/api/v1/pods/p")]
#[case::of_no_namespace("/api/v1/namespaces/default/nodes")]
#[case::subresource("/api/v1/namespaces/default/configmaps/a/status")]
#[case::reviews("/apis/authorization.k8s.io/v1/nope")]
#[case::too_long("/api/v1/namespaces/default/pods/a/b/c/d")]
#[case::below_version("/version/nope")]
#[tokio::test]
async fn paths_of_built_in_groups_get_a_status(
    #[case] path: &str,
    #[values(Method::GET, Method::POST, Method::DELETE)] method: Method,
) {
    let (code, answer) = api().await.json(method, path, &Value::Null).await;
    let expect = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "NotFound",
        "message": "the server could not find the requested resource", "details": {}, "code": 404,
    });
    assert_eq!((code, answer), (404, expect));
}

/// Nothing claims these paths: upstream answers with `http.NotFound`. A group without built-in kinds is one of these.
#[rstest]
#[case::path("/nope")]
#[case::group("/apis/nope.example.com/v1/nope")]
#[case::custom_group("/apis/example.com/v1/namespaces/default/nope")]
#[case::version("/apis/example.com/v2/widgets")]
#[case::without_namespace("/apis/example.com/v1/widgets/w")]
#[case::prefix_of_a_name("/apis/appsx/v1/nope")]
#[case::health("/healthz/nope")]
#[tokio::test]
async fn other_paths_get_plain_text(#[case] path: &str) {
    assert_eq!(api().await.get(path).await, (404, "404 page not found\n".into()));
}

/// Upstream's `crdHandler` answers for the object.
#[tokio::test]
async fn subresource_that_a_custom_kind_lacks() {
    let (code, answer) = api().await.get(&format!("{WIDGETS}/w/status")).await;
    assert_eq!((code, &answer["reason"]), (404, &json!("NotFound")));
    assert_eq!(answer["message"], "widgets.example.com \"w\" not found");
    assert_eq!(answer["details"], json!({"name": "w", "group": "example.com", "kind": "widgets"}));
}
