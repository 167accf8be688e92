//! Typed access to the objects, without a connection.

use std::time::Duration;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use kube_dev_apiserver::{
    Config, CustomKind, DEFAULT_FIELD_MANAGER, Denial, Fault, FieldTracking, ObjectError, On, Server,
};
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

/// The write of a test takes a field from its owner, as that of any client.
#[rstest]
#[case::of_applied_objects(FieldTracking::Applied)]
#[case::always(FieldTracking::Always)]
#[tokio::test]
async fn written_fields_are_owned(#[case] field_tracking: FieldTracking) {
    let server = Server::in_process(Config { field_tracking, ..Config::default() }).unwrap();
    let maps: Api<ConfigMap> = Api::default_namespaced(Client::new(server.service(), "default"));
    let map = |value: &str| {
        Patch::Apply(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": value},
        }))
    };
    let operator = PatchParams::apply("operator");
    maps.patch("a", &operator, &map("1")).await.unwrap();
    let typed = server.typed::<ConfigMap>();
    typed.patch("a", &json!({"data": {"x": "by hand"}})).unwrap();
    let conflict = maps.patch("a", &operator, &map("2")).await.unwrap_err();
    let expected = r#"conflict with "test" using v1: .data.x"#;
    assert!(conflict.to_string().contains(expected), "{conflict}");
    maps.patch("a", &operator.clone().force(), &map("2")).await.unwrap();
    assert_eq!(typed.get("a").unwrap().data.unwrap()["x"], "2");
}

#[tokio::test]
async fn field_manager_is_chosen() {
    let server = Server::in_process(Config { field_tracking: FieldTracking::Always, ..Config::default() }).unwrap();
    let manager = |map: ConfigMap| map.metadata.managed_fields.unwrap()[0].manager.clone();
    let maps = server.typed::<ConfigMap>();
    let map: ConfigMap = serde_json::from_value(json!({"metadata": {"name": "a"}, "data": {"x": "1"}})).unwrap();
    assert_eq!(manager(maps.create(&map).unwrap()).as_deref(), Some(DEFAULT_FIELD_MANAGER));
    maps.delete("a").unwrap();
    assert_eq!(manager(maps.field_manager("tool").create(&map).unwrap()).as_deref(), Some("tool"));
    let invalid = server.typed::<ConfigMap>().field_manager("a\nb").create(&map).unwrap_err();
    assert!(matches!(invalid, ObjectError::Refused { code: 422, .. }), "{invalid:?}");
}

#[tokio::test]
async fn admission_rules_apply() {
    let server = Server::in_process(Config::default()).unwrap();
    let maps = server.typed::<ConfigMap>();
    maps.create(&named("a")).unwrap();
    server.admission().validate(|_, _| Err(Denial::forbidden("no")));
    let is_denied = |answer: Result<(), ObjectError>| {
        let message = "is forbidden: no";
        matches!(answer, Err(ObjectError::Refused { code: 403, message: it, .. }) if it.ends_with(message))
    };
    assert!(is_denied(maps.create(&named("b")).map(drop)));
    assert!(is_denied(maps.patch("a", &json!({"data": {"x": "1"}})).map(drop)));
    assert!(is_denied(maps.replace(&named("a")).map(drop)));
    assert!(is_denied(maps.delete("a")));
    let metadata = json!({"name": "loaded", "namespace": "default"});
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
    assert_eq!(server.load([map]).unwrap(), 1, "not a write of a client");
}

/// As on a real server, a delete of a Job without a propagation policy orphans its Pods.
#[tokio::test]
async fn deletes_have_the_default_propagation_of_the_kind() {
    let server = Server::in_process(Config { garbage_collection: true, ..Config::default() }).unwrap();
    let containers = json!([{"name": "c", "image": "c"}]);
    let spec = json!({"template": {"spec": {"containers": containers, "restartPolicy": "Never"}}});
    let job = json!({"metadata": {"name": "j"}, "spec": spec});
    let jobs = server.typed::<Job>();
    let uid = jobs.create(&serde_json::from_value(job).unwrap()).unwrap().metadata.uid;
    let owner = json!({"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": uid});
    let map = json!({"metadata": {"name": "m", "ownerReferences": [owner]}});
    let maps = server.typed::<ConfigMap>();
    maps.create(&serde_json::from_value(map).unwrap()).unwrap();
    jobs.delete("j").unwrap();
    assert_eq!(maps.get("m").unwrap().metadata.owner_references, None);
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

#[tokio::test]
async fn status_is_replaced() {
    let server = Server::in_process(Config { kinds: kinds(), ..Config::default() }).unwrap();
    let widgets = server.typed_as::<Value>("example.com", "widgets");
    let created = widgets.create(&json!({"metadata": {"name": "w"}, "spec": {"size": 3}})).unwrap();
    let mut changed = created.clone();
    (changed["spec"]["size"], changed["status"]) = (json!(4), json!({"phase": "x"}));
    let replaced = widgets.replace_status(&changed).unwrap();
    assert_eq!((&replaced["spec"]["size"], &replaced["status"]["phase"]), (&json!(3), &json!("x")));
    assert!(matches!(widgets.replace_status(&created), Err(ObjectError::Refused { code: 409, .. })), "stale");
    let gadgets = server.typed_as::<Value>("example.com", "gadgets");
    let created = gadgets.create(&json!({"metadata": {"name": "w"}})).unwrap();
    let error = gadgets.replace_status(&created).unwrap_err();
    assert!(matches!(error, ObjectError::WrongMethod { .. }), "{error:?}");
    assert!(error.to_string().contains("call patch or replace"), "{error}");
    // Built-in kinds let a write of the status change labels.
    let pods = server.typed::<Pod>();
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "c"}]}});
    pods.create(&serde_json::from_value(pod).unwrap()).unwrap();
    let patch = json!({"metadata": {"labels": {"a": "b"}}, "status": {"phase": "Running"}});
    assert_eq!(pods.patch_status("p", &patch).unwrap().metadata.labels.unwrap()["a"], "b");
    let owners = json!({"metadata": {"ownerReferences": []}, "status": {"phase": "Running"}});
    assert!(matches!(pods.patch_status("p", &owners), Err(ObjectError::WrongMethod { .. })));
}

#[tokio::test]
async fn objects_are_validated_strictly() {
    #[derive(Serialize, Deserialize, Debug)]
    struct Twice {
        metadata: Value,
        spec: Spec,
        #[serde(flatten)]
        rest: serde_json::Map<String, Value>,
    }
    let server = Server::in_process(Config { kinds: kinds(), ..Config::default() }).unwrap();
    let unknown = server.typed_as::<Value>("example.com", "widgets");
    let refused = unknown.create(&json!({"metadata": {"name": "w"}, "spec": {"nope": 3}})).unwrap_err();
    assert!(refused.to_string().contains("unknown field \"spec.nope\""), "{refused}");
    let rest = [("spec".to_owned(), json!({"size": 2}))].into_iter().collect();
    let twice = Twice { metadata: json!({"name": "w"}), spec: Spec { size: 1 }, rest };
    let refused = server.typed_as::<Twice>("example.com", "widgets").create(&twice).unwrap_err();
    assert!(refused.to_string().contains("duplicate field \"spec\""), "{refused}");
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
