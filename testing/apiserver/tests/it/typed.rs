//! Typed access to the objects, without a connection.

use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube_dev_apiserver::{Config, CustomKind, ObjectError, Server};
use rstest::rstest;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::client::{CONFIG_MAPS, TestApi};

fn named<K: serde::de::DeserializeOwned>(name: &str) -> K {
    serde_json::from_value(json!({"metadata": {"name": name}})).unwrap()
}

#[tokio::test]
async fn writes_are_those_of_a_request() {
    let api = TestApi::start(Config::default()).await;
    let typed = api.server.typed::<ConfigMap>();
    let created = typed.create(&named("a")).unwrap();
    assert!(created.metadata.uid.is_some());
    let taken = typed.create(&named("a")).unwrap_err();
    assert!(matches!(&taken, ObjectError::Refused { code: 409, reason, .. } if reason == "AlreadyExists"), "{taken:?}");
    typed.patch("a", &json!({"data": {"x": "1"}})).unwrap();
    let stale = typed.replace(&created).unwrap_err();
    assert!(matches!(stale, ObjectError::Refused { code: 409, .. }));
    let (_, listed) = api.get(CONFIG_MAPS).await;
    assert_eq!(listed["items"][0]["data"]["x"], "1", "seen by clients");
    typed.delete("a").unwrap();
    assert!(typed.get("a").unwrap_err().is_not_found());
    assert!(typed.list().unwrap().is_empty());
}

#[tokio::test]
async fn namespaces_and_cluster_scoped_kinds() {
    let server = Server::in_process(Config::default()).unwrap();
    server.typed::<Node>().create(&named("n1")).unwrap();
    assert_eq!(server.typed::<Node>().list().unwrap().len(), 1);
    let unknown = server.typed::<ConfigMap>().namespace("shop").create(&named("a")).unwrap_err();
    assert!(unknown.is_not_found(), "the namespace does not exist: {unknown}");
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "c"}]}});
    let pods = server.typed::<Pod>();
    pods.create(&serde_json::from_value(pod).unwrap()).unwrap();
    let pod = pods.patch_status("p", &json!({"status": {"podIP": "10.0.0.1"}})).unwrap();
    assert_eq!(pod.status.unwrap().pod_ip.as_deref(), Some("10.0.0.1"));
}

#[derive(Debug, Serialize, Deserialize)]
struct Widget {
    metadata: Value,
    spec: Spec,
}

#[derive(Debug, Serialize, Deserialize, PartialEq)]
struct Spec {
    size: u32,
}

#[tokio::test]
async fn custom_resources_have_any_type() {
    let kinds = vec![CustomKind::new("example.com", "v1", "Widget")];
    let server = Server::in_process(Config { kinds, ..Config::default() }).unwrap();
    let widgets = server.typed_as::<Widget>("example.com", "widgets");
    let widget = Widget { metadata: json!({"name": "w"}), spec: Spec { size: 3 } };
    assert_eq!(widgets.create(&widget).unwrap().spec, Spec { size: 3 });
    let wrong = server.typed_as::<Vec<u8>>("example.com", "widgets").get("w").unwrap_err();
    assert!(matches!(wrong, ObjectError::Convert { .. }));
    let unknown = server.typed_as::<Widget>("example.com", "gadgets").get("w").unwrap_err();
    assert!(matches!(unknown, ObjectError::UnknownKind { .. }));
}

fn kinds() -> Vec<CustomKind> {
    let schema = json!({
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"size": {"type": "integer"}}},
            "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
        },
    });
    let kind = |name| CustomKind::new("example.com", "v1", name).schema(schema.clone());
    vec![kind("Widget").with_status(), kind("Gadget")]
}

/// A real server ignores some of these patches in part or as a whole, and answers 200.
#[rstest]
#[case::unknown_field("widgets", false, json!({"spec": {"nope": 1}}), "unknown field \"spec.nope\"")]
#[case::status("widgets", false, json!({"status": {"phase": "x"}}), "call patch_status")]
#[case::status_and_spec("widgets", false, json!({"spec": {"size": 1}, "status": {"phase": "x"}}), "call patch_status")]
#[case::status_without_key("widgets", true, json!({"phase": "x"}), "{\"status\": ...}")]
#[case::spec_in_status("widgets", true, json!({"spec": {"size": 1}, "status": {"phase": "x"}}), "call patch for spec")]
#[case::labels_in_status(
    "widgets", true, json!({"metadata": {"labels": {"a": "b"}}, "status": {}}), "call patch for metadata.labels"
)]
#[case::unknown_field_of_status("widgets", true, json!({"status": {"nope": 1}}), "unknown field \"status.nope\"")]
#[case::no_subresource("gadgets", true, json!({"status": {"phase": "x"}}), "call patch")]
#[tokio::test]
async fn ignored_patches_are_errors(
    #[case] plural: &str,
    #[case] status: bool,
    #[case] patch: Value,
    #[case] expected: &str,
) {
    let server = Server::in_process(Config { kinds: kinds(), ..Config::default() }).unwrap();
    let objects = server.typed_as::<Value>("example.com", plural);
    objects.create(&json!({"metadata": {"name": "w"}, "spec": {"size": 3}})).unwrap();
    let revision = server.revision();
    let error = if status { objects.patch_status("w", &patch) } else { objects.patch("w", &patch) }.unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
    assert_eq!(server.revision(), revision);
}

#[tokio::test]
async fn patches_of_the_right_part_succeed() {
    let server = Server::in_process(Config { kinds: kinds(), ..Config::default() }).unwrap();
    let widgets = server.typed_as::<Value>("example.com", "widgets");
    widgets.create(&json!({"metadata": {"name": "w"}, "spec": {"size": 3}})).unwrap();
    let version = &widgets.patch("w", &json!({"spec": {"size": 4}})).unwrap()["metadata"]["resourceVersion"];
    let patch = json!({"metadata": {"resourceVersion": version}, "status": {"phase": "x"}});
    assert_eq!(widgets.patch_status("w", &patch).unwrap()["status"]["phase"], "x");
    assert!(matches!(widgets.patch_status("w", &patch), Err(ObjectError::Refused { code: 409, .. })));
    let gadgets = server.typed_as::<Value>("example.com", "gadgets");
    gadgets.create(&json!({"metadata": {"name": "w"}})).unwrap();
    assert_eq!(gadgets.patch("w", &json!({"status": {"phase": "x"}})).unwrap()["status"]["phase"], "x");
}
