//! `shadow`: output, exit status and errors.

use rstest::rstest;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::cluster::{Cluster, Run};

/// Runs the program with a server that answers one request. Returns the first line of the request too.
async fn run(status: &str, body: &str, options: &str) -> (Run, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let address = listener.local_addr().expect("an address");
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
    let mut server = JoinSet::new();
    server.spawn(async move {
        let (mut connection, _) = listener.accept().await.expect("a connection");
        let mut request = vec![0; 4_096];
        let length = connection.read(&mut request).await.expect("a request");
        connection.write_all(answer.as_bytes()).await.expect("an answer");
        let request = String::from_utf8_lossy(&request[..length]).into_owned();
        request.lines().next().unwrap_or_default().to_owned()
    });
    let run = Cluster::start().await.run(&format!("shadow --url http://{address}{options}")).await;
    (run, server.join_next().await.expect("the server").expect("no panic"))
}

fn page(open: u64) -> Value {
    let object = json!({"object": {"kind": "EndpointSlice", "namespace": "shop", "name": "web-abc"}, "class": "content",
        "codes": ["EP501"], "expected": {"a": 1}, "actual": null, "omitted": 0});
    let mismatch = json!({"controller": "endpointslice-controller", "namespace": "shop", "service": "web",
        "classes": ["content"], "objects": [object], "firstSeen": "2026-01-01T00:00:00Z", "resolved": null});
    let mismatches = if open == 0 { json!([]) } else { json!([mismatch]) };
    json!({"summary": format!("{open} mismatches"), "openMismatches": open, "servicesCompared": 7, "unsettled": 0,
        "panics": 0, "mismatches": mismatches})
}

#[tokio::test]
async fn open_mismatches_are_shown_and_exit_with_1() {
    let (run, request) = run("200 OK", &page(1).to_string(), "").await;
    assert_eq!(request, "GET /shadow?output=json HTTP/1.1");
    let expect = "1 mismatches\n7 Services compared, 0 differences not settled, 0 panics\n\n\
        shop/web: content; endpointslice-controller, first seen 2026-01-01T00:00:00Z, open\n  \
        EndpointSlice web-abc: content EP501\n    expected: {\"a\":1}\n    actual: no object\n";
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (1, expect, ""));
}

#[rstest]
#[case::json(" -o json")]
#[case::another_path("/proxy/shadow -o json")]
#[tokio::test]
async fn no_mismatch_exits_with_0(#[case] options: &str) {
    let (run, _) = run("200 OK", &page(0).to_string(), options).await;
    assert_eq!((run.status, run.json()), (0, page(0)));
}

#[rstest]
#[case::active_mode("404 Not Found", "404 page not found\n", "404")]
#[case::no_json("200 OK", "0 mismatches", "not JSON")]
#[case::other_json("200 OK", "{}", "no openMismatches")]
#[tokio::test]
async fn another_answer_is_an_error(#[case] status: &str, #[case] body: &str, #[case] expect: &str) {
    let (run, _) = run(status, body, "").await;
    assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.starts_with("error: ") && run.stderr.contains(expect), "{run:?}");
}

#[tokio::test]
async fn a_path_is_read_from_the_api_server() {
    let run =
        Cluster::start().await.run("shadow --url /api/v1/namespaces/shop/pods/https:web-0:10257/proxy/shadow").await;
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("/proxy/shadow?output=json"), "{run:?}");
}
