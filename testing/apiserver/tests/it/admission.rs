//! Admission rules that modify or deny writes.

use std::sync::{Arc, Mutex};

use http::Method;
use kube_dev_apiserver::{Config, Denial, Fault, On, Operation};
use serde_json::{Value, json};

use super::client::{CONFIG_MAPS, SLICES, TestApi};

fn slice(name: &str) -> Value {
    json!({"metadata": {"name": name}, "addressType": "IPv4", "ports": [],
        "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": true, "serving": true}}]})
}

#[tokio::test]
async fn mutations_change_creates_and_updates() {
    let api = TestApi::start(Config::default()).await;
    let id = api.server.admission().mutate(|request, object| {
        if request.kind == "EndpointSlice" {
            object["metadata"]["labels"]["team"] = json!("network");
            if let Some(conditions) = object.pointer_mut("/endpoints/0/conditions").and_then(Value::as_object_mut) {
                conditions.remove("serving");
            }
        }
        Ok(())
    });
    let created = api.create(SLICES, slice("web")).await;
    assert_eq!(created["metadata"]["labels"], json!({"team": "network"}));
    assert_eq!(created["endpoints"][0]["conditions"], json!({"ready": true}));

    // The rule reverts the update, so nothing changes and no version is assigned.
    let path = format!("{SLICES}/web");
    let (code, updated) = api.json(Method::PUT, &path, &slice("web")).await;
    assert_eq!((code, &updated), (200, &created));
    let (_, patched) = api.json(Method::PATCH, &path, &json!({"metadata": {"labels": {"team": "x"}}})).await;
    assert_eq!(patched, created);

    assert!(api.server.admission().remove(id) && !api.server.admission().remove(id));
    let (_, updated) = api.json(Method::PUT, &path, &slice("web")).await;
    assert_eq!(updated["metadata"].get("labels"), None);
}

#[tokio::test]
async fn validations_get_the_object_to_be_stored() {
    let api = TestApi::start(Config::default()).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    api.server.admission().validate(move |request, object| {
        if request.resource != "endpointslices" {
            return Ok(());
        }
        let versions = [request.old, object].map(|it| it.map(|it| it["metadata"]["generation"].clone()));
        log.lock().unwrap().push((request.operation, request.name.to_owned(), versions));
        match request.operation {
            Operation::Delete => Err(Denial::forbidden("slices stay")),
            Operation::Create | Operation::Update => Ok(()),
        }
    });
    let mut generated = slice("");
    generated["metadata"] = json!({"generateName": "web-"});
    let created = api.create(SLICES, generated).await;
    let name = created["metadata"]["name"].as_str().unwrap().to_owned();
    let path = format!("{SLICES}/{name}");
    api.json(Method::PATCH, &path, &json!({"ports": [{"port": 80}]})).await;
    let (code, refused) = api.json(Method::DELETE, &path, &Value::Null).await;
    assert_eq!((code, &refused["reason"]), (403, &json!("Forbidden")));
    let message = format!("endpointslices.discovery.k8s.io \"{name}\" is forbidden: slices stay");
    assert_eq!(refused["message"], message);
    assert_eq!(api.get(&path).await.0, 200);
    let expect = [
        (Operation::Create, name.clone(), [None, Some(json!(1))]),
        (Operation::Update, name.clone(), [Some(json!(1)), Some(json!(2))]),
        (Operation::Delete, name, [Some(json!(2)), None]),
    ];
    assert_eq!(*seen.lock().unwrap(), expect);
}

#[tokio::test]
async fn writes_of_the_server_skip_admission() {
    let api = TestApi::start(Config { garbage_collection: true, ..Config::default() }).await;
    let owner = api.create(CONFIG_MAPS, json!({"metadata": {"name": "a"}})).await;
    let reference = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": owner["metadata"]["uid"]});
    api.create(CONFIG_MAPS, json!({"metadata": {"name": "b", "ownerReferences": [reference]}})).await;
    api.server.admission().validate(|request, _| match (request.operation, request.name) {
        (Operation::Delete, "b") => Err(Denial::new(422, "Invalid", "not this one")),
        _ => Ok(()),
    });
    let (code, refused) = api.json(Method::DELETE, &format!("{CONFIG_MAPS}/b"), &Value::Null).await;
    assert_eq!((code, &refused["reason"]), (422, &json!("Invalid")));
    assert_eq!(api.json(Method::DELETE, &format!("{CONFIG_MAPS}/a"), &Value::Null).await.0, 200);
    assert_eq!(api.get(&format!("{CONFIG_MAPS}/b")).await.0, 404);
}

#[tokio::test]
async fn request_log_marks_applied_writes() {
    let api = TestApi::start(Config::default()).await;
    let maps = On::writes().resource("configmaps");
    api.server.admission().validate(|request, _| match request.name {
        "no" => Err(Denial::forbidden("no")),
        _ => Ok(()),
    });
    api.json(Method::POST, CONFIG_MAPS, &json!({"metadata": {"generateName": "a-"}})).await;
    api.json(Method::POST, CONFIG_MAPS, &json!({"metadata": {"name": "no"}})).await;
    api.json(Method::POST, &format!("{CONFIG_MAPS}?dryRun=All"), &json!({"metadata": {"name": "dry"}})).await;
    api.server.faults().inject(Fault::apply_then_timeout().on(maps.clone()).times(1));
    api.json(Method::POST, CONFIG_MAPS, &json!({"metadata": {"name": "late"}})).await;
    api.server.faults().inject(Fault::apply_then_reset().on(maps.clone()).times(1));
    let body = json!({"metadata": {"name": "lost"}}).to_string();
    api.try_send(Method::POST, CONFIG_MAPS, "application/json", body).await.unwrap_err();
    api.server.faults().inject(Fault::reset().on(maps.clone()).times(1));
    let path = format!("{CONFIG_MAPS}/lost");
    api.try_send(Method::DELETE, &path, "application/json", String::new()).await.unwrap_err();
    api.json(Method::DELETE, &path, &Value::Null).await;

    let requests = api.server.requests().matching(&maps);
    let name = |name: &str| if name.starts_with("a-") { "a-*".to_owned() } else { name.to_owned() };
    let seen: Vec<_> = requests.iter().map(|it| (it.status, it.applied, name(&it.object_name))).collect();
    let expect = [
        (Some(201), true, "a-*"),
        (Some(403), false, ""),
        (Some(201), false, "dry"),
        (Some(504), true, "late"),
        (None, true, "lost"),
        (None, false, ""),
        (Some(200), true, "lost"),
    ];
    assert_eq!(seen, expect.map(|(status, applied, name)| (status, applied, name.to_owned())));
}
