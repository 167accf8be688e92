//! Representations: tables and partial metadata.

use http::Method;
use kube_dev_apiserver::Config;
use serde_json::{Value, json};

use super::client::{CONFIG_MAPS, Events, TestApi};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,\
                     application/json";

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
