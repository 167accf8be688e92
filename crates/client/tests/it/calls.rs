//! Reads, writes and the classification of API errors.

use std::collections::BTreeMap;

use futures::StreamExt as _;
use http::Method;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_controller_client::{Deleted, Error, ListParams, Preconditions, WatchParams};
use kube_wire::LineSplitter;
use serde_json::{Value, json};

use crate::cluster::{CONFIG_MAPS, cluster, config_map};

#[tokio::test]
async fn an_object_is_written_read_and_deleted() {
    let (server, client) = cluster().await;
    let created = client.create(&config_map("web")).await.unwrap();
    let created = created.metadata;
    assert_eq!((created.name.as_deref(), created.namespace.as_deref()), (Some("web"), Some("default")));
    assert!(created.uid.is_some());

    let mut read: ConfigMap = client.get("default", "web").await.unwrap();
    assert_eq!(read.metadata.resource_version, created.resource_version);
    read.data = Some(BTreeMap::from([("a".to_owned(), "1".to_owned())]));
    let updated = client.update(&read).await.unwrap();
    assert_ne!(updated.metadata.resource_version, created.resource_version);

    // `read` has the resource version from before the update.
    let conflict = client.update(&read).await.unwrap_err();
    assert!(conflict.is_conflict() && !conflict.is_already_exists(), "{conflict}");

    client.merge_patch::<ConfigMap>("default", "web", None, &json!({"data": {"a": null, "b": "2"}})).await.unwrap();
    let read: ConfigMap = client.get("default", "web").await.unwrap();
    assert_ne!(read.metadata.resource_version, updated.metadata.resource_version);
    assert_eq!(read.data, Some(BTreeMap::from([("b".to_owned(), "2".to_owned())])));

    let other = Preconditions { uid: Some("another".into()), resource_version: None };
    assert!(client.delete::<ConfigMap>("default", "web", Some(other)).await.unwrap_err().is_conflict());
    let this = Preconditions::unchanged(&created.uid.unwrap().into(), &read.metadata.resource_version.unwrap().into());
    let deleted = client.delete::<ConfigMap>("default", "web", Some(this)).await.unwrap();
    assert_eq!(deleted, Deleted::Removed);
    let not_found = client.delete::<ConfigMap>("default", "web", None).await.unwrap_err();
    assert!(not_found.is_not_found());
    assert_eq!(not_found.to_string(), "configmaps \"web\" not found", "the message of the server only");
    assert_eq!(not_found.call().to_string(), "delete configmaps default/web");
    server.shutdown().await;
}

#[tokio::test]
async fn create_in_a_terminating_namespace_is_namespace_terminating() {
    let (server, client) = cluster().await;
    let name = Some("old".to_owned());
    let namespace = Namespace { metadata: ObjectMeta { name, ..ObjectMeta::default() }, ..Namespace::default() };
    client.create(&namespace).await.unwrap();
    let mut finalized = config_map("kept");
    finalized.metadata.namespace = Some("old".to_owned());
    finalized.metadata.finalizers = Some(vec!["example.com/keep".to_owned()]);
    client.create(&finalized).await.unwrap();
    client.delete::<Namespace>("", "old", None).await.unwrap();

    let mut late = config_map("late");
    late.metadata.namespace = Some("old".to_owned());
    let error = client.create(&late).await.unwrap_err();
    assert!(error.is_namespace_terminating() && error.is_forbidden(), "{error}");
    server.shutdown().await;
}

#[tokio::test]
async fn write_without_a_name_is_not_sent() {
    let (server, client) = cluster().await;
    client.create(&config_map("web")).await.unwrap();
    let errors = [
        client.delete::<ConfigMap>("default", "", None).await.unwrap_err(),
        client.update(&config_map("")).await.unwrap_err(),
        client.merge_patch::<ConfigMap>("default", "", None, &json!({})).await.unwrap_err(),
    ];
    assert!(errors.iter().all(|error| matches!(error, Error::Request { .. })), "{errors:?}");
    client.get::<ConfigMap>("default", "web").await.expect("object was deleted");
    server.shutdown().await;
}

#[tokio::test]
async fn watch_continues_from_the_version_of_a_list() {
    let (server, client) = cluster().await;
    client.create(&config_map("web")).await.unwrap();
    let body = client.list(&CONFIG_MAPS, Some("default"), &ListParams::default()).await.unwrap();
    let list: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(list["items"][0]["metadata"]["name"], "web");

    let version = list["metadata"]["resourceVersion"].as_str().unwrap().into();
    let params = WatchParams { resource_version: version, timeout_seconds: Some(60), ..WatchParams::default() };
    let mut watch = client.watch(&CONFIG_MAPS, None, &params).await.unwrap();
    let written = client.create(&config_map("db")).await.unwrap();
    let mut frames = LineSplitter::new("ConfigMap");
    let event: Value = loop {
        frames.push(&watch.next().await.expect("watch ended").expect("watch failed"));
        if let Some(frame) = frames.next_frame().unwrap() {
            break serde_json::from_slice(frame).unwrap();
        }
    };
    assert_eq!((&event["type"], &event["object"]["metadata"]["uid"]), (&json!("ADDED"), &json!(written.metadata.uid)));
    drop(watch);
    server.shutdown().await;
}

#[tokio::test]
async fn get_json_and_raw_accept_any_path() {
    let (server, client) = cluster().await;
    assert!(client.get_json("/version").await.unwrap()["gitVersion"].is_string());
    let body = serde_json::to_vec(&config_map("web")).unwrap();
    let path = "/api/v1/namespaces/default/configmaps";
    let (code, _) = client.raw(Method::POST, path, Some("application/json"), body.clone()).await.unwrap();
    assert_eq!(code, 201);
    let (code, response) = client.raw(Method::POST, path, Some("application/json"), body).await.unwrap();
    assert_eq!(code, 409, "{}", String::from_utf8_lossy(&response));
    server.shutdown().await;
}
