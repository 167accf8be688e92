//! Requests of the informer to a scripted server that fails in all known ways, and the resulting store and events.

use std::sync::{Arc, Mutex};

use kube_endpoints_testing::LIMIT;
use kube_endpoints_testing::scripted::{End, Response, Script, frames, ok};
use kube_informer::{Builder, Informer, wait_for_sync};
use rstest::rstest;
use tokio::{sync::watch, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{server::client, thing::Thing};

pub(crate) fn list(version: u64, things: &[(&str, u64)]) -> String {
    let items: Vec<_> = things.iter().map(|(name, version)| object(name, *version)).collect();
    format!(r#"{{"kind":"ConfigMapList","metadata":{{"resourceVersion":"{version}"}},"items":[{}]}}"#, items.join(","))
}

pub(crate) fn page(continue_token: &str, things: &[(&str, u64)]) -> String {
    list(9, things).replacen("\"resourceVersion\"", &format!(r#""continue":"{continue_token}","resourceVersion""#), 1)
}

pub(crate) fn object(name: &str, version: u64) -> String {
    format!(r#"{{"metadata":{{"name":"{name}","namespace":"shop","uid":"uid-{name}","resourceVersion":"{version}"}}}}"#)
}

pub(crate) fn event(kind: &str, name: &str, version: u64) -> String {
    format!(r#"{{"type":"{kind}","object":{}}}"#, object(name, version))
}

pub(crate) fn error(code: u16, reason: &str) -> String {
    format!(r#"{{"type":"ERROR","object":{{"kind":"Status","code":{code},"reason":"{reason}","message":"m"}}}}"#)
}

pub(crate) fn status(code: u16, reason: &str, headers: &'static str) -> Response {
    let body = format!(r#"{{"kind":"Status","status":"Failure","code":{code},"reason":"{reason}","message":"m"}}"#);
    Response::Body { code, headers, body }
}

/// Returns a watch that breaks after this text.
fn broken(after: String) -> Response {
    Response::Stream { content_type: "application/json", chunks: vec![after.into_bytes()], end: End::Broken }
}

pub(crate) fn informer(script: &Script) -> Informer<Thing> {
    builder(script).build()
}

pub(crate) fn builder(script: &Script) -> Builder<Thing> {
    Informer::builder(client(&script.url())).namespace("shop")
}

/// `GET …?watch=true&resourceVersion=5&timeoutSeconds=347&…` -> `watch 5`
fn short(request: &str) -> String {
    let query = request.split_once('?').map_or("", |(_, query)| query);
    let value = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    let verb = match (value("sendInitialEvents"), value("watch")) {
        (Some(_), _) => "stream",
        (_, Some(_)) => "watch",
        _ if value("limit") == Some("1") => return "verify".to_owned(),
        _ => "list",
    };
    let page = value("continue").map(|page| format!(" page {page}")).unwrap_or_default();
    format!("{verb} {}{page}", value("resourceVersion").unwrap_or("newest"))
}

/// Runs an informer against the script until the store contains `expect`. Returns the first `count` requests and the
/// events of a handler.
pub(crate) async fn run_script(script: Script, count: usize, expect: &str) -> (String, String) {
    let informer = informer(&script);
    run_informer(informer, script, count, expect).await
}

pub(crate) async fn run_informer(
    informer: Informer<Thing>,
    script: Script,
    count: usize,
    expect: &str,
) -> (String, String) {
    let (changed, mut change) = watch::channel(());
    let log = Arc::new(Mutex::new(Vec::new()));
    let lines = log.clone();
    let handle = informer.add_handler(move |event| {
        lines.lock().expect("not poisoned").push(format!("{event:?}"));
        changed.send_replace(());
    });
    let (lister, stop) = (informer.lister(), CancellationToken::new());
    let mut tasks = JoinSet::new();
    tasks.spawn(informer.run(stop.clone()));
    wait_for_sync([&handle], LIMIT).await.expect("the informer syncs");
    let stored = || lister.list().iter().map(|it| it.text()).collect::<Vec<_>>().join(" ");
    let reached = timeout(LIMIT, change.wait_for(|()| stored() == expect)).await.is_ok();
    assert!(reached, "expected {expect:?} in the store, not {:?}", stored());
    let requests = script.requests(count).await;
    stop.cancel();
    tasks.join_all().await;
    let requests = requests.iter().take(count).map(|request| short(&request.line)).collect::<Vec<_>>().join(", ");
    let events = log.lock().expect("not poisoned").join(", ");
    (requests, events)
}

#[rstest]
#[case::follows(
    vec![ok(list(5, &[("a", 3)])), frames([event("ADDED", "b", 6), event("MODIFIED", "a", 7), event("DELETED", "b", 8)], true)],
    "a@7",
    "list 0, watch 5",
    "Added(initial) shop/a@3, Added shop/b@6, Updated shop/a@7, Deleted shop/b@8"
)]
#[case::pages(
    vec![ok(page("p2", &[("a", 3)])), ok(list(5, &[("b", 4)])), frames([], true)],
    "a@3 b@4",
    "list 0, list newest page p2, watch 5",
    "Added(initial) shop/a@3, Added(initial) shop/b@4"
)]
#[case::page_expired(
    vec![ok(page("p2", &[("a", 3)])), status(410, "Expired", ""), ok(list(5, &[("b", 4)])), frames([], true)],
    "b@4",
    "list 0, list newest page p2, list 0, watch 5",
    "Added(initial) shop/b@4"
)]
// A cache between server and informer ignores the query.
#[case::page_repeated(
    vec![ok(page("p2", &[("a", 3)])), ok(page("p2", &[("a", 3)])), ok(list(5, &[("a", 3), ("b", 4)])), frames([], true)],
    "a@3 b@4",
    "list 0, list newest page p2, list 0, watch 5",
    "Added(initial) shop/a@3, Added(initial) shop/b@4"
)]
#[case::resumed_after_an_early_end(
    vec![ok(list(5, &[])), frames([event("ADDED", "a", 6)], false), ok(list(6, &[("a", 6)])), frames([event("ADDED", "b", 7)], true)],
    "a@6 b@7",
    "list 0, watch 5, verify, watch 6",
    "Added shop/a@6, Added shop/b@7"
)]
#[case::resumed_from_a_bookmark(
    vec![
        ok(list(5, &[("a", 3)])),
        frames([r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"40"}}}"#.to_owned()], false),
        ok(list(40, &[("a", 3)])),
        frames([event("MODIFIED", "a", 41)], true),
    ],
    "a@41",
    "list 0, watch 5, verify, watch 40",
    "Added(initial) shop/a@3, Updated shop/a@41"
)]
#[case::cut_within_a_frame(
    vec![
        ok(list(5, &[])),
        broken(event("ADDED", "a", 6) + "\n" + &event("ADDED", "b", 7)[..30]),
        ok(list(7, &[("a", 6)])),
        frames([event("ADDED", "b", 7)], true),
    ],
    "a@6 b@7",
    "list 0, watch 5, verify, watch 6",
    "Added shop/a@6, Added shop/b@7"
)]
#[case::repeated_frames(
    vec![ok(list(5, &[])), frames([event("ADDED", "a", 6), event("ADDED", "a", 6), event("DELETED", "a", 7), event("DELETED", "a", 7), event("ADDED", "b", 8)], true)],
    "b@8",
    "list 0, watch 5",
    "Added shop/a@6, Deleted shop/a@7, Added shop/b@8"
)]
#[case::expired_within_the_stream(
    vec![ok(list(5, &[("a", 3), ("b", 4)])), frames([error(410, "Expired")], false), ok(list(9, &[("a", 3), ("c", 8)])), frames([], true)],
    "a@3 c@8",
    "list 0, watch 5, list 5, watch 9",
    "Added(initial) shop/a@3, Added(initial) shop/b@4, Deleted(tombstone) shop/b@4, Added shop/c@8, Updated shop/a@3"
)]
#[case::expired_as_status(
    vec![ok(list(5, &[("a", 3)])), status(410, "Gone", ""), status(410, "Expired", ""), ok(list(9, &[("a", 8)])), frames([], true)],
    "a@8",
    "list 0, watch 5, list 5, list newest, watch 9",
    "Added(initial) shop/a@3, Updated shop/a@8"
)]
#[case::broken_event_relists(
    vec![
        ok(list(5, &[])),
        frames([event("ADDED", "a", 6), r#"{"type":"ADDED","object":{"metadata":}}"#.to_owned()], true),
        ok(list(7, &[("a", 6), ("b", 7)])),
        frames([], true),
    ],
    "a@6 b@7",
    "list 0, watch 5, list 6, watch 7",
    "Added shop/a@6, Added shop/b@7, Updated shop/a@6"
)]
#[case::broken_list_is_requested_again(
    vec![ok(r#"{"kind":"Status","code":200}"#), ok(list(5, &[("a", 3)])), frames([], true)],
    "a@3",
    "list 0, list 0, watch 5",
    "Added(initial) shop/a@3"
)]
#[case::internal_error(
    vec![status(500, "InternalError", ""), ok(list(5, &[("a", 3)])), frames([], true)],
    "a@3",
    "list 0, list 0, watch 5",
    "Added(initial) shop/a@3"
)]
#[case::too_many_requests(
    vec![status(429, "TooManyRequests", "retry-after: 1\r\n"), ok(list(5, &[("a", 3)])), status(429, "TooManyRequests", ""), frames([event("DELETED", "a", 6)], true)],
    "",
    "list 0, list 0, watch 5, watch 5",
    "Added(initial) shop/a@3, Deleted shop/a@6"
)]
#[tokio::test]
async fn exchange(
    #[case] responses: Vec<Response>,
    #[case] stored: &str,
    #[case] requests: &str,
    #[case] events: &str,
) {
    let count = responses.len();
    let script = Script::serve_without_streams(responses).await;
    assert_eq!(run_script(script, count, stored).await, (requests.to_owned(), events.to_owned()));
}

pub(crate) fn bookmark(version: u64, end: bool) -> String {
    let annotations = if end { r#","annotations":{"k8s.io/initial-events-end":"true"}"# } else { "" };
    format!(r#"{{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"{version}"{annotations}}}}}}}"#)
}

// client-go: TestWatchList
#[rstest]
#[case::synced_by_the_bookmark_and_then_a_watch(
    vec![frames([event("ADDED", "b", 4), event("ADDED", "a", 3), bookmark(5, true), event("MODIFIED", "a", 6)], true)],
    "a@6 b@4",
    "stream newest",
    "Added(initial) shop/a@3, Added(initial) shop/b@4, Updated shop/a@6"
)]
#[case::changes_before_the_bookmark(
    vec![
        frames(
            [
                event("ADDED", "a", 3), event("ADDED", "b", 4), event("ADDED", "c", 4), event("MODIFIED", "a", 5),
                event("DELETED", "b", 6), event("DELETED", "c", 7), event("ADDED", "c", 8), bookmark(9, true),
            ],
            true,
        ),
    ],
    "a@5 c@8",
    "stream newest",
    "Added(initial) shop/a@5, Added(initial) shop/c@8"
)]
#[case::other_bookmarks_do_not_count(
    vec![
        frames([event("ADDED", "a", 3), bookmark(4, false)], false),
        ok(list(5, &[("a", 3)])),
    ],
    "a@3",
    "stream newest, list 0",
    "Added(initial) shop/a@3"
)]
#[case::ended_after_the_bookmark(
    vec![frames([event("ADDED", "a", 3), bookmark(5, true)], false), ok(list(5, &[("a", 3)])), frames([event("ADDED", "b", 6)], true)],
    "a@3 b@6",
    "stream newest, verify, watch 5",
    "Added(initial) shop/a@3, Added shop/b@6"
)]
#[case::broken_before_the_bookmark(
    vec![
        broken(event("ADDED", "a", 3) + "\n"),
        ok(list(5, &[("b", 4)])),
    ],
    "b@4",
    "stream newest, list 0",
    "Added(initial) shop/b@4"
)]
#[case::expired_after_the_bookmark(
    vec![
        frames([event("ADDED", "a", 3), event("ADDED", "b", 4), bookmark(5, true), error(410, "Expired")], true),
        frames([event("ADDED", "a", 3), bookmark(9, true)], true),
    ],
    "a@3",
    "stream newest, stream 5",
    "Added(initial) shop/a@3, Added(initial) shop/b@4, Deleted(tombstone) shop/b@4, Updated shop/a@3"
)]
#[case::error_before_the_bookmark_forces_a_list(
    vec![
        frames([event("ADDED", "a", 3), error(500, "InternalError")], true),
        ok(list(5, &[("b", 4)])),
        frames([], true),
    ],
    "b@4",
    "stream newest, list 0, watch 5",
    "Added(initial) shop/b@4"
)]
#[case::busy(
    vec![status(429, "TooManyRequests", ""), frames([event("ADDED", "a", 3), bookmark(5, true)], true)],
    "a@3",
    "stream newest, stream newest",
    "Added(initial) shop/a@3"
)]
#[tokio::test]
async fn stream(#[case] responses: Vec<Response>, #[case] stored: &str, #[case] requests: &str, #[case] events: &str) {
    let count = responses.len();
    let script = Script::serve(responses).await;
    assert_eq!(run_script(script, count, stored).await, (requests.to_owned(), events.to_owned()));
}

#[tokio::test]
async fn request_urls_match_upstream() {
    let script = Script::serve([status(422, "Invalid", ""), ok(list(5, &[])), frames([], true)]).await;
    let client = client(&script.url());
    let informer = Informer::<Thing>::builder(client).label_selector("app=web,!canary").field_selector("a=b").build();
    let stop = CancellationToken::new();
    let mut tasks = JoinSet::new();
    tasks.spawn(informer.run(stop));
    let requests = script.requests(3).await;
    assert_eq!(
        requests[1].line,
        "GET /api/v1/configmaps?labelSelector=app%3Dweb%2C%21canary&fieldSelector=a%3Db&limit=500&resourceVersion=0"
    );
    for (request, version, rest) in [
        (0, "", "allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"),
        (2, "resourceVersion=5&", "allowWatchBookmarks=true"),
    ] {
        let (before, after) = requests[request].line.split_once("timeoutSeconds=").expect("a timeout");
        let (seconds, after) = after.split_once('&').expect("another parameter");
        let selectors = "labelSelector=app%3Dweb%2C%21canary&fieldSelector=a%3Db";
        assert_eq!(before, format!("GET /api/v1/configmaps?watch=true&{selectors}&{version}"));
        assert_eq!(after, rest);
        assert!((300..600).contains(&seconds.parse::<u32>().unwrap()), "{seconds}");
    }
}
