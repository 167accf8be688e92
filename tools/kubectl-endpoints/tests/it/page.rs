//! `--url`: the history of a controller manager.

use std::path::PathBuf;

use kube_endpoints_testing::scripted::{End, Response, Script, ok, status};
use rstest::rstest;
use tempfile::TempDir;

use crate::cluster::Run;
use crate::timeline::{END, FLIP, offline, record};

/// Start of the segment of [`history`].
const STARTED: &str = "2026-11-27T14:00:00Z";

/// Runs the program with a server that sends these responses. Returns the requests too.
async fn run(responses: impl IntoIterator<Item = Response>, args: &[&str]) -> (Run, Vec<String>) {
    let server = Script::serve(responses).await;
    let run = offline(&[args, &[&format!("--url={}", server.url())]].concat()).await;
    (run, server.requests(0).await.into_iter().map(|request| request.line).collect())
}

/// Runs the program with a server whose responses to `queries` are the list of segments, and this history.
async fn run_with(history: &[u8], queries: &[&str], args: &[&str]) -> (Run, Vec<String>) {
    run(queries.iter().map(|query| response(history, query)), args).await
}

fn response(history: &[u8], query: &str) -> Response {
    if query == SEGMENTS[0] {
        return ok(STARTED);
    }
    Response::Stream { content_type: "application/octet-stream", chunks: vec![history.to_vec()], end: End::Closed }
}

/// Returns a folder, a file of a history in it, and its bytes.
fn history() -> (TempDir, PathBuf, Vec<u8>) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("day.history");
    record(&file);
    let bytes = std::fs::read(&file).expect("the file");
    (folder, file, bytes)
}

#[tokio::test]
async fn a_page_is_read_as_a_file_is() {
    let since = "--since=2026-11-27T14:00:00Z";
    let query = "?namespace=shop&service=web&since=2026-11-27T14:00:00Z";
    let (run, requests) = run_with(&history().2, &[query], &["history", "web", "-n", "shop", since]).await;
    assert_eq!((run.stdout.as_str(), run.stderr.as_str(), run.status), (FLIP, END, 0));
    assert_eq!(requests, lines(&[query]));
}

#[rstest]
#[case::namespace(&["-n", "shop"], &["?namespace=shop"])]
#[case::all_namespaces(&["-A"], &SEGMENTS)]
#[tokio::test]
async fn a_summary_is_that_of_the_page(#[case] args: &[&str], #[case] queries: &[&str]) {
    let (_folder, file, bytes) = history();
    let args = [&["history", "--summary"], args].concat();
    let of_file = offline(&[&args[..], &["--history", &file.display().to_string()]].concat()).await;
    let (run, requests) = run_with(&bytes, queries, &args).await;
    assert_eq!((run.status, &run.stdout, &run.stderr), (0, &of_file.stdout, &of_file.stderr));
    assert!(run.stdout.contains("Outages: 1\n"), "{run:?}");
    assert_eq!(requests, lines(queries));
}

const MOMENT: [&str; 1] = ["?namespace=shop&since=2026-11-27T14:01:00Z&until=2026-11-27T14:01:00Z"];
/// Requests for all namespaces.
const SEGMENTS: [&str; 2] = ["?segments", "?segment=2026-11-27T14:00:00Z"];

fn lines(queries: &[&str]) -> Vec<String> {
    queries.iter().map(|query| format!("GET /history{query}")).collect()
}

#[rstest]
#[case::explain(&["explain", "svc/web"], &MOMENT)]
#[case::check(&["check"], &MOMENT)]
#[case::all_namespaces(&["check", "-A"], &SEGMENTS)]
#[case::diff(&["diff"], &MOMENT)]
#[tokio::test]
async fn a_moment_is_read_from_the_page(#[case] args: &[&str], #[case] queries: &[&str]) {
    let at = "2026-11-27T14:01:00Z";
    let (_folder, file, bytes) = history();
    let of_file =
        offline(&[args, &["-n", "shop", "--at", at, "--history", &file.display().to_string()]].concat()).await;
    let (run, requests) = run_with(&bytes, queries, &[args, &["-n", "shop", "--at", at]].concat()).await;
    assert_eq!((run.status, &run.stdout, &run.stderr), (of_file.status, &of_file.stdout, &of_file.stderr));
    assert!(!run.stdout.is_empty(), "{run:?}");
    assert_eq!(requests, lines(queries));
}

/// The page reads its history for one request at a time.
#[tokio::test]
async fn a_busy_page_is_read_again() {
    let history = history().2;
    let [list, segment] = SEGMENTS.map(|query| response(&history, query));
    let busy = || status(429, "try again later");
    let (run, requests) = run([busy(), list, busy(), segment], &["history", "--summary", "-A"]).await;
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    assert_eq!(requests, lines(&[SEGMENTS[0], SEGMENTS[0], SEGMENTS[1], SEGMENTS[1]]));
}

#[tokio::test]
async fn the_message_of_the_page_is_shown() {
    let (run, _) = run([status(413, "choose a shorter time\n")], &["history", "web", "-n", "shop"]).await;
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.starts_with("error: cannot read the history: "), "{run:?}");
    assert!(run.stderr.ends_with("the server answered 413 Payload Too Large: choose a shorter time\n"), "{run:?}");
}

#[tokio::test]
async fn another_page_is_no_history() {
    let (run, _) = run([ok("<html>")], &["history", "web", "-n", "shop"]).await;
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run:?}");
    assert!(run.stderr.contains("not a history file"), "{run:?}");
    let (run, _) = run_with(b"<html>", &SEGMENTS, &["history", "--summary", "-A"]).await;
    assert!(run.status == 1 && run.stderr.contains("not a history file"), "{run:?}");
}
