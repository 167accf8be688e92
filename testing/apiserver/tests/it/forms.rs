//! Representations: tables, partial metadata, aggregated discovery, OpenAPI, and both Event groups.

use http::Method;
use kube_dev_apiserver::Config;
use serde_json::{Value, json};

use super::client::{CONFIG_MAPS, Events, TestApi};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,\
                     application/json";
const DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                         application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

#[tokio::test]
async fn tables_of_lists_and_objects() {
    let api = TestApi::start(Config::default()).await;
    for name in ["a", "b"] {
        api.create(CONFIG_MAPS, json!({"metadata": {"name": name}, "data": {"x": "1"}})).await;
    }
    let (code, _, table) = api.get_as(&format!("{CONFIG_MAPS}?limit=1"), TABLE).await;
    assert_eq!((code, &table["kind"], &table["apiVersion"]), (200, &json!("Table"), &json!("meta.k8s.io/v1")));
    let names: Vec<&str> =
        table["columnDefinitions"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Name", "Data", "Age"]);
    assert_eq!(table["metadata"]["remainingItemCount"], 1);
    let row = &table["rows"][0];
    assert_eq!((&row["cells"][0], &row["cells"][1]), (&json!("a"), &json!("1")));
    assert_eq!((&row["object"]["kind"], row["object"].get("data")), (&json!("PartialObjectMetadata"), None));

    let (_, _, table) = api.get_as(&format!("{CONFIG_MAPS}/b?includeObject=Object"), TABLE).await;
    assert_eq!(table["rows"][0]["object"]["data"]["x"], "1");
    let (_, _, table) = api.get_as(&format!("{CONFIG_MAPS}/b?includeObject=None"), TABLE).await;
    assert_eq!(table["rows"][0]["object"], Value::Null);
    let (code, _, status) = api.get_as(&format!("{CONFIG_MAPS}/c"), TABLE).await;
    assert_eq!((code, &status["kind"]), (404, &json!("Status")));
}

#[tokio::test]
async fn tables_of_watches_define_columns_once() {
    let api = TestApi::start(Config::default()).await;
    api.create(CONFIG_MAPS, json!({"metadata": {"name": "a"}})).await;
    let mut events = Events::of(api.send_as(Method::GET, &format!("{CONFIG_MAPS}?watch=true"), "", TABLE, "").await);
    let first = events.next().await.unwrap();
    assert_eq!((&first["type"], &first["object"]["rows"][0]["cells"][0]), (&json!("ADDED"), &json!("a")));
    assert!(first["object"]["columnDefinitions"].is_array());
    api.create(CONFIG_MAPS, json!({"metadata": {"name": "b"}})).await;
    let second = events.next().await.unwrap();
    assert_eq!(second["object"]["columnDefinitions"], Value::Null);
    assert_eq!(second["object"]["rows"][0]["object"]["metadata"]["name"], "b");
}

#[tokio::test]
async fn partial_object_metadata_lists() {
    let api = TestApi::start(Config::default()).await;
    api.create(CONFIG_MAPS, json!({"metadata": {"name": "a"}, "data": {"x": "1"}})).await;
    let accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
    let (_, _, list) = api.get_as(CONFIG_MAPS, accept).await;
    assert_eq!((&list["kind"], list["items"][0].get("data")), (&json!("PartialObjectMetadataList"), None));
    let (_, _, object) = api.get_as(&format!("{CONFIG_MAPS}/a"), &accept.replace("List", "")).await;
    assert_eq!((&object["kind"], &object["metadata"]["name"]), (&json!("PartialObjectMetadata"), &json!("a")));
}

#[tokio::test]
async fn aggregated_discovery() {
    let api = TestApi::start(Config::default()).await;
    let (_, content_type, core) = api.get_as("/api", DISCOVERY).await;
    assert_eq!(content_type, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    let resources = core["items"][0]["versions"][0]["resources"].as_array().unwrap();
    let pods = resources.iter().find(|resource| resource["resource"] == "pods").unwrap();
    assert_eq!((&pods["scope"], &pods["shortNames"]), (&json!("Namespaced"), &json!(["po"])));
    assert_eq!(pods["subresources"][0]["subresource"], "status");
    let (_, _, others) = api.get_as("/apis", DISCOVERY).await;
    let names: Vec<&Value> = others["items"].as_array().unwrap().iter().map(|it| &it["metadata"]["name"]).collect();
    assert_eq!(
        names,
        [
            "apps",
            "batch",
            "coordination.k8s.io",
            "discovery.k8s.io",
            "apiextensions.k8s.io",
            "rbac.authorization.k8s.io",
            "events.k8s.io",
            "authentication.k8s.io",
            "authorization.k8s.io"
        ]
    );
}

#[tokio::test]
async fn openapi_documents() {
    let api = TestApi::start(Config::default()).await;
    let (_, index) = api.get("/openapi/v3").await;
    let address = index["paths"]["api/v1"]["serverRelativeURL"].as_str().unwrap();
    let (_, document) = api.get(address).await;
    let patch = &document["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]["patch"];
    assert_eq!(patch["x-kubernetes-group-version-kind"], json!({"group": "", "version": "v1", "kind": "Pod"}));
    assert!(patch["requestBody"]["content"].get("application/strategic-merge-patch+json").is_some());
    let ports = &document["components"]["schemas"]["io.k8s.api.core.v1.ServiceSpec"]["properties"]["ports"];
    assert_eq!(ports["x-kubernetes-patch-merge-key"], "port");

    let (_, older) = api.get("/openapi/v2").await;
    assert_eq!(
        older["definitions"]["io.k8s.api.core.v1.Pod"]["properties"]["spec"]["$ref"],
        "#/definitions/io.k8s.api.core.v1.PodSpec"
    );
    assert_eq!(api.get("/openapi/v3/apis/nope/v1").await.0, 404);
    let protobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    let response = api.send_as(http::Method::GET, "/openapi/v2", "", protobuf, String::new()).await;
    assert_eq!(response.status(), 200, "kubectl needs it for a List");
    assert_eq!(api.get_as("/openapi/v3", protobuf).await.0, 406);
}

#[tokio::test]
async fn events_are_served_in_both_groups() {
    let api = TestApi::start(Config::default()).await;
    let newer = "/apis/events.k8s.io/v1/namespaces/default/events";
    let event = json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"},
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default"}, "reason": "R", "note": "hello",
        "type": "Normal", "action": "A", "eventTime": "2027-01-01T00:00:00.000000Z",
        "reportingController": "example.com/c", "reportingInstance": "c-1"
    });
    let created = api.create(newer, event).await;
    assert_eq!((&created["apiVersion"], &created["note"]), (&json!("events.k8s.io/v1"), &json!("hello")));
    let (_, core) = api.get("/api/v1/namespaces/default/events/e").await;
    assert_eq!((&core["apiVersion"], &core["message"]), (&json!("v1"), &json!("hello")));
    assert_eq!(core["metadata"]["uid"], created["metadata"]["uid"]);

    let (code, patched) = api.json(Method::PATCH, &format!("{newer}/e"), &json!({"note": "bye"})).await;
    assert_eq!((code, &patched["note"]), (200, &json!("bye")));
    let (_, list) = api.get(newer).await;
    assert_eq!((&list["apiVersion"], &list["items"][0]["note"]), (&json!("events.k8s.io/v1"), &json!("bye")));
    assert_eq!(list["items"][0].get("apiVersion"), None);
    let (_, selected) = api.get(&format!("{newer}?fieldSelector=regarding.name%3Dq")).await;
    assert_eq!(selected["items"], json!([]));
    let mut events = api.watch(&format!("{newer}?watch=true&fieldSelector=regarding.name%3Dp")).await;
    assert_eq!(events.next().await.unwrap()["object"]["regarding"]["name"], "p");
}
