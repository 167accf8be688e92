//! `shadow`: output, exit status and errors.

use std::sync::{Arc, Mutex};

use rstest::rstest;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::cluster::{Cluster, Run};

/// Runs the program with a server that answers with these statuses and bodies, the last one again and again. Returns the
/// first lines of the requests too.
async fn run_with(answers: Vec<(&str, String)>, options: &str) -> (Run, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let address = listener.local_addr().expect("an address");
    let answers: Vec<String> = answers
        .into_iter()
        .map(|(status, body)| {
            format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
        })
        .collect();
    let requests = Arc::new(Mutex::new(Vec::new()));
    let mut server = JoinSet::new();
    let log = Arc::clone(&requests);
    server.spawn(async move {
        for number in 0.. {
            let (mut connection, _) = listener.accept().await.expect("a connection");
            let mut request = vec![0; 4_096];
            let length = connection.read(&mut request).await.expect("a request");
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            log.lock().expect("no panic").push(request.lines().next().unwrap_or_default().to_owned());
            let answer = answers.get(number).or(answers.last()).expect("an answer");
            connection.write_all(answer.as_bytes()).await.expect("an answer");
        }
    });
    let run = Cluster::start().await.run(&format!("shadow --request-timeout=5m --url http://{address}{options}")).await;
    let requests = requests.lock().expect("no panic").clone();
    (run, requests)
}

async fn run(status: &str, body: &str, options: &str) -> (Run, Vec<String>) {
    run_with(vec![(status, body.to_owned())], options).await
}

fn page(open: u64) -> Value {
    json!({"summary": format!("{open} mismatches"), "openMismatches": open, "servicesCompared": 7, "panics": 0})
}

#[tokio::test]
async fn open_mismatches_are_shown_and_exit_with_1() {
    let text = "shop/web: content, open\n";
    let (run, requests) = run_with(vec![("200 OK", page(1).to_string()), ("200 OK", text.to_owned())], "").await;
    assert_eq!(requests, ["GET /shadow?output=json HTTP/1.1", "GET /shadow?output=text HTTP/1.1"]);
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (1, text, ""));
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

/// A page of a comparison that has been clean for some seconds.
fn clean(seconds: u64) -> Value {
    let mut page = page(0);
    page["summary"] = json!(format!("Clean for {seconds}s"));
    page["cleanSeconds"] = json!(seconds);
    page["requiredPeriodSeconds"] = json!(1.0);
    page
}

#[tokio::test]
async fn wait_ends_once_the_comparison_has_been_clean_for_long_enough() {
    let ok = |page: Value| ("200 OK", page.to_string());
    // A restart of the process, too.
    let answers = vec![ok(page(2)), ok(clean(1)), ("503 Service Unavailable", String::new()), ok(clean(2))];
    let (run, requests) = run_with(answers, " --wait=2s -o json").await;
    assert_eq!((run.status, run.json(), requests.len()), (0, clean(2), 4), "{run:?}");
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(lines[..2], ["waiting: 2 mismatches", "waiting: Clean for 1s"]);
    assert!(lines[2].starts_with("waiting: cannot read the page") && lines[2].contains("503"), "{lines:?}");
}

/// The process may restart after the last read of the wait.
#[rstest]
#[case::clean(" --wait=2s", clean(2), 0, "Clean for 2s\n")]
#[case::timed_out(" --wait=1m --timeout=0", clean(59), 1, "Clean for 59s\n")]
#[case::mismatches("", page(1), 1, "1 mismatches\n")]
#[tokio::test]
async fn the_summary_is_shown_if_the_text_cannot_be_read(
    #[case] options: &str,
    #[case] page: Value,
    #[case] status: i32,
    #[case] expected: &str,
) {
    let answers = vec![("200 OK", page.to_string()), ("503 Service Unavailable", String::new())];
    let (run, _) = run_with(answers, options).await;
    assert_eq!((run.status, run.stdout.as_str()), (status, expected), "{run:?}");
    let warning = run.stderr.lines().any(|it| it.starts_with("warning: cannot read the page") && it.contains("503"));
    assert!(warning, "{run:?}");
}

#[rstest]
#[case::not_long_enough(clean(59), "--wait=1m --timeout=0", "timed out waiting for a clean comparison: Clean for 59s")]
#[case::mismatches(page(1), "--wait=1s --timeout=1500ms", "timed out waiting for a clean comparison: 1 mismatches")]
#[tokio::test]
async fn wait_ends_with_1_after_its_timeout(#[case] page: Value, #[case] options: &str, #[case] expected: &str) {
    let (run, requests) = run_with(vec![("200 OK", page.to_string())], &format!(" {options}")).await;
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.stderr.ends_with(&format!("error: {expected}\n")) && !run.stdout.is_empty(), "{run:?}");
    assert!(requests.len() <= 4, "{requests:?}");
}

#[tokio::test]
async fn wait_ends_at_once_if_a_comparison_has_panicked() {
    let mut page = clean(3_600);
    page["panics"] = json!(1);
    let (run, requests) = run_with(vec![("200 OK", page.to_string())], " --wait=1h -o json").await;
    assert_eq!((run.status, requests.len()), (1, 1), "{run:?}");
    assert!(run.stderr.contains("error: the comparison cannot become clean"), "{run:?}");
}
