//! Requests that are answered and done.

use http::Method;
use http_body_util::BodyExt as _;
use kube_dev_apiserver::{Config, Server, StartError};
use serde_json::{Value, json};

use super::client::{CONFIG_MAPS, PODS, World};

fn pod(name: &str, labels: &Value) -> Value {
    json!({
        "metadata": {"name": name, "labels": labels},
        "spec": {"nodeName": "n", "containers": [{"name": "main", "image": "app:1"}]}
    })
}

#[tokio::test]
async fn an_object_through_its_life() {
    let world = World::start(Config::default()).await;
    let path = format!("{PODS}/web");
    let created = world.create(PODS, pod("web", &json!({"app": "web"}))).await;
    assert_eq!(world.get(&path).await, (200, created.clone()));

    let status = json!({"status": {"phase": "Running", "podIP": "10.1.0.1"}});
    let (code, running) = world.json(Method::PATCH, &format!("{path}/status"), &status).await;
    assert_eq!((code, &running["status"]["podIPs"][0]["ip"]), (200, &json!("10.1.0.1")));

    let (code, conflict) = world.json(Method::PUT, &path, &created).await;
    assert_eq!((code, conflict["reason"].as_str()), (409, Some("Conflict")));
    let (code, same) = world.json(Method::PUT, &path, &running).await;
    assert_eq!((code, &same), (200, &running));

    let (code, going) = world.json(Method::DELETE, &format!("{path}?gracePeriodSeconds=600"), &Value::Null).await;
    assert_eq!((code, going["metadata"]["deletionGracePeriodSeconds"].as_i64()), (200, Some(600)));
    let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0});
    assert_eq!(world.json(Method::DELETE, &path, &options).await.0, 200);
    assert_eq!(world.get(&path).await.0, 404);
}

#[tokio::test]
async fn lists_and_selectors() {
    let world = World::start(Config::default()).await;
    for (name, app) in [("a", "web"), ("b", "db"), ("c", "web")] {
        world.create(PODS, pod(name, &json!({"app": app}))).await;
    }
    for (query, expect) in [
        ("", "a b c"),
        ("?labelSelector=app%3Dweb", "a c"),
        ("?labelSelector=app%20in%20(db),!x", "b"),
        ("?fieldSelector=metadata.name%3Db", "b"),
        ("?fieldSelector=spec.nodeName%3Dn,status.phase!%3DRunning", "a b c"),
        ("?resourceVersion=0", "a b c"),
    ] {
        let (code, list) = world.get(&format!("/api/v1/pods{query}")).await;
        assert_eq!((code, &list["kind"], &list["apiVersion"]), (200, &json!("PodList"), &json!("v1")));
        assert_eq!(list["metadata"]["resourceVersion"], "7");
        let items = list["items"].as_array().unwrap();
        let names: Vec<&str> = items.iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect();
        assert_eq!(names.join(" "), expect, "{query}");
        assert!(items.iter().all(|item| item.get("kind").is_none()), "items carry no kind");
    }
    let (code, list) = world.get("/api/v1/namespaces/kube-system/pods").await;
    assert_eq!((code, &list["items"]), (200, &json!([])));
    assert_eq!(world.get("/api/v1/pods?fieldSelector=spec.image%3Dx").await.0, 400);
    assert_eq!(world.get("/api/v1/pods?resourceVersion=99").await.0, 504);

    let (code, list) =
        world.json(Method::DELETE, &format!("{PODS}?labelSelector=app%3Dweb&gracePeriodSeconds=0"), &Value::Null).await;
    assert_eq!((code, list["items"].as_array().map(Vec::len)), (200, Some(2)));
    assert_eq!(world.get(PODS).await.1["items"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn answers_to_delete_are_those_of_the_kind() {
    let world = World::start(Config::default()).await;
    let created = world.create(CONFIG_MAPS, json!({"metadata": {"name": "a"}})).await;
    let (code, status) = world.json(Method::DELETE, &format!("{CONFIG_MAPS}/a"), &Value::Null).await;
    let expect = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
        "details": {"name": "a", "kind": "configmaps", "uid": created["metadata"]["uid"]}
    });
    assert_eq!((code, status), (200, expect));
    let (_, missing) = world.json(Method::DELETE, &format!("{CONFIG_MAPS}/a"), &Value::Null).await;
    assert_eq!(missing["message"], "configmaps \"a\" not found");
}

#[tokio::test]
async fn bodies_of_all_sorts() {
    let world = World::start(Config::default()).await;
    for (media_type, body, code) in [
        ("application/yaml", "metadata:\n  name: a\ndata:\n  x: '1'\n", 201),
        ("application/json; charset=utf-8", r#"{"metadata":{"name":"b"}}"#, 201),
        ("application/json", "{not json", 400),
        ("application/json", "", 400),
        ("application/json", "\u{feff}{}", 400),
        ("application/yaml", "a: [", 400),
        ("application/vnd.kubernetes.protobuf", "k8s\0", 415),
    ] {
        let response = world.send(Method::POST, CONFIG_MAPS, media_type, body.to_owned()).await;
        assert_eq!(response.status().as_u16(), code, "{media_type} {body}");
    }
    let huge = " ".repeat(3 * 1024 * 1024 + 1);
    assert_eq!(world.send(Method::POST, CONFIG_MAPS, "application/json", huge).await.status(), 413);
    let patch = world.send(Method::PATCH, &format!("{CONFIG_MAPS}/a"), "text/plain", "{}".to_owned()).await;
    assert_eq!(patch.status(), 415);
}

#[tokio::test]
async fn places_without_objects() {
    let world = World::start(Config::default()).await;
    assert_eq!(world.get("/api").await.1["versions"], json!(["v1"]));
    let groups = world.get("/apis").await.1;
    let names: Vec<&str> = groups["groups"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "coordination.k8s.io",
            "discovery.k8s.io",
            "apiextensions.k8s.io",
            "rbac.authorization.k8s.io",
            "events.k8s.io"
        ]
    );
    assert_eq!(world.get("/apis/discovery.k8s.io").await.1["preferredVersion"]["version"], "v1");
    let resources = world.get("/api/v1").await.1;
    let names: Vec<&str> =
        resources["resources"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"pods/status") && names.contains(&"services") && !names.contains(&"configmaps/status"));
    assert_eq!(world.get("/version").await.1["minor"], "36");
    for path in ["/healthz", "/livez", "/readyz"] {
        let response = world.send(Method::GET, path, "", String::new()).await;
        assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "ok");
    }
    for path in
        ["/nope", "/apis/apps/v1/deployments", "/api/v1/pods/p", "/api/v1/namespaces/default/nodes", "/api/v2/pods"]
    {
        assert_eq!(world.get(path).await.0, 404, "{path}");
    }
    assert_eq!(world.json(Method::POST, "/api/v1/pods", &json!({})).await.0, 405);
}

#[tokio::test]
async fn a_port_in_use_is_named() {
    let world = World::start(Config::default()).await;
    let config = Config { listen: world.server.address(), ..Config::default() };
    let error = Server::start(config).await.unwrap_err();
    assert!(matches!(error, StartError::Listen { .. }));
    assert_eq!(error.to_string(), format!("cannot listen on {}", world.server.address()));
}

#[tokio::test]
async fn the_same_seed_makes_the_same_objects() {
    let mut uids = Vec::new();
    for _ in 0..2 {
        let world = World::start(Config { seed: Some(7), ..Config::default() }).await;
        uids.push(world.create(CONFIG_MAPS, json!({"metadata": {"name": "a"}})).await["metadata"]["uid"].clone());
    }
    assert_eq!(uids[0], uids[1]);
}

#[tokio::test]
async fn dependents_go_when_asked_for() {
    for (garbage_collection, query, code) in [
        (false, "", 200),
        (true, "", 404),
        (true, "?propagationPolicy=Orphan", 200),
        (true, "?propagationPolicy=Foreground", 404),
    ] {
        let world = World::start(Config { garbage_collection, ..Config::default() }).await;
        let owner = world.create(CONFIG_MAPS, json!({"metadata": {"name": "owner"}})).await;
        let uid = &owner["metadata"]["uid"];
        let reference = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid});
        let mut pod = pod("web", &json!({}));
        pod["metadata"]["ownerReferences"] = json!([reference]);
        pod["spec"].as_object_mut().unwrap().remove("nodeName");
        world.create(PODS, pod).await;
        assert_eq!(world.json(Method::DELETE, &format!("{CONFIG_MAPS}/owner{query}"), &Value::Null).await.0, 200);
        assert_eq!(world.get(&format!("{CONFIG_MAPS}/owner")).await.0, 404);
        assert_eq!(world.get(&format!("{PODS}/web")).await.0, code, "{garbage_collection} {query}");
    }
}
