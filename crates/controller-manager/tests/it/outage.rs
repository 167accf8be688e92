//! Outages of the API server that last longer than the retries of a key, in virtual time.

use std::time::Duration;

use endpoint_controller_manager::{LeaderElection, Settings};
use http::Method;
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::{Fault, On, Server};
use kube_endpoints_testing::LogLines;
use rstest::rstest;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::program::{Program, node, service};

const SERVICES: usize = 60;
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const ENDPOINTS: &str = "/api/v1/namespaces/default/endpoints";

/// Returns the numbers of slices with an endpoint that is not ready, and of Endpoints with such an address.
async fn unready(client: &Client) -> [usize; 2] {
    let count = async |path: &str, is: fn(&Value) -> bool| {
        let list: Value = client.get_json(path).await.expect("a list");
        list["items"].as_array().map_or(0, |items| items.iter().filter(|it| is(it)).count())
    };
    [
        count(SLICES, |it| it["endpoints"][0]["conditions"]["ready"] == false).await,
        count(ENDPOINTS, |it| it["subsets"][0]["notReadyAddresses"].is_array()).await,
    ]
}

/// All Pods become not ready during an outage of the writes. Afterwards everything is written within seconds, and the
/// log has at most 60 lines for each minute.
#[rstest]
#[case::no_space(Fault::internal_error)]
#[case::unavailable(Fault::unavailable)]
#[case::no_answer(Fault::reset)]
#[tokio::test(start_paused = true)]
async fn keys_are_written_within_seconds_after_an_outage(
    #[case] fault: fn() -> Fault,
    #[values(30, 600)] seconds: u64,
) {
    let lines = LogLines::default();
    let writer = lines.clone();
    let log = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false).finish();
    let _guard = tracing::subscriber::set_default(log);
    let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("a server");
    server.load(std::iter::once(node()).chain((0..SERVICES).flat_map(service))).expect("objects");
    let config = Config::from_service(server.service());
    let client = Client::new(&config, ClientOptions { qps: 0.0, ..ClientOptions::default() }).expect("a client");
    let settings = Settings { leader_election: Some(LeaderElection::default()), ..Settings::default() };
    let program = Program::start_paused(config, settings);
    sleep(Duration::from_secs(60)).await;
    assert_eq!(unready(&client).await, [0, 0]);

    for resource in ["endpointslices", "endpoints"] {
        server.faults().inject(fault().on(On::writes().resource(resource)));
    }
    lines.clear();
    for at in 0..SERVICES {
        let patch = json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}).to_string().into_bytes();
        let path = format!("/api/v1/namespaces/default/pods/web-{at}/status");
        let patch = client.raw(Method::PATCH, &path, Some("application/merge-patch+json"), patch).await;
        assert_eq!(patch.expect("an answer").0, 200);
    }
    sleep(Duration::from_secs(seconds)).await;
    let failed: u32 = server.faults().states().iter().map(|state| state.hits).sum();
    assert!(u64::from(failed) <= 30 + 2 * seconds, "{failed} requests in {seconds} s");
    let log = lines.text();
    let count = log.lines().count() as u64;
    assert!(0 < count && count <= 60 * seconds.div_ceil(60), "{count} lines in {seconds} s:\n{log}");

    server.faults().clear();
    let start = Instant::now();
    while unready(&client).await != [SERVICES, SERVICES] {
        sleep(Duration::from_millis(100)).await;
        // At most 5 s until a probe, and 1.5 s for 60 requests at 20 per second after a burst of 30.
        let after = start.elapsed();
        assert!(after < Duration::from_secs(8), "{:?} after {after:?}:\n{}", unready(&client).await, lines.text());
    }
    program.stop().await;
}
