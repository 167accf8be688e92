//! The author's choice for objects that cannot be decoded.

use std::sync::{Arc, Mutex, OnceLock};

use kube_endpoints_testing::LIMIT;
use kube_endpoints_testing::scripted::{Response, Script, frames, ok};
use kube_informer::{Guard, Informer, OnUndecodable};
use kube_wire::ObjectKey;
use rstest::rstest;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::exchange::{bookmark, builder, error, event, list, object, run_informer};
use crate::thing::Thing;
use crate::undecodable::{UNNAMED, corrupt, corrupt_event};

fn choosing(script: &Script, choice: OnUndecodable) -> Informer<Thing> {
    builder(script).on_undecodable(move |_| choice).build()
}

#[rstest]
#[case::in_the_first_list(
    vec![ok(corrupt(&list(5, &[("a", 3), ("b", 4)]), "b")), frames([event("MODIFIED", "a", 6)], true)],
    "a@6",
    "list 0, watch 5",
    "Added(initial) shop/a@3, Updated shop/a@6"
)]
#[case::in_a_watch(
    vec![
        ok(list(5, &[("a", 3), ("b", 4)])),
        frames([corrupt_event("MODIFIED", "b", 6), corrupt_event("ADDED", "c", 7), event("MODIFIED", "a", 8)], true),
    ],
    "a@8",
    "list 0, watch 5",
    "Added(initial) shop/a@3, Added(initial) shop/b@4, Deleted(tombstone) shop/b@4, Updated shop/a@8"
)]
#[case::then_decodable_again(
    vec![
        ok(list(5, &[("b", 4)])),
        frames([corrupt_event("MODIFIED", "b", 6), event("MODIFIED", "b", 7)], true),
    ],
    "b@7",
    "list 0, watch 5",
    "Added(initial) shop/b@4, Deleted(tombstone) shop/b@4, Added shop/b@7"
)]
#[case::in_a_later_list(
    vec![
        ok(list(5, &[("a", 3), ("b", 4)])),
        frames([error(410, "Expired")], false),
        ok(corrupt(&list(9, &[("a", 3), ("b", 8)]), "b")),
        frames([event("ADDED", "c", 10)], true),
    ],
    "a@3 c@10",
    "list 0, watch 5, list 5, watch 9",
    "Added(initial) shop/a@3, Added(initial) shop/b@4, Updated shop/a@3, Updated shop/b@4, Deleted(tombstone) shop/b@4, \
     Added shop/c@10"
)]
#[tokio::test]
async fn skipped_objects_are_absent(
    #[case] responses: Vec<Response>,
    #[case] stored: &str,
    #[case] requests: &str,
    #[case] events: &str,
) {
    let count = responses.len();
    let script = Script::serve_without_streams(responses).await;
    let informer = choosing(&script, OnUndecodable::Skip);
    assert_eq!(run_informer(informer, script, count, stored).await, (requests.to_owned(), events.to_owned()));
}

#[tokio::test]
async fn the_earlier_state_in_a_stream_is_skipped_too() {
    let frames = frames(
        [
            event("ADDED", "a", 3),
            event("ADDED", "b", 4),
            corrupt_event("MODIFIED", "b", 5),
            bookmark(5, true),
            event("MODIFIED", "a", 6),
        ],
        true,
    );
    let script = Script::serve([frames]).await;
    let informer = choosing(&script, OnUndecodable::Skip);
    let (_, events) = run_informer(informer, script, 1, "a@6").await;
    assert_eq!(events, "Added(initial) shop/a@3, Updated shop/a@6");
}

/// The guard would hold a list that lacks most objects, and reads of them would contradict it.
#[tokio::test]
async fn skipped_objects_do_not_count_as_missing() {
    let names: Vec<String> = (0..60).map(|number| format!("b{number:02}")).collect();
    let things: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 4)).chain([("keep", 3)]).collect();
    let corrupted = names.iter().fold(list(9, &things), |document, name| corrupt(&document, name));
    let responses = [ok(list(5, &things)), frames([error(410, "Expired")], false), ok(corrupted), frames([], true)];
    let script = Script::serve_without_streams(responses).await;
    let informer = builder(&script).guard(Guard::default()).on_undecodable(|_| OnUndecodable::Skip).build();
    let held = informer.held_list();
    let (requests, _) = run_informer(informer, script, 4, "keep@3").await;
    assert_eq!(requests, "list 0, watch 5, list 5, watch 9");
    assert!(held.borrow().is_none());
}

#[rstest]
#[case::in_the_first_list(vec![ok(corrupt(&list(5, &[("a", 3), ("b", 4)]), "b"))], "configmaps shop/b cannot be decoded")]
#[case::in_a_watch(
    vec![ok(list(5, &[("a", 3)])), frames([corrupt_event("ADDED", "b", 6)], true)],
    "configmaps shop/b cannot be decoded"
)]
#[case::without_a_name(
    vec![ok(list(5, &[("a", 3)]).replacen(&object("a", 3), UNNAMED, 1))],
    "configmaps without a readable name cannot be decoded"
)]
#[tokio::test]
async fn an_object_ends_the_informer(#[case] responses: Vec<Response>, #[case] expected: &str) {
    let script = Script::serve_without_streams(responses).await;
    let informer = choosing(&script, OnUndecodable::Fail);
    let running = timeout(LIMIT, informer.try_run(CancellationToken::new()));
    let failed = running.await.expect("it ends").expect_err("it fails");
    assert_eq!(failed.to_string(), expected);
    assert!(std::error::Error::source(&failed).is_some(), "the error of the decoder");
}

/// A deletion needs no more than the name.
#[tokio::test]
async fn an_undecodable_deletion_does_not_fail() {
    let watch = frames([corrupt_event("DELETED", "b", 6), event("ADDED", "c", 7)], true);
    let script = Script::serve_without_streams([ok(list(5, &[("b", 4)])), watch]).await;
    let informer = choosing(&script, OnUndecodable::Fail);
    let (_, events) = run_informer(informer, script, 2, "c@7").await;
    assert_eq!(events, "Added(initial) shop/b@4, Deleted(tombstone) shop/b@4, Added shop/c@7");
}

#[tokio::test]
async fn the_author_gets_namespace_and_name_and_chooses_for_each_object() {
    let watch =
        frames([corrupt_event("MODIFIED", "a", 6), corrupt_event("MODIFIED", "b", 7), event("ADDED", "c", 8)], true);
    let script = Script::serve_without_streams([ok(list(5, &[("a", 3), ("b", 4)])), watch]).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let informer = builder(&script).on_undecodable(move |object| {
        log.lock().expect("not poisoned").push((object.key.clone(), object.error.to_string().contains("data")));
        if object.key == Some(ObjectKey::new("shop", "a")) { OnUndecodable::Keep } else { OnUndecodable::Skip }
    });
    let (_, events) = run_informer(informer.build(), script, 2, "a@3 c@8").await;
    assert_eq!(events, "Added(initial) shop/a@3, Added(initial) shop/b@4, Deleted(tombstone) shop/b@4, Added shop/c@8");
    let seen = seen.lock().expect("not poisoned").clone();
    assert_eq!(seen, ["a", "b"].map(|name| (Some(ObjectKey::new("shop", name)), true)));
}

/// Undecodable events are no bookmarks, after three of which the server counts as having lost an own delete.
#[tokio::test]
async fn undecodable_events_do_not_undo_an_own_delete() {
    let mut events = [6, 7, 8].map(|version| corrupt_event("MODIFIED", "a", version)).to_vec();
    events.extend([event("MODIFIED", "b", 9), event("DELETED", "b", 10), event("ADDED", "c", 11)]);
    let relist = ok(list(11, &[("a", 3), ("c", 11)]));
    let responses = [ok(list(5, &[("a", 3), ("b", 4)])), frames(events, true), relist, frames([], true)];
    let script = Script::serve_without_streams(responses).await;
    let deleting = Arc::new(OnceLock::<Informer<Thing>>::new());
    let informer = deleting.clone();
    let built = builder(&script).on_undecodable(move |_| {
        let informer = informer.get().expect("built");
        if let Some(b) = informer.lister().get("shop", "b") {
            informer.write_through(&informer.store_synced()).begin("shop", "b").deleted(&b);
        }
        OnUndecodable::Keep
    });
    let informer = deleting.get_or_init(|| built.build()).clone();
    let (_, events) = run_informer(informer, script, 2, "a@3 c@11").await;
    assert_eq!(events, "Added(initial) shop/a@3, Added(initial) shop/b@4, Deleted shop/b@4, Added shop/c@11");
}
