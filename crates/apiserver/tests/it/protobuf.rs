//! Protobuf, as a client asks for it.

use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use kube_dev_apiserver::{Config, End, Fault};
use rstest::rstest;
use serde_json::json;

use super::client::{PODS, World};

const BOTH: &str = "application/vnd.kubernetes.protobuf,application/json";

/// Code, content type and body of a GET.
async fn get(world: &World, path: &str, accept: &str) -> (u16, String, Vec<u8>) {
    let request = Request::builder()
        .method(Method::GET)
        .uri(format!("{}{path}", world.server.url()))
        .header("accept", accept)
        .body(Full::<bytes::Bytes>::default())
        .unwrap();
    let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new()).build_http();
    let response = client.request(request).await.unwrap();
    let media_type = response.headers()["content-type"].to_str().unwrap().to_owned();
    let code = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (code, media_type, body.to_vec())
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

async fn world() -> World {
    let world = World::start(Config::default()).await;
    let pod = json!({"metadata": {"name": "web"}, "spec": {"containers": [{"name": "main", "image": "app:1"}]}});
    world.create(PODS, pod).await;
    world
}

#[rstest]
#[case::list("/api/v1/pods", 200, "PodList", "app:1")]
#[case::object("/api/v1/namespaces/default/pods/web", 200, "Pod", "app:1")]
#[case::refusal("/api/v1/namespaces/default/pods/gone", 404, "Status", "pods \"gone\" not found")]
#[tokio::test]
async fn documents(#[case] path: &str, #[case] code: u16, #[case] kind: &str, #[case] inside: &str) {
    let world = world().await;
    let (found, media_type, body) = get(&world, path, BOTH).await;
    assert_eq!((found, media_type.as_str()), (code, "application/vnd.kubernetes.protobuf"));
    assert!(body.starts_with(b"k8s\0") && has(&body[..40], kind) && has(&body, inside));
}

#[rstest]
#[case::not_preferred("/api/v1/pods", "application/json,application/vnd.kubernetes.protobuf")]
#[case::kind_without("/api/v1/configmaps", BOTH)]
#[tokio::test]
async fn json_where_that_is_what_fits(#[case] path: &str, #[case] accept: &str) {
    let (code, media_type, body) = get(&world().await, path, accept).await;
    assert_eq!((code, media_type.as_str(), body[0]), (200, "application/json", b'{'));
}

#[tokio::test]
async fn a_watch_is_framed() {
    let world = world().await;
    world.server.faults().inject(Fault::end_watch(std::time::Duration::from_millis(100), End::Expired));
    let accept = "application/vnd.kubernetes.protobuf;stream=watch,application/json";
    let path =
        "/api/v1/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    let (code, media_type, body) = get(&world, path, accept).await;
    assert_eq!((code, media_type.as_str()), (200, "application/vnd.kubernetes.protobuf;stream=watch"));
    let mut rest = &body[..];
    let mut events = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk() {
        let (event, after) = after.split_at(u32::from_be_bytes(*length) as usize);
        let kind = usize::from(event[1]);
        events.push(String::from_utf8_lossy(&event[2..2 + kind]).into_owned());
        assert!(has(event, "k8s\0"));
        rest = after;
    }
    assert_eq!(events, ["ADDED", "BOOKMARK", "ERROR"]);
    assert!(has(&body, "k8s.io/initial-events-end") && has(&body, "Expired"));
}
