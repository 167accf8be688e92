//! Typed access to the objects, without a connection.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube_dev_apiserver::{Config, CustomKind, Fault, ObjectError, On, Server};
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

#[tokio::test]
async fn spent_faults_are_asserted() {
    let api = TestApi::start(Config::default()).await;
    let faults = api.server.faults();
    faults.assert_spent();
    let conflict = Fault::reject(409).on(On::any().group("").resource("configmaps")).times(2);
    assert_eq!(*conflict.effect(), kube_dev_apiserver::Effect::Reject { code: 409, retry_after_seconds: None });
    faults.inject(conflict);
    faults.inject(Fault::delay_request(Duration::ZERO, Duration::ZERO).on(On::any().group("apps")));
    assert_eq!(api.get(CONFIG_MAPS).await.0, 409);
    assert_eq!(
        faults.states().iter().map(kube_dev_apiserver::FaultState::is_spent).collect::<Vec<_>>(),
        [false, false]
    );
    assert_eq!(api.get(CONFIG_MAPS).await.0, 409);
    assert_eq!(faults.states().iter().map(|it| (it.is_spent(), it.hits)).collect::<Vec<_>>(), [(true, 2), (false, 0)]);
}

#[tokio::test]
#[should_panic(expected = "faults without effect")]
async fn unspent_fault_panics() {
    let server = Server::in_process(Config::default()).unwrap();
    server.faults().inject(Fault::unavailable());
    server.faults().assert_spent();
}
