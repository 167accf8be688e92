//! `--url`: the history of a controller manager.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rstest::rstest;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::cluster::Run;
use crate::timeline::{END, FLIP, offline, record};

/// Start of the segment of [`history`].
const STARTED: &str = "2026-11-27T14:00:00Z";

/// Runs the program with a server that answers each request in the same way, but one for the list of segments. Returns the first
/// lines of the requests too.
async fn run_with(status: &str, body: &[u8], args: &[&str]) -> (Run, Vec<String>) {
    run_with_busy(&[], status, body, args).await
}

/// Does the same with a server that answers requests with these numbers by 429.
async fn run_with_busy(busy: &'static [usize], status: &str, body: &[u8], args: &[&str]) -> (Run, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let url = format!("--url=http://{}", listener.local_addr().expect("an address"));
    let answer = |status: &str, body: &[u8]| {
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
        [head.as_bytes(), body].concat()
    };
    let (list, answer, busy_answer) =
        (answer(status, STARTED.as_bytes()), answer(status, body), answer("429 Too Many Requests", b"try again later"));
    let requests = Arc::new(Mutex::new(Vec::new()));
    let (mut server, log) = (JoinSet::new(), Arc::clone(&requests));
    server.spawn(async move {
        for number in 0.. {
            let (mut connection, _) = listener.accept().await.expect("a connection");
            let mut request = vec![0; 4_096];
            let length = connection.read(&mut request).await.expect("a request");
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            let line = request.lines().next().unwrap_or_default();
            log.lock().expect("no panic").push(line.to_owned());
            let answer = if line.contains("?segments ") { &list } else { &answer };
            let answer = if busy.contains(&number) { &busy_answer } else { answer };
            connection.write_all(answer).await.expect("an answer");
        }
    });
    let run = offline(&[args, &[&url]].concat()).await;
    let requests = requests.lock().expect("no panic").clone();
    (run, requests)
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
    let (run, requests) = run_with("200 OK", &history().2, &["history", "web", "-n", "shop", since]).await;
    assert_eq!((run.stdout.as_str(), run.stderr.as_str(), run.status), (FLIP, END, 0));
    assert_eq!(requests, ["GET /history?namespace=shop&service=web&since=2026-11-27T14:00:00Z HTTP/1.1"]);
}

#[rstest]
#[case::namespace(&["-n", "shop"], &["?namespace=shop"])]
#[case::all_namespaces(&["-A"], &SEGMENTS)]
#[tokio::test]
async fn a_summary_is_that_of_the_page(#[case] args: &[&str], #[case] queries: &[&str]) {
    let (_folder, file, bytes) = history();
    let args = [&["history", "--summary"], args].concat();
    let of_file = offline(&[&args[..], &["--history", &file.display().to_string()]].concat()).await;
    let (run, requests) = run_with("200 OK", &bytes, &args).await;
    assert_eq!((run.status, &run.stdout, &run.stderr), (0, &of_file.stdout, &of_file.stderr));
    assert!(run.stdout.contains("Outages: 1\n"), "{run:?}");
    assert_eq!(requests, lines(queries));
}

const MOMENT: [&str; 1] = ["?namespace=shop&since=2026-11-27T14:01:00Z&until=2026-11-27T14:01:00Z"];
/// Requests for all namespaces.
const SEGMENTS: [&str; 2] = ["?segments", "?segment=2026-11-27T14:00:00Z"];

fn lines(queries: &[&str]) -> Vec<String> {
    queries.iter().map(|query| format!("GET /history{query} HTTP/1.1")).collect()
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
    let (run, requests) = run_with("200 OK", &bytes, &[args, &["-n", "shop", "--at", at]].concat()).await;
    assert_eq!((run.status, &run.stdout, &run.stderr), (of_file.status, &of_file.stdout, &of_file.stderr));
    assert!(!run.stdout.is_empty(), "{run:?}");
    assert_eq!(requests, lines(queries));
}

/// The page reads its history for one request at a time.
#[tokio::test]
async fn a_busy_page_is_read_again() {
    let (run, requests) = run_with_busy(&[0, 2], "200 OK", &history().2, &["history", "--summary", "-A"]).await;
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    assert_eq!(requests, lines(&[SEGMENTS[0], SEGMENTS[0], SEGMENTS[1], SEGMENTS[1]]));
}

#[tokio::test]
async fn the_message_of_the_page_is_shown() {
    let (run, _) =
        run_with("413 Payload Too Large", b"choose a shorter time\n", &["history", "web", "-n", "shop"]).await;
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.starts_with("error: cannot read the history: "), "{run:?}");
    assert!(run.stderr.ends_with("the server answered 413 Payload Too Large: choose a shorter time\n"), "{run:?}");
}

#[tokio::test]
async fn another_page_is_no_history() {
    let (run, _) = run_with("200 OK", b"<html>", &["history", "web", "-n", "shop"]).await;
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run:?}");
    assert!(run.stderr.contains("not a history file"), "{run:?}");
    let (run, _) = run_with("200 OK", b"<html>", &["history", "--summary", "-A"]).await;
    assert!(run.status == 1 && run.stderr.contains("not a history file"), "{run:?}");
}
