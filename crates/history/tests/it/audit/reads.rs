//! Who has read Endpoints.

use std::io::Cursor;

use kube_endpoints_history::audit::reads::{Reads, Request, Seen};
use kube_endpoints_testing::audit::{event, lines};
use rstest::rstest;
use serde_json::{Value, json};

/// Largest number of different requests that are kept apart.
const MOST_REQUESTS: usize = 65_536;

fn read(events: &[Value]) -> Reads {
    let mut reads = Reads::default();
    reads.add("audit.log", Cursor::new(lines(events))).expect("readable");
    reads
}

#[rstest]
#[case::list("list", json!({}), "list shop/ alice 1")]
#[case::get("get", json!({"objectRef": {"resource": "endpoints", "namespace": "shop", "name": "web"}}),
    "get shop/web alice 1")]
#[case::not_found("get", json!({"responseStatus": {"code": 404}}), "get shop/ alice 1")]
#[case::denied("list", json!({"responseStatus": {"code": 403}}), "")]
#[case::begun_watch("watch", json!({"stage": "ResponseStarted"}), "watch shop/ alice 1")]
#[case::received("list", json!({"stage": "RequestReceived"}), "")]
#[case::name_by_field("watch", json!({"requestURI": "/x?fieldSelector=metadata.name%3Dweb"}),
    "watch shop/web alice 1")]
#[case::name_by_double_equals("watch", json!({"requestURI": "/x?fieldSelector=metadata.name%3D%3Dweb"}),
    "watch shop/web alice 1")]
#[case::all_but_a_name("watch", json!({"requestURI": "/x?fieldSelector=metadata.name%21%3Dweb"}),
    "watch shop/ alice 1")]
#[case::labels("list", json!({"requestURI": "/x?labelSelector=app%3Dweb"}), "list shop/ [app=web] alice 1")]
#[case::other_kind("list", json!({"objectRef": {"resource": "services", "namespace": "shop"}}), "")]
#[case::write("update", json!({}), "")]
#[case::another_group("list", json!({"objectRef": {"apiGroup": "example.com", "resource": "endpoints"}}), "")]
#[case::impersonated("list", json!({"impersonatedUser": {"username": "bob"}}),
    "list shop/ bob, impersonated by alice 1")]
fn reads_of_endpoints_are_found(#[case] verb: &str, #[case] changes: Value, #[case] expected: &str) {
    let reads = read(&[event(verb, &changes)]);
    let shown = |(request, seen): (&Request, Seen)| {
        let labels = request.labels.as_ref().map(|it| format!("[{it}] ")).unwrap_or_default();
        format!("{} {}/{} {labels}{} {}", request.verb, request.namespace, request.name, request.user, seen.count)
    };
    assert_eq!(reads.requests().map(shown).collect::<Vec<_>>().join("; "), expected);
    assert_eq!(reads.hours.is_empty(), expected.is_empty());
    assert_eq!((reads.files[0].events, reads.files[0].hours.len()), (1, 1));
}

#[test]
fn a_watch_with_two_stages_is_one_request() {
    let watch = |stage: &str, time: &str| event("watch", &json!({"stage": stage, "stageTimestamp": time}));
    let reads = read(&[
        watch("ResponseStarted", "2026-11-27T14:00:00Z"),
        watch("ResponseComplete", "2026-11-27T14:05:00Z"),
        watch("ResponseStarted", "2026-11-27T15:05:00Z"),
    ]);
    let (_, seen) = reads.requests().next().expect("a request");
    assert_eq!(
        (seen.count, seen.first.to_string(), seen.last.to_string()),
        (2, "2026-11-27T14:00:00Z".to_owned(), "2026-11-27T15:05:00Z".to_owned())
    );
    assert_eq!(reads.hours.len(), 2);
}

#[test]
fn further_requests_are_kept_without_names() {
    let get = |name: usize| {
        let object = json!({"resource": "endpoints", "namespace": "shop", "name": name.to_string()});
        event("get", &json!({"objectRef": object}))
    };
    let events: Vec<Value> = (0..MOST_REQUESTS + 3).map(get).collect();
    let reads = read(&events);
    let (all, seen) = reads.requests().find(|(request, _)| request.name.is_empty()).expect("the further ones");
    assert_eq!((all.namespace.as_str(), seen.count, reads.is_incomplete), ("", 3, false));
}

#[test]
fn damaged_logs_are_read() {
    let log = format!("{}\n", event("list", &json!({})));
    for cut in 0..log.len() {
        let mut reads = Reads::default();
        let damaged = format!("{}{log}", &log[..cut]);
        reads.add("audit.log", Cursor::new(damaged.into_bytes())).expect("readable");
        // What was cut off can be the end of the line only.
        let events = 1 + u64::from(cut == log.len() - 1);
        assert!(reads.files[0].events <= events && reads.files[0].foreign <= 2, "{cut}: {:?}", reads.files);
    }
}

#[rstest]
#[case::plain(json!({}), false)]
#[case::amazon(json!({"message": ""}), false)]
#[case::azure(json!({"properties": ""}), true)]
fn exports_can_be_of_all_servers(#[case] wrapper: Value, #[case] expected: bool) {
    let event = event("list", &json!({}));
    let field = wrapper.as_object().expect("an object").keys().next().cloned();
    let line = match field.as_deref() {
        None => event,
        Some("properties") => json!({"properties": {"log": event.to_string()}}),
        Some(field) => json!({field: event.to_string()}),
    };
    assert_eq!(read(&[line]).files[0].is_of_all_servers, expected);
}
