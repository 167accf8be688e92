//! Tests of projections with further parts.

use std::sync::Arc;

use k8s_pb::api::core::v1 as pb;
use k8s_pb::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_wire::Index as _;
use prost::Message as _;
use serde::Deserialize;

use super::*;
use crate::{AnnotationKeys, Annotations, LabelIndex, Pod, membership};

struct Notes;

impl AnnotationKeys for Notes {
    fn keeps(key: &str) -> bool {
        key.starts_with("example.com/")
    }
}

/// The scheduler of a Pod, which `Pod` does not contain.
#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Scheduler {
    spec: SchedulerSpec,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SchedulerSpec {
    scheduler_name: String,
}

impl Part for Scheduler {
    fn from_json(kind: &str, bytes: &[u8]) -> Result<Self, DecodeError> {
        kube_wire::json::from_slice(kind, bytes)
    }
}

type NotedPod = With<Pod, Annotations<Notes>>;

const JSON: &[u8] = br#"{
    "metadata": {"namespace": "shop", "name": "p", "uid": "u", "resourceVersion": "7", "labels": {"app": "web"},
        "annotations": {"example.com/a": "1", "other": "2", "example.com/b": null}},
    "spec": {"schedulerName": "s", "nodeName": "n"},
    "status": {"phase": "Running", "podIPs": [{"ip": "10.0.0.1"}], "conditions": [{"type": "Ready", "status": "True"}]}
}"#;

fn protobuf() -> Vec<u8> {
    let text = |text: &str| Some(text.to_owned());
    let annotations = [("example.com/a", "1"), ("other", "2"), ("example.com/b", "")];
    let pod = pb::Pod {
        metadata: Some(ObjectMeta {
            namespace: text("shop"),
            name: text("p"),
            uid: text("u"),
            resource_version: text("7"),
            labels: [("app".to_owned(), "web".to_owned())].into(),
            annotations: annotations.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
            ..ObjectMeta::default()
        }),
        spec: Some(pb::PodSpec { node_name: text("n"), ..pb::PodSpec::default() }),
        status: Some(pb::PodStatus {
            phase: text("Running"),
            pod_ips: vec![pb::PodIp { ip: text("10.0.0.1") }],
            conditions: vec![pb::PodCondition {
                r#type: text("Ready"),
                status: text("True"),
                ..pb::PodCondition::default()
            }],
            ..pb::PodStatus::default()
        }),
    };
    pod.encode_to_vec()
}

#[test]
fn chosen_annotations_are_kept_in_both_encodings() {
    let pod = NotedPod::from_json(JSON).unwrap();
    assert_eq!(pod.part.iter().collect::<Vec<_>>(), [("example.com/a", "1"), ("example.com/b", "")]);
    assert_eq!(pod.object, Pod::from_json(JSON).unwrap());
    const { assert!(NotedPod::PROTOBUF) };
    assert_eq!(NotedPod::from_protobuf(&protobuf()).unwrap(), pod);
}

#[test]
fn malformed_annotations_are_errors() {
    let error = NotedPod::from_json(br#"{"metadata": {"name": "p", "annotations": {"example.com/a": 1}}}"#);
    assert!(error.unwrap_err().to_string().contains("Pod"));
    NotedPod::from_protobuf(b"\x0a\x03\x62\x05\x01").unwrap_err();
}

#[test]
fn objects_without_annotations_have_none() {
    for json in [&br#"{"metadata": {"name": "p"}}"#[..], br#"{"metadata": {"name": "p", "annotations": null}}"#] {
        assert!(NotedPod::from_json(json).unwrap().part.is_empty());
    }
    assert!(NotedPod::from_protobuf(b"").unwrap().part.is_empty());
}

#[test]
fn parts_compose_and_need_protobuf_only_together() {
    type Scheduled = With<Pod, (Annotations<Notes>, Scheduler)>;
    let pod = Scheduled::from_json(JSON).unwrap();
    assert_eq!(pod.part.0.get("example.com/a"), Some("1"));
    assert_eq!(pod.part.1.spec.scheduler_name, "s");
    const { assert!(!Scheduled::PROTOBUF) };
    let error = Scheduled::from_protobuf(&protobuf()).unwrap_err();
    assert!(matches!(error.problem, DecodeProblem::Encoding(_)), "{error}");
}

#[test]
fn indexes_and_rules_take_it_for_a_pod() {
    let pod = Arc::new(NotedPod::from_json(JSON).unwrap());
    let mut index = LabelIndex::default();
    index.update(None, Some(&pod));
    let selector = [("app", "web")].into_iter().collect();
    let [selected] = &index.select("shop", &selector)[..] else { panic!("one Pod") };
    assert_eq!((selected.key(), selected.uid(), selected.resource_version()), (pod.key(), "u".into(), 7.into()));
    assert_eq!((membership::exclusion(&**selected, true), membership::unready(&**selected, false)), (None, None));
    assert_eq!(membership::target(&**selected), membership::target(&pod.object));
    let other = With { part: Annotations::default(), ..(*pod).clone() };
    assert!(pod.content_eq(&pod) && !pod.content_eq(&other));
}
