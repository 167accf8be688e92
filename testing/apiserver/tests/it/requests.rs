//! Requests other than watches.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::Method;
use kube_dev_apiserver::{Config, On, Server, StartError};
use rstest::rstest;
use serde_json::{Value, json};

use super::client::{CONFIG_MAPS, PODS, SERVICES, SLICES, TestApi, answer};

const WEB: &str = r#"{"metadata":{"name":"web"},"spec":{"ports":[{"port":80}]}}"#;

fn pod(name: &str, labels: &Value) -> Value {
    json!({
        "metadata": {"name": name, "labels": labels},
        "spec": {"nodeName": "n", "containers": [{"name": "main", "image": "app:1"}]}
    })
}

#[tokio::test]
async fn create_update_patch_and_delete_of_an_object() {
    let api = TestApi::start(Config::default()).await;
    let path = format!("{PODS}/web");
    let created = api.create(PODS, pod("web", &json!({"app": "web"}))).await;
    assert_eq!(api.get(&path).await, (200, created.clone()));

    let status = json!({"status": {"phase": "Running", "podIP": "10.1.0.1"}});
    let (code, running) = api.json(Method::PATCH, &format!("{path}/status"), &status).await;
    assert_eq!((code, &running["status"]["podIPs"][0]["ip"]), (200, &json!("10.1.0.1")));

    let (code, conflict) = api.json(Method::PUT, &path, &created).await;
    assert_eq!((code, conflict["reason"].as_str()), (409, Some("Conflict")));
    let (code, same) = api.json(Method::PUT, &path, &running).await;
    assert_eq!((code, &same), (200, &running));

    let (code, going) = api.json(Method::DELETE, &format!("{path}?gracePeriodSeconds=600"), &Value::Null).await;
    assert_eq!((code, going["metadata"]["deletionGracePeriodSeconds"].as_i64()), (200, Some(600)));
    let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0});
    assert_eq!(api.json(Method::DELETE, &path, &options).await.0, 200);
    assert_eq!(api.get(&path).await.0, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn write_that_is_seen_is_in_the_log() {
    let api = Arc::new(TestApi::start(Config::default()).await);
    let map = |text: &str| json!({"metadata": {"name": "a"}, "data": {"text": text.repeat(50_000)}});
    api.create(CONFIG_MAPS, map("0")).await;
    for writes in 1..=50 {
        let before = api.server.revision();
        let answered = Arc::new(AtomicBool::new(false));
        let reader = tokio::task::spawn_blocking({
            let (api, answered) = (Arc::clone(&api), Arc::clone(&answered));
            move || {
                // An answer ends it, too, so that a write without effect fails the test.
                while api.server.revision() == before && !answered.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
                api.server.requests().count(&On::any().verb("update"))
            }
        });
        let (code, _) = api.json(Method::PUT, &format!("{CONFIG_MAPS}/a"), &map(&(writes % 10).to_string())).await;
        answered.store(true, Ordering::Relaxed);
        assert_eq!((code, reader.await.unwrap()), (200, writes));
    }
}

#[tokio::test]
async fn lists_and_selectors() {
    let api = TestApi::start(Config::default()).await;
    for (name, app) in [("a", "web"), ("b", "db"), ("c", "web")] {
        api.create(PODS, pod(name, &json!({"app": app}))).await;
    }
    for (query, expect) in [
        ("", "a b c"),
        ("?labelSelector=app%3Dweb", "a c"),
        ("?labelSelector=app%20in%20(db),!x", "b"),
        ("?fieldSelector=metadata.name%3Db", "b"),
        ("?fieldSelector=spec.nodeName%3Dn,status.phase!%3DRunning", "a b c"),
        ("?resourceVersion=0", "a b c"),
    ] {
        let (code, list) = api.get(&format!("/api/v1/pods{query}")).await;
        assert_eq!((code, &list["kind"], &list["apiVersion"]), (200, &json!("PodList"), &json!("v1")));
        assert_eq!(list["metadata"]["resourceVersion"], "7");
        let items = list["items"].as_array().unwrap();
        let names: Vec<&str> = items.iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect();
        assert_eq!(names.join(" "), expect, "{query}");
        assert!(items.iter().all(|item| item.get("kind").is_none()), "items have no kind");
    }
    let (code, list) = api.get("/api/v1/namespaces/kube-system/pods").await;
    assert_eq!((code, &list["items"]), (200, &json!([])));
    assert_eq!(api.get("/api/v1/pods?fieldSelector=spec.image%3Dx").await.0, 400);
    assert_eq!(api.get("/api/v1/pods?resourceVersion=99").await.0, 504);

    let (code, list) =
        api.json(Method::DELETE, &format!("{PODS}?labelSelector=app%3Dweb&gracePeriodSeconds=0"), &Value::Null).await;
    assert_eq!((code, list["items"].as_array().map(Vec::len)), (200, Some(2)));
    assert_eq!(api.get(PODS).await.1["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn delete_response_depends_on_the_kind() {
    let api = TestApi::start(Config::default()).await;
    let created = api.create(CONFIG_MAPS, json!({"metadata": {"name": "a"}})).await;
    let (code, status) = api.json(Method::DELETE, &format!("{CONFIG_MAPS}/a"), &Value::Null).await;
    let expect = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
        "details": {"name": "a", "kind": "configmaps", "uid": created["metadata"]["uid"]}
    });
    assert_eq!((code, status), (200, expect));
    let (_, missing) = api.json(Method::DELETE, &format!("{CONFIG_MAPS}/a"), &Value::Null).await;
    assert_eq!(missing["message"], "configmaps \"a\" not found");
}

#[tokio::test]
async fn media_types_and_malformed_bodies() {
    let api = TestApi::start(Config::default()).await;
    for (media_type, body, code) in [
        ("application/yaml", "metadata:\n  name: a\ndata:\n  x: '1'\n", 201),
        ("application/json; charset=utf-8", r#"{"metadata":{"name":"b"}}"#, 201),
        ("application/json", "{not json", 400),
        ("application/json", "", 400),
        ("application/json", "\u{feff}{}", 400),
        ("application/yaml", "a: [", 400),
        ("application/vnd.kubernetes.protobuf", "k8s", 400),
        ("application/cbor", "k8s", 415),
    ] {
        let response = api.send(Method::POST, CONFIG_MAPS, media_type, body.to_owned()).await;
        assert_eq!(response.status().as_u16(), code, "{media_type} {body}");
    }
    let huge = " ".repeat(3 * 1024 * 1024 + 1);
    assert_eq!(api.send(Method::POST, CONFIG_MAPS, "application/json", huge).await.status(), 413);
    let patch = api.send(Method::PATCH, &format!("{CONFIG_MAPS}/a"), "text/plain", "{}".to_owned()).await;
    assert_eq!(patch.status(), 415);
}

#[tokio::test]
async fn paths_without_a_resource() {
    let api = TestApi::start(Config::default()).await;
    for (method, path, code) in [
        (Method::GET, "/", 200),
        (Method::GET, "/apis/discovery.k8s.io", 200),
        (Method::GET, "/apis/example.com", 404),
        (Method::GET, "/apis/discovery.k8s.io/v2", 404),
        (Method::GET, "/openapi/v3/apis/discovery.k8s.io/v1", 200),
        (Method::GET, "/other", 404),
        (Method::GET, "/livez/ping", 200),
        (Method::GET, "/readyz/other", 404),
        (Method::GET, "/api/v1/pods/a/b/c/d", 404),
        (Method::GET, "/api/v1/pods/%ff", 404),
        (Method::POST, "/version", 405),
        (Method::POST, "/other", 404),
    ] {
        assert_eq!(api.json(method, path, &Value::Null).await.0, code, "{path}");
    }
    assert_eq!(api.get("/readyz").await.1, "ok");
    let verbose = "[+]ping ok\n[+]log ok\n[+]etcd ok\nreadyz check passed\n";
    assert_eq!(api.get("/readyz?verbose").await.1, verbose);
}

#[tokio::test]
async fn port_in_use_is_named_in_the_error() {
    let api = TestApi::start(Config::default()).await;
    let config = Config { listen: api.server.address(), ..Config::default() };
    let error = Server::start(config).await.unwrap_err();
    assert!(matches!(error, StartError::Listen { .. }));
    assert_eq!(error.to_string(), format!("cannot listen on {}", api.server.address()));
}

/// Requests whose error responses were recorded on a real server.
#[rstest]
#[case::not_found(Method::DELETE, "/api/v1/namespaces/default/services/nope", "", "not-found")]
#[case::already_exists(Method::POST, SERVICES, WEB, "already-exists")]
#[case::conflict(
    Method::PUT,
    "/api/v1/namespaces/default/services/web",
    r#"{"metadata":{"name":"web","resourceVersion":"1"},"spec":{"ports":[{"port":80}]}}"#,
    "conflict"
)]
#[case::invalid(
    Method::POST,
    SLICES,
    r#"{"metadata":{"name":"Bad_Name"},"addressType":"IPv9","endpoints":[]}"#,
    "invalid"
)]
#[case::bad_request(Method::POST, SLICES, "{not json", "bad-request")]
#[tokio::test]
async fn error_messages_match_a_real_server(
    #[case] method: Method,
    #[case] path: &str,
    #[case] body: &str,
    #[case] recorded: &str,
) {
    let api = TestApi::start(Config::default()).await;
    api.create(SERVICES, serde_json::from_str(WEB).unwrap()).await;
    let (code, found) = answer(api.send(method, path, "application/json", body.to_owned()).await).await;
    let path = format!("{}/fixtures/{recorded}.status.json", env!("CARGO_MANIFEST_DIR"));
    let expect: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for field in ["kind", "apiVersion", "status", "code", "reason", "details"] {
        assert_eq!(found[field], expect[field], "{field}");
    }
    assert_eq!(code, expect["code"]);
}
