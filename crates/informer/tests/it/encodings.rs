//! The encoding that the informer requests, and the failures after which it requests JSON.

use kube_endpoints_testing::scripted::{Response, Script, frames, ok};
use rstest::rstest;

use crate::exchange::{bookmark, event, informer, list, status};
use crate::server::run;

fn stream(open: bool) -> Response {
    frames([event("ADDED", "a", 3), bookmark(5, true)], open)
}

fn in_protobuf(body: &str) -> Response {
    let headers = "content-type: application/vnd.kubernetes.protobuf;stream=watch\r\n";
    Response::Body { code: 200, headers, body: body.to_owned() }
}

#[rstest]
#[case::response_in_json(vec![stream(false), ok(list(5, &[("a", 3)])), frames([], true)], "stream, list in JSON, watch in JSON")]
#[case::not_acceptable(vec![status(406, "NotAcceptable", ""), stream(true)], "stream, stream in JSON")]
#[case::unsupported(vec![status(415, "UnsupportedMediaType", ""), stream(true)], "stream, stream in JSON")]
#[case::never_acceptable(
    vec![status(406, "NotAcceptable", ""), status(406, "NotAcceptable", ""), ok(list(5, &[("a", 3)])), frames([], true)],
    "stream, stream in JSON, list in JSON, watch in JSON"
)]
#[case::unreadable_frame(vec![in_protobuf("\0\0\0\u{1}x"), stream(true)], "stream, stream in JSON")]
#[case::oversized_frame(
    vec![in_protobuf("{\"type\":\"ADDED\"}"), ok(list(5, &[("a", 3)])), frames([], true)],
    "stream, list, watch in JSON"
)]
#[case::other_errors_keep_protobuf(
    vec![status(500, "InternalError", ""), status(429, "TooManyRequests", ""), stream(true)],
    "stream, list, stream"
)]
#[tokio::test]
async fn falls_back_to_json_if_protobuf_fails(#[case] responses: Vec<Response>, #[case] expect: &str) {
    let count = responses.len();
    let script = Script::serve(responses).await;
    let informer = informer(&script);
    let _tasks = run(&informer).await;
    assert_eq!(informer.lister().list().iter().map(|it| it.text()).collect::<Vec<_>>(), ["a@3"]);
    let requests: Vec<_> = script
        .requests(count)
        .await
        .iter()
        .map(|request| {
            let verb = match &request.line {
                line if line.contains("sendInitialEvents") => "stream",
                line if line.contains("watch=") => "watch",
                _ => "list",
            };
            format!("{verb}{}", if request.protobuf { "" } else { " in JSON" })
        })
        .collect();
    assert_eq!(requests.join(", "), expect);
}
