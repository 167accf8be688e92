//! A Pod with a time that `jiff::Timestamp` cannot represent does not stop the informer, from the server to the store.

use k8s_pb::api::core::v1 as pb;
use k8s_pb::apimachinery::pkg::apis::meta::v1::{ListMeta, ObjectMeta, Time, WatchEvent};
use k8s_pb::apimachinery::pkg::runtime::{RawExtension, TypeMeta, Unknown};
use kube_controller_client::{Client, ClientOptions, Config};
use kube_endpoint_model::Pod;
use kube_endpoints_testing::LIMIT;
use kube_endpoints_testing::scripted::{Response, Script};
use kube_informer::{Informer, wait_for_sync};
use prost::Message;
use rstest::rstest;
use tokio::{sync::watch, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

/// The last second of the year 9999.
const SECONDS: i64 = 253_402_300_799;
const TEXT: &str = "9999-12-31T23:59:59Z";

fn json_pod(name: &str, version: u64) -> String {
    format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"shop","uid":"{name}","resourceVersion":"{version}"}},"status":{{"conditions":[
        {{"type":"Ready","status":"True","lastTransitionTime":"{TEXT}"}}]}}}}"#
    )
    .replace('\n', " ")
}

fn json_list() -> Vec<u8> {
    let items = [json_pod("a", 3), json_pod("b", 4)].join(",");
    let list =
        format!(r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"5"}},"items":[{items}]}}"#);
    list.into_bytes()
}

fn json_event(kind: &str, name: &str, version: u64) -> Vec<u8> {
    format!("{{\"type\":\"{kind}\",\"object\":{}}}\n", json_pod(name, version)).into_bytes()
}

const JSON_BOOKMARK: &[u8] = b"{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":\"5\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n";

fn pod(name: &str, version: u64) -> pb::Pod {
    let ready = pb::PodCondition {
        r#type: Some("Ready".to_owned()),
        status: Some("True".to_owned()),
        last_transition_time: Some(Time { seconds: Some(SECONDS), nanos: Some(0) }),
        ..Default::default()
    };
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some("shop".to_owned()),
        uid: Some(name.to_owned()),
        resource_version: Some(version.to_string()),
        ..Default::default()
    };
    let status = pb::PodStatus { conditions: vec![ready], ..Default::default() };
    pb::Pod { metadata: Some(metadata), status: Some(status), ..Default::default() }
}

fn envelope(kind: &str, object: &impl Message) -> Vec<u8> {
    let unknown = Unknown {
        type_meta: Some(TypeMeta { api_version: Some("v1".to_owned()), kind: Some(kind.to_owned()) }),
        raw: Some(object.encode_to_vec()),
        ..Default::default()
    };
    [b"k8s\0".to_vec(), unknown.encode_to_vec()].concat()
}

fn list() -> Vec<u8> {
    let metadata = Some(ListMeta { resource_version: Some("5".to_owned()), ..Default::default() });
    envelope("PodList", &pb::PodList { metadata, items: vec![pod("a", 3), pod("b", 4)] })
}

fn event(kind: &str, pod: &pb::Pod) -> Vec<u8> {
    let object = Some(RawExtension { raw: Some(envelope("Pod", pod)) });
    let frame = WatchEvent { r#type: Some(kind.to_owned()), object }.encode_to_vec();
    [u32::try_from(frame.len()).expect("short").to_be_bytes().to_vec(), frame].concat()
}

fn bookmark() -> Vec<u8> {
    let mut pod = pod("", 5);
    let annotations = [("k8s.io/initial-events-end".to_owned(), "true".to_owned())].into();
    pod.metadata = pod.metadata.map(|metadata| ObjectMeta { annotations, ..metadata });
    event("BOOKMARK", &pod)
}

const JSON: &str = "application/json";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

fn answer(content_type: &'static str, body: &[Vec<u8>], open: bool) -> Response {
    Response::Bytes { content_type, body: body.concat(), open }
}

#[rstest]
#[case::list_in_json(false, vec![
    answer(JSON, &[json_list()], false),
    answer(JSON, &[json_event("MODIFIED", "a", 6), json_event("ADDED", "c", 7), json_event("DELETED", "b", 8)], true),
])]
#[case::list_in_protobuf(false, vec![
    answer(PROTOBUF, &[list()], false),
    answer(PROTOBUF, &[event("MODIFIED", &pod("a", 6)), event("ADDED", &pod("c", 7)), event("DELETED", &pod("b", 8))], true),
])]
#[case::stream_in_json(true, vec![answer(
    JSON,
    &[
        json_event("ADDED", "a", 3), json_event("ADDED", "b", 4), JSON_BOOKMARK.to_vec(), json_event("MODIFIED", "a", 6),
        json_event("ADDED", "c", 7), json_event("DELETED", "b", 8),
    ],
    true,
)])]
#[case::stream_in_protobuf(true, vec![answer(
    PROTOBUF,
    &[
        event("ADDED", &pod("a", 3)), event("ADDED", &pod("b", 4)), bookmark(), event("MODIFIED", &pod("a", 6)),
        event("ADDED", &pod("c", 7)), event("DELETED", &pod("b", 8)),
    ],
    true,
)])]
#[tokio::test]
async fn pod_with_a_time_in_year_9999_does_not_stop_the_informer(
    #[case] streams: bool,
    #[case] answers: Vec<Response>,
) {
    let requests = answers.len();
    let script = if streams { Script::serve(answers).await } else { Script::serve_without_streams(answers).await };
    let config = Config::from_url(&script.url()).unwrap();
    let options = ClientOptions { qps: 0.0, ..ClientOptions::default() };
    let informer = Informer::<Pod>::builder(Client::new(&config, options).unwrap()).build();
    let (changed, mut change) = watch::channel(());
    let handler = informer.add_handler(move |_| {
        changed.send_replace(());
    });
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    tasks.spawn(informer.run(stop.clone()));
    wait_for_sync([&handler], LIMIT).await.unwrap();
    let lister = informer.lister();
    let stored = || lister.list().iter().map(|it| format!("{}@{}", it.name, it.resource_version)).collect::<Vec<_>>();
    let reached = timeout(LIMIT, change.wait_for(|()| stored() == ["a@6", "c@7"])).await.is_ok();
    assert!(reached, "{:?}", stored());
    assert!(lister.list().iter().all(|pod| pod.ready && pod.ready_changed.is_none()));
    assert_eq!(script.requests(requests).await.len(), requests, "no further list");
    stop.cancel();
    tasks.join_all().await;
}
