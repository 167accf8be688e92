//! Elections against the embedded API server, on paused time.

mod reports;
mod work;

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Event};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_ambient::Simulated;
use kube_controller_client::events::EventRecorder;
use kube_controller_client::{Client, ClientOptions, Config, Error};
use kube_dev_apiserver::{Fault, On, Server};
use kube_endpoints_testing::virtual_clocks;
use kube_lease_election::{Election, ElectionOptions, End, Fence, LeaseName};
use rstest::rstest;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

const SECOND: Duration = Duration::from_secs(1);
const NAMESPACE: &str = "kube-system";
const NAME: &str = "it";

/// Returns a server, a client of it, and the clocks of this thread, which advance with the paused time.
fn server() -> (Server, Client, Simulated) {
    let clocks = virtual_clocks(1);
    let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("a server");
    let config = Config::from_service(server.service());
    let client = Client::new(&config, ClientOptions { qps: 0.0, ..ClientOptions::default() }).expect("create client");
    (server, client, clocks)
}

struct Candidate {
    fence: Fence,
    stop: CancellationToken,
    tasks: JoinSet<End>,
}

fn options(identity: &str) -> ElectionOptions {
    ElectionOptions { identity: identity.to_owned(), ..ElectionOptions::new(LeaseName::new(NAMESPACE, NAME)) }
}

fn candidate(client: &Client, identity: &str) -> Candidate {
    candidate_with(client, options(identity))
}

/// Returns the candidate `one`, which leads.
async fn leader(client: &Client) -> Candidate {
    let mut one = candidate(client, "one");
    one.wait_until_leading().await;
    one
}

/// Returns the candidate `other`, which has seen that `one` leads.
async fn standby(client: &Client) -> Candidate {
    let mut other = candidate(client, "other");
    while other.fence.leader() != "one" {
        assert!(other.fence.changed().await);
    }
    other
}

fn candidate_with(client: &Client, options: ElectionOptions) -> Candidate {
    let (election, fence) = Election::new(client.clone(), options);
    let stop = CancellationToken::new();
    let mut tasks = JoinSet::new();
    tasks.spawn(election.run(stop.clone()));
    Candidate { fence, stop, tasks }
}

impl Candidate {
    async fn wait_until_leading(&mut self) {
        let leading = timeout(60 * SECOND, self.fence.wait_until_leading()).await;
        assert_eq!(leading, Ok(true), "not the leader after 1 min");
    }

    async fn wait_for_end(&mut self) -> End {
        let end = timeout(60 * SECOND, self.tasks.join_next()).await;
        end.expect("did not end within 1 min").expect("task set is empty").expect("task panicked")
    }

    async fn wait_for_renewal(&mut self) {
        let before = self.fence.term_end().expect("not the leader");
        while self.fence.term_end() == Some(before) {
            assert!(self.fence.changed().await);
        }
        assert!(self.fence.term_end() > Some(before), "the term was not extended");
    }
}

async fn lease(client: &Client) -> Lease {
    client.get(NAMESPACE, NAME).await.expect("get Lease")
}

fn spec(lease: &Lease) -> (String, i32, i32) {
    let spec = lease.spec.clone().expect("no spec");
    (
        spec.holder_identity.unwrap_or_default(),
        spec.lease_duration_seconds.unwrap_or_default(),
        spec.lease_transitions.unwrap_or_default(),
    )
}

#[tokio::test(start_paused = true)]
async fn standby_takes_over_at_once_when_the_leader_stops() {
    let (_server, client, _clocks) = server();
    let mut one = leader(&client).await;
    assert_eq!(spec(&lease(&client).await), ("one".to_owned(), 15, 0));
    let mut other = standby(&client).await;
    one.wait_for_renewal().await;
    assert_eq!(other.fence.term_end(), None);

    let stopped_at = Instant::now();
    one.stop.cancel();
    assert_eq!(one.wait_for_end().await, End::Released);
    assert_eq!(one.fence.term_end(), None);
    other.wait_until_leading().await;
    assert!(stopped_at.elapsed() < 3 * SECOND, "{:?}", stopped_at.elapsed());
    assert_eq!(spec(&lease(&client).await), ("other".to_owned(), 15, 1));
    other.stop.cancel();
    assert_eq!(other.wait_for_end().await, End::Released);
    assert_eq!(spec(&lease(&client).await), (String::new(), 1, 1));
}

#[tokio::test(start_paused = true)]
async fn killed_leader_is_replaced_within_lease_duration_and_retry_period() {
    let (_server, client, _clocks) = server();
    let (mut one, mut other) = (candidate(&client, "one"), candidate(&client, "other"));
    tokio::select! {
        () = one.wait_until_leading() => {}
        () = other.wait_until_leading() => std::mem::swap(&mut one, &mut other),
    }
    for _ in 0..3 {
        one.wait_for_renewal().await;
    }
    let killed_at = Instant::now();
    one.tasks.abort_all();
    other.wait_until_leading().await;
    assert!(killed_at.elapsed() < 17 * SECOND, "{:?}", killed_at.elapsed());
    assert_eq!(one.fence.term_end(), None, "the term has expired");
}

/// Failover works without the right to watch the Lease.
#[tokio::test(start_paused = true)]
async fn polling_alone_is_as_fast_as_upstream() {
    let (server, client, _clocks) = server();
    server.faults().inject(Fault::reject(403).on(On::any().verb("watch").resource("leases")));
    let mut one = leader(&client).await;
    let mut other = standby(&client).await;
    let stopped_at = Instant::now();
    one.stop.cancel();
    assert_eq!(one.wait_for_end().await, End::Released);
    other.wait_until_leading().await;
    assert!(stopped_at.elapsed() < Duration::from_millis(4_600), "{:?}", stopped_at.elapsed());
}

#[rstest]
#[case::conflict(Fault::reject(409))]
#[case::internal_error(Fault::internal_error())]
#[case::applied_then_timeout(Fault::apply_then_timeout())]
#[case::applied_then_reset(Fault::apply_then_reset())]
#[case::reset(Fault::reset())]
#[tokio::test(start_paused = true)]
async fn failed_renewal_is_retried(#[case] fault: Fault) {
    let (server, client, _clocks) = server();
    let mut one = leader(&client).await;
    server.faults().inject(fault.on(On::any().verb("update").resource("leases")).times(1));
    for _ in 0..3 {
        one.wait_for_renewal().await;
    }
    assert_eq!(spec(&lease(&client).await), ("one".to_owned(), 15, 0));
    assert_eq!(
        server.requests().count(&On::any().verb("get").resource("leases")),
        3,
        "before acquiring, after the failure, and by this test"
    );
}

#[rstest]
#[case::applied_then_timeout(Fault::apply_then_timeout())]
#[case::unavailable(Fault::unavailable())]
#[tokio::test(start_paused = true)]
async fn failed_acquisition_is_retried(#[case] fault: Fault) {
    let (server, client, _clocks) = server();
    server.faults().inject(fault.on(On::any().verb("create").resource("leases")).times(1));
    let _one = leader(&client).await;
    assert_eq!(spec(&lease(&client).await), ("one".to_owned(), 15, 0));
}

#[tokio::test(start_paused = true)]
async fn election_of_a_leader_that_cannot_renew_ends_and_its_writes_are_gated() {
    let (server, client, _clocks) = server();
    let mut one = candidate(&client, "one");
    let gated = client.gated(Arc::new(one.fence.clone()));
    assert!(matches!(gated.create(&config_map("early")).await, Err(Error::Gated { .. })));
    one.wait_until_leading().await;
    gated.create(&config_map("web")).await.expect("write of the leader");

    server.faults().inject(Fault::unavailable().on(On::any().resource("leases")));
    let until = one.fence.term_end().expect("not the leader");
    assert_eq!(one.wait_for_end().await, End::Lost);
    assert_eq!(Instant::now(), until);
    assert!(matches!(gated.create(&config_map("late")).await, Err(Error::Gated { .. })));
    let _: ConfigMap = gated.get("default", "web").await.expect("read without leadership");
    assert_eq!(server.requests().count(&On::writes().resource("configmaps")), 1);
}

// CM-10
#[tokio::test(start_paused = true)]
async fn a_leader_that_is_stuck_is_overdue_20_s_after_the_lease_duration() {
    let (_server, client, _clocks) = server();
    let mut one = leader(&client).await;
    // The renew deadline is 10 s after the last renewal, the end of the lease 15 s.
    let until = one.fence.term_end().expect("not the leader");
    one.tasks.abort_all();
    sleep_until(until + 24 * SECOND).await;
    assert!(!one.fence.is_overdue());
    sleep_until(until + 26 * SECOND).await;
    assert!(one.fence.is_overdue());
}

/// A write in flight fails when the term ends, and not before.
#[tokio::test(start_paused = true)]
async fn write_in_flight_is_dropped_when_the_term_ends() {
    let (server, client, _clocks) = server();
    let mut one = leader(&client).await;
    let gated = client.gated(Arc::new(one.fence.clone()));
    let hour = 3_600 * SECOND;
    server.faults().inject(Fault::delay_request(hour, hour).on(On::any().resource("configmaps")));
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { (gated.create(&config_map("web")).await, Instant::now()) });
    for _ in 0..10 {
        one.wait_for_renewal().await;
    }
    assert!(tasks.try_join_next().is_none(), "dropped although the term was renewed");
    server.faults().inject(Fault::unavailable().on(On::any().resource("leases")));
    let until = one.fence.term_end().expect("not the leader");
    let (result, ended) = tasks.join_next().await.expect("task set is empty").expect("task panicked");
    assert!(matches!(result, Err(Error::Gated { .. })), "{result:?}");
    assert_eq!(ended, until);
}

#[tokio::test(start_paused = true)]
async fn manually_replaced_leader_stops_at_its_next_renewal() {
    let (_server, client, _clocks) = server();
    let mut one = leader(&client).await;
    let patch = json!({ "spec": { "holderIdentity": "somebody", "leaseTransitions": 7 } });
    client.merge_patch::<Lease>(NAMESPACE, NAME, None, &patch).await.expect("patch");
    let edited_at = Instant::now();
    assert_eq!(one.wait_for_end().await, End::Lost);
    assert!(edited_at.elapsed() <= 2 * SECOND, "{:?}", edited_at.elapsed());
    assert_eq!(spec(&lease(&client).await), ("somebody".to_owned(), 15, 7), "overwritten by the old leader");
}

#[rstest]
#[case::cleared(false, 1)]
#[case::deleted(true, 0)]
#[tokio::test(start_paused = true)]
async fn cleared_or_deleted_lease_is_acquired_again(#[case] delete: bool, #[case] transitions: i32) {
    let (_server, client, _clocks) = server();
    let mut one = leader(&client).await;
    if delete {
        client.delete::<Lease>(NAMESPACE, NAME, None).await.expect("delete");
    } else {
        let patch = json!({ "spec": { "holderIdentity": null } });
        client.merge_patch::<Lease>(NAMESPACE, NAME, None, &patch).await.expect("patch");
    }
    one.wait_for_renewal().await;
    assert_eq!(spec(&lease(&client).await), ("one".to_owned(), 15, transitions));
}

/// Interoperability with client-go: takes over the Lease of a dead Go leader, and writes it in a form that Go can read.
#[tokio::test(start_paused = true)]
async fn lease_of_client_go_is_taken_over_in_its_format() {
    let (_server, client, _clocks) = server();
    let go_lease: Lease = serde_json::from_value(json!({
        "metadata": { "name": NAME, "namespace": NAMESPACE, "annotations": { "team": "a" } },
        "spec": {
            "holderIdentity": "host-a_0b5a2c0e-1111-4222-8333-944444444444", "leaseDurationSeconds": 15,
            "acquireTime": "2026-11-20T08:00:00.123456Z", "renewTime": "2099-11-20T08:05:00.000000Z",
            "leaseTransitions": 4,
        },
    }))
    .expect("decode Lease");
    client.create(&go_lease).await.expect("create");
    let started = Instant::now();
    let _one = leader(&client).await;
    assert!((15 * SECOND..17 * SECOND).contains(&started.elapsed()), "{:?}", started.elapsed());
    let acquired = lease(&client).await;
    assert_eq!(spec(&acquired), ("one".to_owned(), 15, 5));
    assert_eq!(acquired.metadata.annotations, go_lease.metadata.annotations);
    let written = serde_json::to_value(&acquired.spec).expect("encode JSON");
    for time in ["acquireTime", "renewTime"] {
        let text = written[time].as_str().expect("time is missing");
        assert_eq!(text.len(), "2026-11-20T08:00:00.123456Z".len(), "{text}");
    }
}

fn config_map(name: &str) -> ConfigMap {
    let (name, namespace) = (Some(name.to_owned()), Some("default".to_owned()));
    ConfigMap { metadata: ObjectMeta { name, namespace, ..ObjectMeta::default() }, ..ConfigMap::default() }
}
