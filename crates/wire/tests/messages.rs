//! Field numbers: decoding of the published message types with all fields set. And the recorded errors of a real API
//! server. `kube-endpoint-model` decodes its recorded lists and watches.

use k8s_pb::api::core::v1::{Pod, PodList, PodSpec};
use k8s_pb::apimachinery::pkg::{
    apis::meta::v1::{
        ListMeta, ManagedFieldsEntry, ObjectMeta, OwnerReference, Status, StatusCause, StatusDetails, Time,
        WatchEvent as WatchEventMessage,
    },
    runtime::{RawExtension, TypeMeta, Unknown},
};
use kube_endpoints_testing::{bodies::Found, fixture};
use kube_wire::{
    Encoding, ListReader, WatchEvent, WatchReader, decode_list,
    protobuf::{Envelope, Fields, Timestamp},
};
use prost::Message;
use rstest::rstest;

#[expect(clippy::unnecessary_wraps, reason = "all fields of the messages are optional")]
fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn envelope(kind: &str, object: &impl Message) -> Vec<u8> {
    let unknown = Unknown {
        type_meta: Some(TypeMeta { api_version: some("v1"), kind: some(kind) }),
        raw: Some(object.encode_to_vec()),
        content_encoding: some(""),
        content_type: some("application/vnd.kubernetes.protobuf"),
    };
    [b"k8s\0".to_vec(), unknown.encode_to_vec()].concat()
}

fn metadata() -> ObjectMeta {
    ObjectMeta {
        name: some("web"),
        generate_name: some("no-"),
        namespace: some("shop"),
        self_link: some("no"),
        uid: some("0a1b"),
        resource_version: some("7"),
        generation: Some(3),
        creation_timestamp: Some(Time { seconds: Some(1_000), nanos: Some(0) }),
        deletion_timestamp: Some(Time { seconds: Some(2_000), nanos: Some(5) }),
        deletion_grace_period_seconds: Some(30),
        labels: [("app".to_owned(), "web".to_owned())].into(),
        annotations: [("k8s.io/initial-events-end".to_owned(), "true".to_owned())].into(),
        owner_references: vec![OwnerReference::default()],
        finalizers: vec!["no".to_owned()],
        managed_fields: vec![ManagedFieldsEntry::default()],
    }
}

fn pod() -> Pod {
    Pod { metadata: Some(metadata()), spec: Some(PodSpec::default()), status: None }
}

#[test]
fn object_metadata() {
    let meta = kube_wire::ObjectHead::from_fields(Fields::new(&metadata().encode_to_vec())).unwrap();
    assert_eq!((&*meta.name, &*meta.namespace), ("web", "shop"));
    assert_eq!((meta.uid.to_string().as_str(), meta.resource_version.number()), ("0a1b", Some(7)));
    assert!(meta.terminating);
}

#[test]
fn times_and_entries() {
    let bytes = metadata().encode_to_vec();
    let fields: Vec<_> = Fields::new(&bytes).map(Result::unwrap).collect();
    let field = |number| fields.iter().find(|field| field.number == number).unwrap();
    assert_eq!(field(9).time(), Ok(Some(Timestamp { seconds: 2_000, nanos: 5 })));
    assert_eq!(field(11).entry(), Ok(("app".into(), "web".into())));
    assert_eq!((field(10).as_i64(), field(7).as_i32()), (Ok(30), Ok(3)));
}

#[test]
fn envelopes() {
    let bytes = envelope("Pod", &pod());
    let object = pod().encode_to_vec();
    assert_eq!(Envelope::open(&bytes), Ok(Envelope { kind: "Pod", api_version: "v1", object: &object }));
}

#[test]
fn lists() {
    let metadata = ListMeta {
        self_link: some("no"),
        resource_version: some("9"),
        r#continue: some("more"),
        remaining_item_count: Some(4),
    };
    let list = PodList { metadata: Some(metadata), items: vec![pod(), pod()] };
    let mut reader = ListReader::<Found>::new(Encoding::Protobuf);
    reader.push(&envelope("PodList", &list));
    for _ in 0..2 {
        assert!(matches!(reader.next_item(), Ok(Some(Ok(Found)))));
    }
    assert!(matches!(reader.next_item(), Ok(None)));
    let meta = reader.finish().unwrap();
    assert_eq!(meta.resource_version, "9");
    assert_eq!((meta.continue_token, meta.remaining), (some("more"), Some(4)));
}

fn frame(event: &str, object: Vec<u8>) -> Vec<u8> {
    let object = Some(RawExtension { raw: Some(object) });
    let frame = WatchEventMessage { r#type: some(event), object }.encode_to_vec();
    [u32::try_from(frame.len()).expect("frame length fits into u32").to_be_bytes().to_vec(), frame].concat()
}

#[test]
fn watch_events() {
    let mut reader = WatchReader::<Found>::new(Encoding::Protobuf, "1".into());
    reader.push(&frame("MODIFIED", envelope("Pod", &pod())));
    reader.push(&frame("BOOKMARK", envelope("Pod", &pod())));
    assert!(matches!(reader.next_event(), Ok(Some(WatchEvent::Modified(Found)))));
    let Ok(Some(WatchEvent::Bookmark { resource_version, initial_events_end })) = reader.next_event() else {
        panic!("expected a bookmark")
    };
    assert_eq!((resource_version.number(), initial_events_end), (Some(7), true));
}

#[test]
fn statuses() {
    let details = StatusDetails {
        name: some("web"),
        group: some("apps"),
        kind: some("pods"),
        uid: some("0a1b"),
        causes: vec![StatusCause { reason: some("Why"), message: some("because"), field: some("spec") }],
        retry_after_seconds: Some(11),
    };
    let status = Status {
        metadata: Some(ListMeta::default()),
        status: some("Failure"),
        message: some("gone"),
        reason: some("Expired"),
        details: Some(details),
        code: Some(410),
    };
    let mut reader = WatchReader::<Found>::new(Encoding::Protobuf, "1".into());
    reader.push(&frame("ERROR", envelope("Status", &status)));
    let Some(WatchEvent::Error(read)) = reader.next_event().unwrap() else { panic!("expected an ERROR event") };
    let expect = kube_wire::Status {
        message: "gone".into(),
        reason: "Expired".into(),
        code: 410,
        details: Some(kube_wire::Details {
            name: "web".into(),
            retry_after_seconds: 11,
            causes: vec![kube_wire::Cause { reason: "Why".into() }],
        }),
    };
    assert_eq!(read, expect);
}

#[test]
fn expired_watch_yields_error_event() {
    let mut reader = WatchReader::<Found>::new(Encoding::Json, "1".into());
    reader.push(&fixture("expired.watch.json"));
    let Ok(Some(WatchEvent::Error(status))) = reader.next_event() else { panic!("expected an ERROR event") };
    assert!(status.is_expired() && reader.finish().is_ok(), "{status}");
}

#[rstest]
#[case("not-found", 404)]
#[case("already-exists", 409)]
#[case("conflict", 409)]
#[case("invalid", 422)]
#[case("bad-request", 400)]
fn error_statuses(#[case] name: &str, #[case] code: u16) {
    let body = fixture(&format!("{name}.status.json"));
    let status: kube_wire::Status = serde_json::from_slice(&body).unwrap();
    assert_eq!(status.code, code);
    assert!(!status.message.is_empty() && !status.reason.is_empty(), "{status:?}");
    let error = decode_list::<Found>(&body).unwrap_err().to_string();
    assert_eq!(error, "cannot decode PodList: the server sent Status");
}
