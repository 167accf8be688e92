//! The event recorder and writer.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use k8s_openapi::api::core::v1::{ConfigMap, Event};
use kube_controller_client::{
    Client, Config, ListParams, Resource,
    events::{EventRecorder, EventType, ObjectReference},
};
use kube_dev_apiserver::{Fault, On, Server};
use kube_endpoints_testing::LIMIT;
use rstest::rstest;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tower::service_fn;

use crate::cluster::{client, client_of, cluster, config_map};

const EVENTS: Resource = Resource::namespaced("", "v1", "events", "Event");

async fn list_events(client: &Client) -> Vec<Event> {
    let body = client.list(&EVENTS, None, &ListParams::default()).await.expect("list");
    let list: serde_json::Value = serde_json::from_slice(&body).expect("decode JSON");
    serde_json::from_value(list["items"].clone()).expect("decode events")
}

#[tokio::test]
async fn recorded_event_is_written() {
    let (server, client) = cluster().await;
    client.create(&config_map("web")).await.unwrap();
    let object: ConfigMap = client.get("default", "web").await.unwrap();
    let (recorder, writer) = EventRecorder::new(client.clone(), "test-controller");
    recorder.event(&ObjectReference::to(&object), EventType::Warning, "Failed", "it did not work");
    drop(recorder);
    writer.run(CancellationToken::new()).await;

    let events = list_events(&client).await;
    let [event] = &events[..] else { panic!("one event, not {events:#?}") };
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    assert_eq!(text(&event.metadata.namespace), "default");
    let (name, nanos) = event.metadata.name.as_deref().unwrap().split_once('.').unwrap();
    assert_eq!(name, "web");
    assert!(u64::from_str_radix(nanos, 16).is_ok(), "{nanos}");
    let involved = &event.involved_object;
    assert_eq!((text(&involved.kind), text(&involved.api_version)), ("ConfigMap".to_owned(), "v1".to_owned()));
    assert_eq!((&involved.uid, &involved.resource_version), (&object.metadata.uid, &object.metadata.resource_version));
    assert_eq!((text(&event.type_), text(&event.reason)), ("Warning".to_owned(), "Failed".to_owned()));
    assert_eq!((text(&event.message), event.count), ("it did not work".to_owned(), Some(1)));
    assert_eq!(event.source.as_ref().and_then(|source| source.component.as_deref()), Some("test-controller"));
    assert_eq!(event.reporting_component.as_deref(), Some("test-controller"));
    assert!(event.first_timestamp.is_some() && event.first_timestamp == event.last_timestamp);
    server.shutdown().await;
}

#[tokio::test]
async fn repeated_event_is_counted_and_recreated_after_it_expired() {
    let (server, client) = cluster().await;
    let (recorder, writer) = EventRecorder::new(client.clone(), "test-controller");
    let object = ObjectReference { name: "web".to_owned(), ..ObjectReference::of("v1", "Node") };
    let repeat = |times: usize| (0..times).for_each(|_| recorder.event(&object, EventType::Normal, "Seen", "again"));
    let stop = CancellationToken::new();
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(writer.run(stop));
    repeat(3);
    let event = wait_for_count(&client, 3).await;
    assert_eq!(event.metadata.namespace.as_deref(), Some("default"), "the object has no namespace");

    client.delete::<Event>("default", event.metadata.name.as_deref().unwrap(), None).await.unwrap();
    repeat(1);
    let again = wait_for_count(&client, 4).await;
    assert_eq!(again.metadata.name, event.metadata.name);
    assert_eq!(again.first_timestamp, event.first_timestamp);
    server.shutdown().await;
}

async fn wait_for_count(client: &Client, count: i32) -> Event {
    let poll = async {
        loop {
            let events = list_events(client).await;
            assert!(events.len() < 2, "{events:#?}");
            if let Some(event) = events.into_iter().find(|event| event.count == Some(count)) {
                return event;
            }
        }
    };
    tokio::time::timeout(LIMIT, poll).await.expect("count not reached")
}

#[tokio::test]
async fn recorder_drops_events_when_the_queue_is_full() {
    let written = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&written);
    let service = service_fn(move |_: Request<Full<Bytes>>| {
        counter.fetch_add(1, Relaxed);
        async { Ok::<_, Infallible>(Response::new(Full::from(r#"{"metadata": {"resourceVersion": "1"}}"#))) }
    });
    let client = client_of(&Config::from_service(service));
    let (recorder, writer) = EventRecorder::new(client, "test-controller");
    for number in 0..1_005 {
        let object = ObjectReference { name: format!("node-{number}"), ..ObjectReference::of("v1", "Node") };
        recorder.event(&object, EventType::Normal, "Seen", "once");
    }
    drop(recorder);
    writer.run(CancellationToken::new()).await;
    assert_eq!(written.load(Relaxed), 1_000);
}

/// Transport errors are retried every 10 s, up to 12 attempts; responses of the server are not (CM-33).
#[rstest]
#[case::lost_once(Fault::reset().times(1), 2, true)]
#[case::lost_eleven_times(Fault::reset().times(11), 12, true)]
#[case::lost_twelve_times(Fault::reset().times(12), 12, false)]
#[case::internal_error(Fault::internal_error().times(1), 1, false)]
#[case::applied_then_lost(Fault::apply_then_reset().times(1), 2, true)]
#[tokio::test(start_paused = true)]
async fn lost_events_are_retried_and_rejected_ones_are_not(
    #[case] fault: Fault,
    #[case] expect: usize,
    #[case] first_is_written: bool,
) {
    let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("a server");
    let client = client_of(&Config::from_service(server.service()));
    let creates = On::any().verb("create").resource("events");
    server.faults().inject(fault.on(creates.clone()));
    let (recorder, writer) = EventRecorder::new(client.clone(), "test-controller");
    let object = ObjectReference { name: "web".to_owned(), ..ObjectReference::of("v1", "Node") };
    recorder.event(&object, EventType::Normal, "Seen", "first");
    recorder.event(&object, EventType::Normal, "Seen", "next");
    drop(recorder);
    let start = Instant::now();
    writer.run(CancellationToken::new()).await;

    // The first delay is random, up to 10 s.
    let delays = u64::try_from(expect - 1).expect("fits u64") * 10;
    assert!((delays.saturating_sub(10)..=delays).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
    assert_eq!(server.requests().count(&creates), expect + 1);
    let mut messages: Vec<_> = list_events(&client).await.into_iter().filter_map(|event| event.message).collect();
    messages.sort();
    assert_eq!(messages, if first_is_written { vec!["first", "next"] } else { vec!["next"] });
    server.shutdown().await;
}

#[tokio::test]
async fn writer_stops_while_server_unreachable() {
    let (recorder, writer) = EventRecorder::new(client("http://127.0.0.1:1"), "test-controller");
    recorder.event(&ObjectReference::of("v1", "Node"), EventType::Normal, "Seen", "m");
    let stop = CancellationToken::new();
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(writer.run(stop.clone()));
    stop.cancel();
    let stopped = tokio::time::timeout(LIMIT, tasks.join_all()).await;
    stopped.expect("writer did not stop");
}
