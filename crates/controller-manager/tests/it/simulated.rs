//! The program on one thread in virtual time, over an in-process service: it needs no I/O driver and no other thread,
//! and sends the same requests at the same times for the same seed.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use endpoint_controller_manager::{LeaderElection, Settings, run};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use kube_controller_client::Config;
use kube_endpoints_testing::virtual_clocks;
use rstest::rstest;
use tokio::runtime::Builder;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// Virtual time since the start, method and URI of a request.
type Sent = (Duration, Method, String);

/// Runs the program for one minute of virtual time against a server that answers 503, then stops it. Returns the
/// requests and the time at which the program ended.
fn one_minute(seed: u64, settings: Settings) -> (Vec<Sent>, Duration) {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
    let sent = Arc::new(Mutex::new(Vec::new()));
    let ended = runtime.block_on(async {
        let start = Instant::now();
        let _clocks = virtual_clocks(seed);
        let service = tower::service_fn({
            let sent = Arc::clone(&sent);
            move |request: Request<Full<Bytes>>| {
                sent.lock().expect("no panic").push((
                    start.elapsed(),
                    request.method().clone(),
                    request.uri().to_string(),
                ));
                let mut answer = Response::new(Full::<Bytes>::default());
                *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
                async { Ok::<_, Infallible>(answer) }
            }
        });
        let stop = CancellationToken::new();
        let stopped = async {
            sleep(Duration::from_secs(60)).await;
            stop.cancel();
        };
        let running = Box::pin(run(Config::from_service(service), settings, stop.clone()));
        let (ended, ()) = tokio::join!(running, stopped);
        ended.expect("503 answers do not end the program");
        start.elapsed()
    });
    drop(runtime);
    (Arc::into_inner(sent).expect("the program has ended").into_inner().expect("no panic"), ended)
}

#[rstest]
#[case::alone(None)]
#[case::candidate(Some(LeaderElection::default()))]
fn a_run_needs_no_io_and_is_repeatable(#[case] leader_election: Option<LeaderElection>) {
    let lease = leader_election.is_some();
    let settings = || Settings { leader_election: leader_election.clone(), ..Settings::default() };
    let (sent, ended) = one_minute(1, settings());
    assert!(ended >= Duration::from_secs(60) && ended < Duration::from_secs(65), "{ended:?}");
    let paths =
        ["/api/v1/services?", "/api/v1/pods?", "/api/v1/nodes?", "/api/v1/endpoints?", "/apis/discovery.k8s.io/v1"];
    for path in paths {
        let count = sent.iter().filter(|(_, _, uri)| uri.starts_with(path)).count();
        assert!(count >= 3, "{path} was requested {count} times in a minute");
    }
    assert_eq!(sent.iter().any(|(_, _, uri)| uri.contains("/leases")), lease);
    assert_eq!(one_minute(1, settings()), (sent.clone(), ended), "the same seed");
    assert_ne!(one_minute(2, settings()).0, sent, "another seed");
}
