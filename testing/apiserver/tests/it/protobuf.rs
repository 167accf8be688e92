//! Protobuf requests and responses.

use http::Method;
use http_body_util::BodyExt as _;
use kube_dev_apiserver::{Config, CustomKind, End, Fault};
use rstest::rstest;
use serde_json::{Value, json};

use super::client::{PODS, SERVICES, TestApi, answer};
use super::encoded;

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const BOTH: &str = "application/vnd.kubernetes.protobuf,application/json";

/// Returns status code, content type and body of a GET.
async fn get(api: &TestApi, path: &str, accept: &str) -> (u16, String, Vec<u8>) {
    let response = api.send_as(Method::GET, path, "", accept, "").await;
    let media_type = response.headers()["content-type"].to_str().unwrap().to_owned();
    let code = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (code, media_type, body.to_vec())
}

fn contains_text(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

async fn api() -> TestApi {
    let widgets = CustomKind::new("example.com", "v1", "Widget");
    let api = TestApi::start(Config { kinds: vec![widgets], ..Config::default() }).await;
    let pod = json!({"metadata": {"name": "web"}, "spec": {"containers": [{"name": "main", "image": "app:1"}]}});
    api.create(PODS, pod).await;
    api
}

#[rstest]
#[case::list("/api/v1/pods", 200, "PodList", "app:1")]
#[case::object("/api/v1/namespaces/default/pods/web", 200, "Pod", "app:1")]
#[case::others("/api/v1/namespaces/default", 200, "Namespace", "kubernetes.io/metadata.name")]
#[case::refusal("/api/v1/namespaces/default/pods/gone", 404, "Status", "pods \"gone\" not found")]
#[tokio::test]
async fn protobuf_is_returned_where_accepted(
    #[case] path: &str,
    #[case] code: u16,
    #[case] kind: &str,
    #[case] inside: &str,
) {
    let api = api().await;
    let (found, media_type, body) = get(&api, path, BOTH).await;
    assert_eq!((found, media_type.as_str()), (code, "application/vnd.kubernetes.protobuf"));
    assert!(body.starts_with(b"k8s\0") && contains_text(&body[..40], kind) && contains_text(&body, inside));
}

#[rstest]
#[case::not_preferred("/api/v1/pods", "application/json,application/vnd.kubernetes.protobuf")]
#[case::kind_without("/apis/example.com/v1/widgets", BOTH)]
#[case::table("/api/v1/pods", "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json")]
#[tokio::test]
async fn json_is_returned_where_protobuf_is_not_possible(#[case] path: &str, #[case] accept: &str) {
    let (code, media_type, body) = get(&api().await, path, accept).await;
    assert_eq!((code, media_type.as_str(), body[0]), (200, "application/json", b'{'));
}

#[tokio::test]
async fn protobuf_watch_is_length_prefixed() {
    let api = api().await;
    api.server.faults().inject(Fault::end_watch(std::time::Duration::from_secs(1), End::Expired));
    let accept = "application/vnd.kubernetes.protobuf;stream=watch,application/json";
    let path =
        "/api/v1/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    let (code, media_type, body) = get(&api, path, accept).await;
    assert_eq!((code, media_type.as_str()), (200, "application/vnd.kubernetes.protobuf;stream=watch"));
    let mut rest = &body[..];
    let mut events = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk() {
        let (event, after) = after.split_at(u32::from_be_bytes(*length) as usize);
        let kind = usize::from(event[1]);
        events.push(String::from_utf8_lossy(&event[2..2 + kind]).into_owned());
        assert!(contains_text(event, "k8s\0"));
        rest = after;
    }
    assert_eq!(events, ["ADDED", "BOOKMARK", "ERROR"]);
    assert!(contains_text(&body, "k8s.io/initial-events-end") && contains_text(&body, "Expired"));
}

/// Sends a protobuf body that accepts JSON, and returns the status code and the response.
async fn send(api: &TestApi, method: Method, path: &str, body: Vec<u8>) -> (u16, Value) {
    answer(api.send_as(method, path, PROTOBUF, "application/json", body).await).await
}

#[tokio::test]
async fn objects_are_created_updated_and_deleted() {
    let api = api().await;
    let (code, created) = send(&api, Method::POST, SERVICES, encoded::service("web", 80)).await;
    assert_eq!(code, 201, "{created}");
    assert_eq!(created["spec"]["ports"], json!([{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 80}]));
    assert_eq!(created["spec"]["selector"], json!({"app": "web"}));

    let path = format!("{SERVICES}/web");
    let (code, updated) = send(&api, Method::PUT, &path, encoded::service("web", 90)).await;
    assert_eq!((code, &updated["spec"]["ports"][0]["port"]), (200, &json!(90)), "{updated}");

    // A delete with a failing precondition, then with a matching one, both with a propagation policy.
    let uid = created["metadata"]["uid"].as_str().unwrap();
    let options = |uid: &str| {
        let object = encoded::fields(&[(2, &encoded::fields(&[(1, uid.as_bytes())])), (4, b"Foreground")]);
        encoded::document("v1", "DeleteOptions", &object)
    };
    assert_eq!(send(&api, Method::DELETE, &path, options("other")).await.0, 409);
    assert_eq!(send(&api, Method::DELETE, &path, options(uid)).await.0, 200);
}

#[tokio::test]
async fn write_responses_are_in_protobuf_if_preferred() {
    let api = api().await;
    let response = api.send_as(Method::POST, SERVICES, PROTOBUF, BOTH, encoded::service("web", 80)).await;
    assert_eq!((response.status().as_u16(), &response.headers()["content-type"]), (201, &PROTOBUF.parse().unwrap()));
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert!(body.starts_with(b"k8s\0") && contains_text(&body, "10.96."));
}

#[tokio::test]
async fn reviews_are_served_in_protobuf() {
    let api = api().await;
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let (code, review) = send(&api, Method::POST, path, encoded::self_access_review("list", "pods")).await;
    assert_eq!((code, &review["status"]["allowed"]), (201, &json!(true)), "{review}");
    let response = api.send_as(Method::POST, path, PROTOBUF, BOTH, encoded::self_access_review("list", "pods")).await;
    let body = response.into_body().collect().await.unwrap().to_bytes();
    // Field 3 is the status of the review, with `allowed` (1).
    assert!(body.starts_with(b"k8s\0") && contains_text(&body[..60], "SelfSubjectAccessReview"));
    assert!(body.windows(4).any(|it| it[0] == 0x1a && it[2..] == [0x08, 1]), "{body:?}");

    let account = encoded::document("v1", "ServiceAccount", &encoded::fields(&[(1, &encoded::named("robot"))]));
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    assert_eq!(send(&api, Method::POST, accounts, account).await.0, 201);
    let spec = [encoded::fields(&[(1, b"somebody")]), vec![4 << 3, 0x90, 0x1c]].concat();
    let request = encoded::document("authentication.k8s.io/v1", "TokenRequest", &encoded::fields(&[(2, &spec)]));
    let (code, token) = send(&api, Method::POST, &format!("{accounts}/robot/token"), request).await;
    assert_eq!(code, 201, "{token}");
    assert_eq!(token["spec"]["audiences"], json!(["somebody"]));
    assert_eq!(token["spec"]["expirationSeconds"], 3_600);
}
