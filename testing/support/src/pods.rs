//! Pods of production size: copies of a recorded Pod of 7.7 kB with other names.

use k8s_pb::api::core::v1 as pb;
use k8s_pb::apimachinery::pkg::runtime::Unknown;
use prost::Message as _;
use serde_json::{Value, json};

use crate::fixture;

/// Owner kind of the Pods, which determines their names and labels.
#[derive(Clone, Copy, Debug)]
pub enum OwnerKind {
    /// 50 Pods share one set of labels.
    ReplicaSet,
    /// Each Pod has a set of labels of its own.
    StatefulSet,
}

const PODS_PER_NAMESPACE: usize = 500;
const PODS_PER_SET: usize = 50;

/// Fields that differ from Pod to Pod.
struct PodFields {
    namespace: String,
    name: String,
    uid: String,
    version: String,
    node: String,
    ip: String,
    labels: Vec<(&'static str, String)>,
}

fn pod_fields(owner: OwnerKind, at: usize) -> PodFields {
    let set = at / PODS_PER_SET;
    let scrambled = at.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let (name, labels) = match owner {
        OwnerKind::ReplicaSet => {
            let hash = format!("{:010x}", set.wrapping_mul(0x9E37_79B9) & 0xff_ffff_ffff);
            (format!("checkout-{hash}-{:05x}", at & 0xf_ffff), vec![("pod-template-hash", hash)])
        }
        OwnerKind::StatefulSet => {
            let (name, index) = (format!("database-{set}-{}", at % PODS_PER_SET), (at % PODS_PER_SET).to_string());
            let labels = vec![
                ("statefulset.kubernetes.io/pod-name", name.clone()),
                ("apps.kubernetes.io/pod-index", index),
                ("controller-revision-hash", format!("database-{set}-5d4f8c7b9")),
            ];
            (name, labels)
        }
    };
    PodFields {
        namespace: format!("team-{}", at / PODS_PER_NAMESPACE),
        name,
        uid: format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{at:012x}",
            scrambled >> 32,
            scrambled & 0xffff,
            at & 0xfff,
            set & 0xfff
        ),
        version: (1_000_000 + at).to_string(),
        node: format!("ip-10-{}-{}.eu-central-1.compute.internal", at % 20, at % 251),
        ip: format!("10.{}.{}.{}", at >> 16, (at >> 8) & 255, at & 255),
        labels,
    }
}

pub(crate) fn recorded_json() -> Vec<Value> {
    let list: Value = serde_json::from_slice(&fixture("pod.list.json")).expect("JSON");
    list["items"].as_array().expect("a list").clone()
}

/// Returns the recorded Pod.
pub fn template() -> Value {
    recorded_json().into_iter().find(|pod| pod["metadata"]["name"] == "shop-0").expect("the Pod")
}

/// Returns `count` Pods in JSON.
pub fn json(owner: OwnerKind, count: usize) -> Vec<Vec<u8>> {
    let mut pod = template();
    if matches!(owner, OwnerKind::StatefulSet) {
        pod["metadata"]["labels"].as_object_mut().expect("labels").remove("pod-template-hash");
    }
    let one = |at| {
        let PodFields { namespace, name, uid, version, node, ip, labels } = pod_fields(owner, at);
        let metadata = &mut pod["metadata"];
        (metadata["name"], metadata["namespace"]) = (json!(name), json!(namespace));
        (metadata["uid"], metadata["resourceVersion"]) = (json!(uid), json!(version));
        for (key, value) in labels {
            metadata["labels"][key] = json!(value);
        }
        pod["spec"]["nodeName"] = json!(node);
        (pod["status"]["podIP"], pod["status"]["podIPs"]) = (json!(ip), json!([{"ip": ip}]));
        pod.to_string().into_bytes()
    };
    (0..count).map(one).collect()
}

pub(crate) fn recorded_protobuf() -> Vec<pb::Pod> {
    let envelope = Unknown::decode(&fixture("pod.list.pb")[4..]).expect("an envelope");
    pb::PodList::decode(&*envelope.raw.expect("a list")).expect("Pods").items
}

/// Returns `count` Pods in protobuf.
pub fn protobuf(owner: OwnerKind, count: usize) -> Vec<Vec<u8>> {
    let name_of = |pod: &pb::Pod| pod.metadata.as_ref().and_then(|it| it.name.clone());
    let mut pod =
        recorded_protobuf().into_iter().find(|pod| name_of(pod).as_deref() == Some("shop-0")).expect("the Pod");
    if matches!(owner, OwnerKind::StatefulSet) {
        pod.metadata.as_mut().expect("metadata").labels.remove("pod-template-hash");
    }
    let one = |at| {
        let PodFields { namespace, name, uid, version, node, ip, labels } = pod_fields(owner, at);
        let metadata = pod.metadata.as_mut().expect("metadata");
        (metadata.name, metadata.namespace) = (Some(name), Some(namespace));
        (metadata.uid, metadata.resource_version) = (Some(uid), Some(version));
        metadata.labels.extend(labels.into_iter().map(|(key, value)| (key.to_owned(), value)));
        pod.spec.as_mut().expect("a specification").node_name = Some(node);
        let status = pod.status.as_mut().expect("a status");
        (status.pod_ip, status.pod_ips) = (Some(ip.clone()), vec![pb::PodIp { ip: Some(ip) }]);
        pod.encode_to_vec()
    };
    (0..count).map(one).collect()
}
