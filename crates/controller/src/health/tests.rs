//! Responses of health endpoints.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use rstest::rstest;

use super::*;

fn health() -> Health {
    let health = Health::default();
    health.add_leader_election("kube-system/lease", || false);
    health.add("informer-sync", &[Probe::Readyz], || Err("pods not synced".to_owned()));
    health.add("endpoints-controller", &[Probe::Healthz], || Ok(()));
    health
}

fn response(status: u16, body: &str) -> HealthResponse {
    HealthResponse { passed: status == 200, body: body.to_owned() }
}

#[rstest]
#[case("/healthz", "", 200, "ok")]
#[case("/healthz", "verbose", 200, "[+]leaderElection ok\n[+]endpoints-controller ok\nhealthz check passed\n")]
#[case(
    "/livez",
    "verbose&exclude=leaderElection,x",
    200,
    "[+]leaderElection excluded: ok\nwarn: some health checks cannot be excluded: no matches for \"x\"\nlivez check passed\n"
)]
#[case("/readyz", "", 500, "[-]informer-sync failed: reason withheld\nreadyz check failed\n")]
#[case("/readyz", "exclude=informer-sync", 200, "ok")]
#[case("/readyz", "verbose", 500, "[-]informer-sync failed: pods not synced\nreadyz check failed\n")]
#[case("/livez/leaderElection", "", 200, "ok")]
#[case("/readyz/informer-sync", "", 500, "internal server error: pods not synced\n")]
fn responses_match_upstream(#[case] path: &str, #[case] query: &str, #[case] status: u16, #[case] body: &str) {
    let found = health().respond(path, query).unwrap();
    assert_eq!(found, response(status, body));
    assert_eq!(found.status(), status);
}

#[test]
fn taken_names_are_numbered() {
    let health = health();
    for reason in ["second", "third"] {
        health.add("informer-sync", &[Probe::Readyz], move || Err(reason.to_owned()));
    }
    let reason = |path: &str| health.respond(path, "").unwrap().body;
    assert_eq!(reason("/readyz/informer-sync-2"), "internal server error: second\n");
    assert_eq!(reason("/readyz/informer-sync-3"), "internal server error: third\n");
}

#[rstest]
#[case("/livez/informer-sync")]
#[case("/metrics")]
#[case("/readyzzz")]
#[case("readyz")]
#[case("/")]
fn other_paths_have_no_response(#[case] path: &str) {
    assert_eq!(health().respond(path, ""), None);
}

#[rstest]
#[case("", false, &[])]
#[case("verbose", true, &[])]
#[case("verbose=&exclude=a&exclude=b%2Cc", true, &["a", "b", "c"])]
fn query_parameters_are_parsed(#[case] query: &str, #[case] verbose: bool, #[case] excluded: &[&str]) {
    assert_eq!(parameters(query), (verbose, excluded.iter().map(|name| (*name).to_owned()).collect()));
}

#[test]
fn probe_without_checks_has_ping() {
    let found = Health::default().respond("/healthz", "verbose").unwrap();
    assert_eq!(found, response(200, "[+]ping ok\nhealthz check passed\n"));
}

#[test]
fn a_leader_that_does_not_renew_fails_liveness_and_not_readiness() {
    let (health, overdue) = (Health::default(), Arc::new(AtomicBool::new(false)));
    let read = Arc::clone(&overdue);
    health.add_leader_election("default/pools", move || read.load(SeqCst));
    let status = |path| health.respond(path, "").unwrap().status();
    assert_eq!(["/livez", "/healthz", "/readyz"].map(status), [200, 200, 200]);
    overdue.store(true, SeqCst);
    assert_eq!(["/livez", "/healthz", "/readyz"].map(status), [500, 500, 200]);
    let one = health.respond("/livez/leaderElection", "").unwrap().body;
    assert_eq!(one, "internal server error: failed election to renew leadership on lease default/pools\n");
}

#[cfg(feature = "prometheus")]
#[test]
fn results_are_counted_until_the_reset() {
    let health = health();
    health.respond("/readyz", "");
    let text = |health: &Health| prometheus::TextEncoder::new().encode_to_string(&health.metrics().unwrap()).unwrap();
    let expected = r#"kubernetes_healthchecks_total{name="informer-sync",status="error",type="readyz"} 1"#;
    assert!(text(&health).contains(expected), "{}", text(&health));
    health.reset_metrics();
    assert!(!text(&health).contains("informer-sync"));
}
