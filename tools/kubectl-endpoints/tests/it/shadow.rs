//! `shadow`: output, exit status and errors.

use kube_endpoints_testing::scripted::{Response, Script, ok, status};
use rstest::rstest;
use serde_json::{Value, json};

use crate::cluster::{Cluster, Run};

/// Runs the program with a server that sends these responses. Returns the requests too.
async fn run(responses: impl IntoIterator<Item = Response>, options: &str) -> (Run, Vec<String>) {
    let server = Script::serve(responses).await;
    let command = format!("shadow --request-timeout=5m --url {}{options}", server.url());
    let run = Cluster::start().await.run(&command).await;
    (run, server.requests(0).await.into_iter().map(|request| request.line).collect())
}

fn report(page: &Value) -> Response {
    ok(page.to_string())
}

fn page(open: u64) -> Value {
    json!({"summary": format!("{open} mismatches"), "openMismatches": open, "servicesCompared": 7, "panics": 0})
}

#[tokio::test]
async fn open_mismatches_are_shown_and_exit_with_1() {
    let text = "shop/web: content, open\n";
    let (run, requests) = run([report(&page(1)), ok(text)], "").await;
    assert_eq!(requests, ["GET /shadow?output=json", "GET /shadow?output=text"]);
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (1, text, ""));
}

/// The server of the page bounds its requests, and so does an API server before it.
#[tokio::test]
async fn a_busy_page_is_read_again() {
    let busy = || status(429, "try again later");
    let (run, requests) = run([busy(), report(&page(0)), busy(), ok("")], "").await;
    assert_eq!((run.status, run.stderr.as_str(), requests.len()), (0, "", 4), "{run:?}");
}

#[rstest]
#[case::json(" -o json")]
#[case::another_path("/proxy/shadow -o json")]
#[tokio::test]
async fn no_mismatch_exits_with_0(#[case] options: &str) {
    let (run, _) = run([report(&page(0))], options).await;
    assert_eq!((run.status, run.json()), (0, page(0)));
}

#[rstest]
#[case::active_mode(status(404, "404 page not found\n"), "404")]
#[case::no_json(ok("0 mismatches"), "not JSON")]
#[case::other_json(ok("{}"), "no openMismatches")]
#[tokio::test]
async fn another_answer_is_an_error(#[case] response: Response, #[case] expect: &str) {
    let (run, _) = run([response], "").await;
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
    // A restart of the process, too.
    let responses = [report(&page(2)), report(&clean(1)), status(503, ""), report(&clean(2))];
    let (run, requests) = run(responses, " --wait=2s -o json").await;
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
    #[case] exit: i32,
    #[case] expected: &str,
) {
    let (run, _) = run([report(&page), status(503, "")], options).await;
    assert_eq!((run.status, run.stdout.as_str()), (exit, expected), "{run:?}");
    let warning = run.stderr.lines().any(|it| it.starts_with("warning: cannot read the page") && it.contains("503"));
    assert!(warning, "{run:?}");
}

#[rstest]
#[case::not_long_enough(clean(59), "--wait=1m --timeout=0", "timed out waiting for a clean comparison: Clean for 59s")]
#[case::mismatches(page(1), "--wait=1s --timeout=1500ms", "timed out waiting for a clean comparison: 1 mismatches")]
#[tokio::test]
async fn wait_ends_with_1_after_its_timeout(#[case] page: Value, #[case] options: &str, #[case] expected: &str) {
    let (run, requests) = run((0..4).map(|_| report(&page)), &format!(" {options}")).await;
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.stderr.ends_with(&format!("error: {expected}\n")) && !run.stdout.is_empty(), "{run:?}");
    assert!(requests.len() <= 4, "{requests:?}");
}

#[tokio::test]
async fn wait_ends_at_once_if_a_comparison_has_panicked() {
    let mut page = clean(3_600);
    page["panics"] = json!(1);
    let (run, requests) = run([report(&page)], " --wait=1h -o json").await;
    assert_eq!((run.status, requests.len()), (1, 1), "{run:?}");
    assert!(run.stderr.contains("error: the comparison cannot become clean"), "{run:?}");
}
