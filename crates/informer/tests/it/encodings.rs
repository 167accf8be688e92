//! The encoding that the informer requests, and the failures after which it requests JSON.

use std::time::Duration;

use kube_informer::wait_for_sync;
use rstest::rstest;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{
    exchange::{bookmark, event, informer, list, status},
    scripted::{Answer, Script, frames, ok},
};

/// Returns a streaming list of one object.
fn stream(open: bool) -> Answer {
    frames([event("ADDED", "a", 3), bookmark(5, true)], open)
}

fn in_protobuf(body: &str) -> Answer {
    let headers = "content-type: application/vnd.kubernetes.protobuf;stream=watch\r\n";
    Answer::Body { code: 200, headers, body: body.to_owned() }
}

#[rstest]
#[case::the_answer_is_json(vec![stream(false), ok(list(5, &[("a", 3)])), frames([], true)], "stream, list in JSON, watch in JSON")]
#[case::not_acceptable(vec![status(406, "NotAcceptable", ""), stream(true)], "stream, stream in JSON")]
#[case::unsupported(vec![status(415, "UnsupportedMediaType", ""), stream(true)], "stream, stream in JSON")]
#[case::never_acceptable(
    vec![status(406, "NotAcceptable", ""), status(406, "NotAcceptable", ""), ok(list(5, &[("a", 3)])), frames([], true)],
    "stream, stream in JSON, list in JSON, watch in JSON"
)]
#[case::unreadable_frame(vec![in_protobuf("\0\0\0\u{1}x"), stream(true)], "stream, stream in JSON")]
#[case::a_frame_beyond_all_bounds(
    vec![in_protobuf("{\"type\":\"ADDED\"}"), ok(list(5, &[("a", 3)])), frames([], true)],
    "stream, list, watch in JSON"
)]
#[case::trouble_is_no_reason(
    vec![status(500, "InternalError", ""), status(429, "TooManyRequests", ""), stream(true)],
    "stream, list, stream"
)]
#[tokio::test]
async fn asks_in_json_where_protobuf_does_not_work(#[case] answers: Vec<Answer>, #[case] expect: &str) {
    let requests = answers.len();
    let script = Script::serve(answers).await;
    let informer = informer(&script);
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    tasks.spawn(informer.run(stop.clone()));
    wait_for_sync([&informer.store_synced()], Duration::from_secs(30)).await.expect("the informer syncs");
    assert_eq!(informer.lister().list().iter().map(|it| it.text()).collect::<Vec<_>>(), ["a@3"]);
    let asked: Vec<_> = script
        .asked(requests)
        .await
        .iter()
        .map(|asked| {
            let what = match &asked.line {
                line if line.contains("sendInitialEvents") => "stream",
                line if line.contains("watch=") => "watch",
                _ => "list",
            };
            format!("{what}{}", if asked.protobuf { "" } else { " in JSON" })
        })
        .collect();
    assert_eq!(asked.join(", "), expect);
    stop.cancel();
    tasks.join_all().await;
}
