//! Custom kinds, defined by a `CustomResourceDefinition` or in the configuration.

use http::Method;
use kube_dev_apiserver::{Config, CustomKind};
use serde_json::{Value, json};

use super::client::{Events, TestApi};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

fn definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"], "categories": ["all"]},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "required": ["size"], "properties": {
                        "size": {"type": "integer"}, "mode": {"type": "string", "default": "safe"}
                    }},
                    "status": {"type": "object", "properties": {"ready": {"type": "boolean"}}}
                }}}
            }]
        }
    })
}

#[tokio::test]
async fn definitions_add_and_remove_kinds() {
    let api = TestApi::start(Config::default()).await;
    assert_eq!(api.get(WIDGETS).await.0, 404);
    let created = api.create(DEFINITIONS, definition()).await;
    let conditions = created["status"]["conditions"].as_array().unwrap();
    assert!(conditions.iter().any(|it| it["type"] == "Established" && it["status"] == "True"), "{created}");

    let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
        "spec": {"size": 3, "nonsense": 1}, "status": {"ready": true}});
    let created = api.create(WIDGETS, widget).await;
    assert_eq!(created["spec"], json!({"size": 3, "mode": "safe"}));
    assert_eq!((created.get("status"), &created["metadata"]["generation"]), (None, &json!(1)));
    let path = format!("{WIDGETS}/w");
    let (code, ready) = api
        .json(Method::PATCH, &format!("{path}/status"), &json!({"status": {"ready": true}, "spec": {"size": 9}}))
        .await;
    assert_eq!((code, &ready["status"]["ready"], &ready["spec"]["size"]), (200, &json!(true), &json!(3)));
    assert_eq!(ready["metadata"]["generation"], 1);
    let (_, resized) = api.json(Method::PATCH, &path, &json!({"spec": {"size": 4}, "status": null})).await;
    assert_eq!((&resized["metadata"]["generation"], &resized["status"]["ready"]), (&json!(2), &json!(true)));

    let (code, status) = api.json(Method::PATCH, &path, &json!({"spec": {"size": "x"}})).await;
    assert_eq!((code, status["details"]["causes"][0]["field"].as_str()), (422, Some("spec.size")));
    let strategic = "application/strategic-merge-patch+json";
    assert_eq!(api.send(Method::PATCH, &path, strategic, "{}".to_owned()).await.status(), 415);
    let apply = "apiVersion: example.com/v1\nkind: Widget\nspec: {size: 7}\n".to_owned();
    let applied = api
        .send(Method::PATCH, &format!("{path}?fieldManager=me&force=true"), "application/apply-patch+yaml", apply)
        .await;
    assert_eq!(applied.status(), 200);

    let (_, _, table) = api.get_as(WIDGETS, "application/json;as=Table;v=v1;g=meta.k8s.io").await;
    assert_eq!(table["rows"][0]["cells"], json!(["w", 7]));
    assert_eq!(api.get("/apis/example.com/v1").await.1["resources"][0]["shortNames"], json!(["wd"]));
    let (_, document) = api.get("/openapi/v3/apis/example.com/v1").await;
    assert!(document["components"]["schemas"]["com.example.v1.Widget"]["properties"]["spec"].is_object());

    let mut events = Events::of(api.send(Method::GET, &format!("{WIDGETS}?watch=true"), "", String::new()).await);
    assert_eq!(events.next_short().await, "ADDED w");
    assert_eq!(api.json(Method::DELETE, &format!("{DEFINITIONS}/widgets.example.com"), &Value::Null).await.0, 200);
    assert_eq!(events.next_short().await, "DELETED w");
    assert_eq!(api.get(WIDGETS).await.0, 404);
    // A kind defined again starts without objects.
    api.create(DEFINITIONS, definition()).await;
    assert_eq!(api.get(WIDGETS).await.1["items"], json!([]));
}

#[tokio::test]
async fn invalid_definitions_are_rejected() {
    let api = TestApi::start(Config::default()).await;
    for (pointer, value) in [
        ("/metadata/name", json!("gadgets.example.com")),
        ("/spec/scope", json!("Galaxy")),
        ("/spec/versions/0/storage", json!(false)),
    ] {
        let mut bad = definition();
        *bad.pointer_mut(pointer).unwrap() = value;
        let (code, status) = api.json(Method::POST, DEFINITIONS, &bad).await;
        assert_eq!((code, status["reason"].as_str()), (422, Some("Invalid")), "{pointer}");
    }
}

#[tokio::test]
async fn kinds_of_the_config_are_served() {
    let claims = CustomKind::new("resource.k8s.io", "v1", "ResourceClaim").with_status();
    let zones =
        CustomKind::new("example.com", "v1", "Zone").cluster_scoped().column("Region", "string", ".spec.region");
    let api = TestApi::start(Config { kinds: vec![claims, zones], ..Config::default() }).await;
    let path = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
    api.create(path, json!({"metadata": {"name": "c"}, "spec": {"devices": {"requests": [{"name": "gpu"}]}}})).await;
    let status = json!({"status": {"devices": [{"networkData": {"ips": ["192.0.2.7/24"]}}]}});
    let (code, claim) = api.json(Method::PATCH, &format!("{path}/c/status"), &status).await;
    assert_eq!((code, &claim["status"]["devices"][0]["networkData"]["ips"][0]), (200, &json!("192.0.2.7/24")));

    api.create("/apis/example.com/v1/zones", json!({"metadata": {"name": "a"}, "spec": {"region": "r1"}})).await;
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    assert_eq!(api.get_as("/apis/example.com/v1/zones", table).await.2["rows"][0]["cells"], json!(["a", "r1"]));
}

fn with_rules() -> Value {
    let mut definition = definition();
    let version = &mut definition["spec"]["versions"][0];
    version["subresources"]["scale"] = json!({"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size",
        "labelSelectorPath": ".status.selector"});
    version["selectableFields"] = json!([{"jsonPath": ".spec.mode"}, {"jsonPath": ".spec.size"}]);
    let spec = &mut version["schema"]["openAPIV3Schema"]["properties"]["spec"];
    spec["properties"]["size"]["minimum"] = json!(1);
    spec["properties"]["owner"] = json!({"type": "string", "maxLength": 3});
    spec["x-kubernetes-validations"] = json!([
        {"rule": "self.size < 10 || self.mode == 'fast'", "message": "big ones are fast"},
        {"rule": "!has(oldSelf.owner) || self.owner == oldSelf.owner", "message": "the owner is for life"}
    ]);
    version["schema"]["openAPIV3Schema"]["properties"]["status"] =
        json!({"type": "object", "properties": {"size": {"type": "integer"}, "selector": {"type": "string"}}});
    definition
}

fn widget(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec})
}

#[tokio::test]
async fn schemas_and_rules_are_enforced() {
    let api = TestApi::start(Config::default()).await;
    api.create(DEFINITIONS, with_rules()).await;
    for (spec, expect) in [
        (json!({"size": 0}), "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"),
        (json!({"size": 10}), "spec: Invalid value: big ones are fast"),
        (
            json!({"size": 10, "owner": "alice"}),
            "[spec.owner: Too long: may not be more than 3 bytes, <nil>: Invalid value: null: some validation rules were \
             not checked because the object was invalid; correct the existing errors to complete validation]",
        ),
    ] {
        let (code, status) = api.json(Method::POST, WIDGETS, &widget("w", &spec)).await;
        assert_eq!((code, &status["reason"]), (422, &json!("Invalid")));
        assert_eq!(status["message"], format!("Widget.example.com \"w\" is invalid: {expect}"));
    }
    api.create(WIDGETS, widget("w", &json!({"size": 10, "mode": "fast", "owner": "bob"}))).await;
    let path = format!("{WIDGETS}/w");
    let (code, status) = api.json(Method::PATCH, &path, &json!({"spec": {"owner": "eve"}})).await;
    assert_eq!((code, status["details"]["causes"][0]["field"].as_str()), (422, Some("spec")), "{status}");
    assert_eq!(api.json(Method::PATCH, &path, &json!({"spec": {"size": 11}})).await.0, 200);
    let (code, status) = api.json(Method::PATCH, &path, &json!({"spec": {"mode": "safe"}})).await;
    assert_eq!(
        (code, status["details"]["causes"][0]["message"].as_str()),
        (422, Some("Invalid value: big ones are fast"))
    );
}

#[tokio::test]
async fn selectable_fields_select() {
    let api = TestApi::start(Config::default()).await;
    api.create(DEFINITIONS, with_rules()).await;
    for (name, mode, size) in [("a", "safe", 1), ("b", "fast", 1), ("c", "fast", 2)] {
        api.create(WIDGETS, widget(name, &json!({"size": size, "mode": mode}))).await;
    }
    for (selector, expect) in [
        ("spec.mode=fast", vec!["b", "c"]),
        ("spec.mode!=fast", vec!["a"]),
        ("spec.mode=fast,spec.size=2", vec!["c"]),
        ("metadata.name=a", vec!["a"]),
    ] {
        let list = api.get(&format!("{WIDGETS}?fieldSelector={}", selector.replace('!', "%21"))).await.1;
        let names: Vec<&str> =
            list["items"].as_array().unwrap().iter().map(|it| it["metadata"]["name"].as_str().unwrap()).collect();
        assert_eq!(names, expect, "{selector}");
    }
    let (code, status) = api.get(&format!("{WIDGETS}?fieldSelector=spec.owner%3Dx")).await;
    assert_eq!((code, status["message"].as_str()), (400, Some("field label not supported: spec.owner")));
    let mut events = api.watch(&format!("{WIDGETS}?watch=true&fieldSelector=spec.mode%3Dfast")).await;
    assert_eq!([events.next_short().await, events.next_short().await], ["ADDED b", "ADDED c"]);
    api.json(Method::PATCH, &format!("{WIDGETS}/b"), &json!({"spec": {"mode": "safe"}})).await;
    assert_eq!(events.next_short().await, "DELETED b", "it left the selection");
}
