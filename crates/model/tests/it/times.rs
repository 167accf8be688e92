//! Times that RFC 3339 and `metav1.Time` allow but `jiff::Timestamp` cannot represent: the object is decoded anyway.

use jiff::Timestamp;
use k8s_pb::api::core::v1 as pb_core;
use k8s_pb::apimachinery::pkg::apis::meta::v1 as pb_meta;
use kube_endpoint_model::{EndpointSlice, Endpoints, Node, Pod, Service};
use kube_wire::Decode;
use prost::Message as _;
use rstest::rstest;

fn metadata(time: &str) -> String {
    format!(
        r#""metadata": {{"name": "a", "namespace": "shop", "creationTimestamp": "{time}", "deletionTimestamp": "{time}",
            "managedFields": [{{"time": "{time}"}}]}}"#
    )
}

#[rstest]
#[case::last_of_rfc_3339("9999-12-31T23:59:59Z")]
#[case::after_the_year_9999("10000-01-01T22:58:59Z")]
#[case::before_the_year_zero("-0001-12-31T00:01:00Z")]
fn json(#[case] time: &str) {
    let metadata = metadata(time);
    let pod = format!(
        r#"{{{metadata}, "status": {{"conditions": [
            {{"type": "Initialized", "status": "True", "lastTransitionTime": "{time}"}},
            {{"type": "Ready", "status": "True", "lastTransitionTime": "{time}"}}]}}}}"#
    );
    let pod = Pod::from_json(pod.as_bytes()).unwrap();
    assert!(pod.ready && pod.terminating && pod.ready_changed.is_none());
    let bare = format!("{{{metadata}}}");
    let service = Service::from_json(bare.as_bytes()).unwrap();
    assert!(service.terminating && service.created.is_none());
    assert_eq!(&*Node::from_json(bare.as_bytes()).unwrap().name, "a");
    for metadata in [
        EndpointSlice::from_json(bare.as_bytes()).unwrap().metadata,
        Endpoints::from_json(bare.as_bytes()).unwrap().metadata,
    ] {
        assert_eq!((metadata.creation_timestamp, metadata.deletion_timestamp), (None, Some(Timestamp::MAX)));
    }
}

#[rstest]
#[case::last_of_rfc_3339(253_402_300_799)]
#[case::last(i64::MAX)]
#[case::first(i64::MIN)]
fn protobuf(#[case] seconds: i64) {
    let time = Some(pb_meta::Time { seconds: Some(seconds), nanos: Some(i32::MIN) });
    let metadata = pb_meta::ObjectMeta {
        name: Some("a".into()),
        creation_timestamp: time,
        deletion_timestamp: time,
        managed_fields: vec![pb_meta::ManagedFieldsEntry { time, ..Default::default() }],
        ..Default::default()
    };
    let condition = |kind: &str| pb_core::PodCondition {
        r#type: Some(kind.into()),
        status: Some("True".into()),
        last_transition_time: time,
        ..Default::default()
    };
    let conditions = vec![condition("Initialized"), condition("Ready")];
    let message = pb_core::Pod {
        metadata: Some(metadata),
        status: Some(pb_core::PodStatus { conditions, ..Default::default() }),
        ..Default::default()
    };
    let pod = Pod::from_protobuf(&message.encode_to_vec()).unwrap();
    assert!(pod.ready && pod.terminating && pod.ready_changed.is_none());
    let service = Service::from_protobuf(&message.encode_to_vec()).unwrap();
    assert!(service.terminating && service.created.is_none());
}

/// A nil pointer differs from a pointer to the zero time, since upstream tests `DeletionTimestamp != nil`.
#[test]
fn an_empty_deletion_timestamp_is_present() {
    let terminating = |metadata: &[u8]| {
        Pod::from_protobuf(&[&[0x0a, u8::try_from(metadata.len()).unwrap()], metadata].concat()).unwrap().terminating
    };
    assert!(!terminating(b"\x0a\x01a"));
    assert!(terminating(b"\x0a\x01a\x4a\x00"));
}
