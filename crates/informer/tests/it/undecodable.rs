//! An object that cannot be decoded does not affect others: no relist, no other encoding, no event of another object.

use kube_endpoints_testing::scripted::{End, Response, Script, frames, ok};
use rstest::rstest;

use crate::exchange::{bookmark, error, event, list, object, page, run_script};

/// Returns the document with the object `name` changed so that it cannot be decoded as a `Thing`.
pub(crate) fn corrupt(document: &str, name: &str) -> String {
    let metadata = format!(r#""metadata":{{"name":"{name}""#);
    assert!(document.contains(&metadata), "{document}");
    document.replacen(&metadata, &format!(r#""data":{{"group":7}},{metadata}"#), 1)
}

pub(crate) fn corrupt_event(kind: &str, name: &str, version: u64) -> String {
    corrupt(&event(kind, name, version), name)
}

/// An object without readable metadata.
pub(crate) const UNNAMED: &str = r#"{"metadata":7}"#;

fn unnamed_event(kind: &str) -> String {
    format!(r#"{{"type":"{kind}","object":{UNNAMED}}}"#)
}

fn recreated(document: &str, name: &str) -> String {
    document.replacen(&format!("uid-{name}"), &format!("uid-{name}-2"), 1)
}

#[rstest]
#[case::in_the_first_list(
    vec![ok(corrupt(&list(5, &[("a", 3), ("b", 4), ("c", 5)]), "b")), frames([event("MODIFIED", "a", 6)], true)],
    "a@6 c@5",
    "list 0, watch 5",
    "Added(initial) shop/a@3, Added(initial) shop/c@5, Updated shop/a@6"
)]
#[case::in_a_page(
    vec![ok(corrupt(&page("p2", &[("a", 3), ("b", 4)]), "b")), ok(list(5, &[("c", 5)])), frames([event("ADDED", "d", 6)], true)],
    "a@3 c@5 d@6",
    "list 0, list newest page p2, watch 5",
    "Added(initial) shop/a@3, Added(initial) shop/c@5, Added shop/d@6"
)]
#[case::in_a_watch(
    vec![
        ok(list(5, &[("a", 3), ("b", 4)])),
        frames([corrupt_event("MODIFIED", "b", 6), corrupt_event("ADDED", "c", 7), event("MODIFIED", "a", 8)], true),
    ],
    "a@8 b@4",
    "list 0, watch 5",
    "Added(initial) shop/a@3, Added(initial) shop/b@4, Updated shop/a@8"
)]
#[case::then_decodable_again(
    vec![
        ok(list(5, &[("a", 3), ("b", 4)])),
        frames([corrupt_event("MODIFIED", "b", 6), event("MODIFIED", "b", 7)], true),
    ],
    "a@3 b@7",
    "list 0, watch 5",
    "Added(initial) shop/a@3, Added(initial) shop/b@4, Updated shop/b@7"
)]
#[case::watch_resumes_after_its_version(
    vec![ok(list(5, &[("a", 3)])), frames([corrupt_event("MODIFIED", "a", 6)], false), ok(list(6, &[("a", 6)])), frames([event("ADDED", "b", 7)], true)],
    "a@3 b@7",
    "list 0, watch 5, verify, watch 6",
    "Added(initial) shop/a@3, Added shop/b@7"
)]
#[case::deleted(
    vec![ok(list(5, &[("a", 3), ("b", 4)])), frames([corrupt_event("DELETED", "b", 6), event("ADDED", "c", 7)], true)],
    "a@3 c@7",
    "list 0, watch 5",
    "Added(initial) shop/a@3, Added(initial) shop/b@4, Deleted(tombstone) shop/b@4, Added shop/c@7"
)]
#[case::deleted_and_never_seen(
    vec![ok(list(5, &[("a", 3)])), frames([corrupt_event("DELETED", "b", 6), event("ADDED", "c", 7)], true)],
    "a@3 c@7",
    "list 0, watch 5",
    "Added(initial) shop/a@3, Added shop/c@7"
)]
#[case::kept_by_a_later_list(
    vec![
        ok(list(5, &[("a", 3), ("b", 4)])),
        frames([error(410, "Expired")], false),
        ok(corrupt(&list(9, &[("a", 3), ("b", 8), ("c", 9)]), "b")),
        frames([], true),
    ],
    "a@3 b@4 c@9",
    "list 0, watch 5, list 5, watch 9",
    "Added(initial) shop/a@3, Added(initial) shop/b@4, Added shop/c@9, Updated shop/a@3, Updated shop/b@4"
)]
#[case::of_another_uid(
    vec![
        ok(list(5, &[("a", 3), ("b", 4)])),
        frames([error(410, "Expired")], false),
        ok(recreated(&corrupt(&list(9, &[("a", 3), ("b", 8), ("c", 9)]), "b"), "b")),
        frames([], true),
    ],
    "a@3 c@9",
    "list 0, watch 5, list 5, watch 9",
    "Added(initial) shop/a@3, Added(initial) shop/b@4, Deleted(tombstone) shop/b@4, Added shop/c@9, Updated shop/a@3"
)]
#[case::recreated_within_a_watch(
    vec![
        ok(list(5, &[("a", 3), ("b", 4)])),
        frames([recreated(&corrupt_event("MODIFIED", "b", 6), "b"), event("ADDED", "c", 7)], true),
    ],
    "a@3 c@7",
    "list 0, watch 5",
    "Added(initial) shop/a@3, Added(initial) shop/b@4, Deleted(tombstone) shop/b@4, Added shop/c@7"
)]
#[case::without_a_name(
    vec![
        ok(list(5, &[("a", 3), ("b", 4)]).replacen(&object("b", 4), UNNAMED, 1)),
        frames([unnamed_event("ADDED"), unnamed_event("DELETED"), event("ADDED", "c", 7)], true),
    ],
    "a@3 c@7",
    "list 0, watch 5",
    "Added(initial) shop/a@3, Added shop/c@7"
)]
// A proxy that corrupts every object must not empty the store.
#[case::nothing_but_objects_without_a_name(
    vec![
        ok(list(5, &[("a", 3), ("b", 4)])),
        frames([error(410, "Expired")], false),
        ok(list(8, &[("a", 3)]).replacen(&object("a", 3), UNNAMED, 1)),
        ok(list(9, &[("a", 3), ("b", 4), ("c", 9)])),
        frames([], true),
    ],
    "a@3 b@4 c@9",
    "list 0, watch 5, list 5, list 5, watch 9",
    "Added(initial) shop/a@3, Added(initial) shop/b@4, Added shop/c@9, Updated shop/a@3, Updated shop/b@4"
)]
#[tokio::test]
async fn lists_and_watches(
    #[case] responses: Vec<Response>,
    #[case] stored: &str,
    #[case] requests: &str,
    #[case] events: &str,
) {
    let count = responses.len();
    let script = Script::serve_without_streams(responses).await;
    assert_eq!(run_script(script, count, stored).await, (requests.to_owned(), events.to_owned()));
}

#[rstest]
#[case::before_the_bookmark(
    vec![frames([event("ADDED", "a", 3), corrupt_event("ADDED", "b", 4), bookmark(5, true), event("MODIFIED", "a", 6)], true)],
    "a@6",
    "stream newest",
    "Added(initial) shop/a@3, Updated shop/a@6"
)]
#[case::the_last_decodable_state_is_stored(
    vec![frames([event("ADDED", "a", 3), event("ADDED", "b", 4), corrupt_event("MODIFIED", "b", 5), bookmark(5, true)], true)],
    "a@3 b@4",
    "stream newest",
    "Added(initial) shop/a@3, Added(initial) shop/b@4"
)]
#[case::deleted_before_the_bookmark(
    vec![
        frames(
            [
                event("ADDED", "a", 3), event("ADDED", "b", 4), corrupt_event("DELETED", "b", 5), corrupt_event("ADDED", "c", 6),
                event("MODIFIED", "c", 7), bookmark(7, true),
            ],
            true,
        ),
    ],
    "a@3 c@7",
    "stream newest",
    "Added(initial) shop/a@3, Added(initial) shop/c@7"
)]
#[case::kept_by_a_later_stream(
    vec![
        frames([event("ADDED", "a", 3), event("ADDED", "b", 4), bookmark(5, true), error(410, "Expired")], true),
        frames([corrupt_event("ADDED", "b", 8), event("ADDED", "a", 3), event("ADDED", "c", 9), bookmark(9, true)], true),
    ],
    "a@3 b@4 c@9",
    "stream newest, stream 5",
    "Added(initial) shop/a@3, Added(initial) shop/b@4, Added shop/c@9, Updated shop/a@3, Updated shop/b@4"
)]
#[tokio::test]
async fn streams(#[case] responses: Vec<Response>, #[case] stored: &str, #[case] requests: &str, #[case] events: &str) {
    let count = responses.len();
    let script = Script::serve(responses).await;
    assert_eq!(run_script(script, count, stored).await, (requests.to_owned(), events.to_owned()));
}

/// A response that is not a list of this type is not taken for an empty list.
#[rstest]
#[case::nothing(r#"{"metadata":{}}"#)]
#[case::no_kind(r#"{"metadata":{"resourceVersion":"8"},"items":[]}"#)]
#[case::no_version(r#"{"kind":"ConfigMapList","metadata":{},"items":[]}"#)]
#[case::other_version_of_the_api(
    r#"{"kind":"ConfigMapList","apiVersion":"v2","metadata":{"resourceVersion":"8"},"items":[]}"#
)]
#[case::status(r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":200}"#)]
#[tokio::test]
async fn invalid_list_does_not_empty_the_store(#[case] response: &str) {
    let responses = [
        ok(list(5, &[("a", 3), ("b", 4)])),
        frames([error(410, "Expired")], false),
        ok(response),
        ok(list(9, &[("a", 3), ("b", 4), ("c", 9)])),
        frames([], true),
    ];
    let (requests, events) = run_script(Script::serve_without_streams(responses).await, 5, "a@3 b@4 c@9").await;
    assert_eq!(requests, "list 0, watch 5, list 5, list 5, watch 9");
    let repeated = "Updated shop/a@3, Updated shop/b@4";
    assert_eq!(events, format!("Added(initial) shop/a@3, Added(initial) shop/b@4, Added shop/c@9, {repeated}"));
}

#[tokio::test]
async fn bookmark_without_a_version_does_not_end_the_stream() {
    let end = r#"{"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
    let responses =
        [frames([event("ADDED", "a", 3), end.to_owned()], true), ok(list(5, &[("b", 4)])), frames([], true)];
    let (requests, events) = run_script(Script::serve(responses).await, 3, "b@4").await;
    assert_eq!((&*requests, &*events), ("stream newest, list 0, watch 5", "Added(initial) shop/b@4"));
}

mod protobuf {
    use kube_wire::protobuf::enveloped;
    use kube_wire::{Decode as _, Resource};

    use super::{End, Response, Script, run_script};
    use crate::messages::{bookmark, frame, message, thing};
    use crate::thing::Thing;

    const CONTENT_TYPE: &str = "application/vnd.kubernetes.protobuf";
    const WATCH: &str = "application/vnd.kubernetes.protobuf;stream=watch";

    /// Returns a thing whose data is a number.
    fn corrupt(name: &str, version: u64) -> Vec<u8> {
        [thing(name, version), vec![2 << 3, 7]].concat()
    }

    fn list(version: u64, things: &[Vec<u8>]) -> Response {
        let list = message(|list| {
            list.message(1, |metadata| metadata.display(2, &version));
            for thing in things {
                list.bytes(2, thing);
            }
        });
        let resource = Resource { kind: "ConfigMapList", ..Thing::RESOURCE };
        Response::Stream { content_type: CONTENT_TYPE, chunks: vec![enveloped(&resource, &list)], end: End::Closed }
    }

    fn watch(frames: &[Vec<u8>]) -> Response {
        Response::Stream { content_type: WATCH, chunks: vec![frames.concat()], end: End::Open }
    }

    #[tokio::test]
    async fn lists_and_watches() {
        let responses = [
            list(5, &[thing("a", 3), corrupt("b", 4), vec![0xff], thing("c", 5)]),
            watch(&[
                frame("MODIFIED", &corrupt("a", 6)),
                frame("DELETED", &corrupt("c", 7)),
                frame("ADDED", b"\xff"),
                frame("ADDED", &thing("d", 8)),
            ]),
        ];
        let (requests, events) = run_script(Script::serve_without_streams(responses).await, 2, "a@3 d@8").await;
        assert_eq!(requests, "list 0, watch 5");
        let expect = "Added(initial) shop/a@3, Added(initial) shop/c@5, Deleted(tombstone) shop/c@5, Added shop/d@8";
        assert_eq!(events, expect);
    }

    #[tokio::test]
    async fn streams() {
        let responses = [watch(&[
            frame("ADDED", &thing("a", 3)),
            frame("ADDED", &corrupt("b", 4)),
            bookmark(5),
            frame("MODIFIED", &thing("a", 6)),
        ])];
        let (requests, events) = run_script(Script::serve(responses).await, 1, "a@6").await;
        assert_eq!((&*requests, &*events), ("stream newest", "Added(initial) shop/a@3, Updated shop/a@6"));
    }
}
