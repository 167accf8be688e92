//! In-process requests.

mod ends;
mod seeds;

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use kube_dev_apiserver::{Config, Fault, InProcess, On, ResponseBody, Server};
use rstest::rstest;
use serde_json::{Value, json};
use tokio::time::Instant;
use tower::ServiceExt as _;

use super::client::{CONFIG_MAPS, PODS, TestApi, named};

const NODES: &str = "/api/v1/nodes";

fn start() -> Server {
    Server::in_process(Config { seed: Some(1), ..Config::default() }).unwrap()
}

fn request(method: Method, path: &str, body: &Value) -> Request<Full<Bytes>> {
    let media_type = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
    let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
    let request = Request::builder().method(method).uri(path).header("content-type", media_type);
    request.header("user-agent", "it/1").body(Full::new(body)).unwrap()
}

async fn send(
    service: &InProcess,
    method: Method,
    path: &str,
    body: &Value,
) -> std::io::Result<Response<ResponseBody>> {
    service.clone().oneshot(request(method, path, body)).await
}

async fn json(service: &InProcess, method: Method, path: &str, body: &Value) -> (u16, Value) {
    let response = send(service, method, path, body).await.unwrap();
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&bytes).unwrap())
}

#[tokio::test(start_paused = true)]
async fn objects_are_inspected_without_a_request() {
    let server = start();
    let before = server.revision();
    for name in ["b", "a"] {
        assert_eq!(json(&server.service(), Method::POST, CONFIG_MAPS, &named(name)).await.0, 201);
    }
    let objects = server.objects("", "configmaps");
    let names: Vec<&str> = objects.iter().map(|object| object["metadata"]["name"].as_str().unwrap()).collect();
    assert_eq!((names, server.revision()), (vec!["a", "b"], before + 2));
    let encoded = server.encoded_objects("", "configmaps");
    assert_eq!(objects, encoded.iter().map(|json| serde_json::from_slice(json).unwrap()).collect::<Vec<Value>>());
    assert_eq!(server.objects("example.com", "configmaps"), Vec::<Value>::new());
}

#[rstest]
#[case::path(PODS)]
#[case::with_authority("http://api.example:80/api/v1/namespaces/default/pods")]
#[tokio::test(start_paused = true)]
async fn in_process_requests_are_logged_like_those_of_connections(#[case] uri: &str) {
    let server = start();
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    assert_eq!(json(&server.service(), Method::POST, uri, &pod).await.0, 201);
    let requests = server.requests().all();
    let logged = &requests[0];
    assert_eq!((logged.path.as_str(), logged.user_agent.as_str(), logged.status), (PODS, "it/1", Some(201)));
    assert_eq!(server.traffic(), []);
}

/// Returns the names of the objects in the next frame of a watch.
async fn next_names(watch: &mut ResponseBody) -> Vec<String> {
    let frame = watch.frame().await.unwrap().unwrap().into_data().unwrap();
    let events = serde_json::Deserializer::from_slice(&frame).into_iter::<Value>();
    events.map(|event| event.unwrap()["object"]["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn delayed_watch_does_not_delay_other_kinds() {
    let (server, start, late) = (start(), Instant::now(), Duration::from_secs(2));
    let service = server.service();
    server.faults().inject(Fault::delay_events(late, late).on(On::any().verb("watch").resource("configmaps")));
    let watch = async |kind: &str| {
        send(&service, Method::GET, &format!("{kind}?watch=true"), &Value::Null).await.unwrap().into_body()
    };
    let (mut config_maps, mut nodes) = (watch(CONFIG_MAPS).await, watch(NODES).await);
    for (kind, name) in [(CONFIG_MAPS, "first"), (CONFIG_MAPS, "second"), (NODES, "third")] {
        assert_eq!(json(&service, Method::POST, kind, &named(name)).await.0, 201);
    }
    assert_eq!((next_names(&mut nodes).await, start.elapsed()), (vec!["third".to_owned()], Duration::ZERO));
    let both = vec!["first".to_owned(), "second".to_owned()];
    assert_eq!((next_names(&mut config_maps).await, start.elapsed()), (both, late));
}

#[tokio::test]
async fn server_with_a_socket_serves_in_process() {
    let api = TestApi::start(Config::default()).await;
    api.create(CONFIG_MAPS, named("a")).await;
    let path = format!("{CONFIG_MAPS}/a");
    assert_eq!(json(&api.server.service(), Method::GET, &path, &Value::Null).await, api.get(&path).await);
}
