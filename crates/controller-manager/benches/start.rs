//! Fixed cost of a simulation run: building a client, and starting and stopping the controllers over an in-process
//! service in virtual time.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use criterion::{Criterion, criterion_group, criterion_main};
use endpoint_controller_manager::{LeaderElection, Settings, run};
use http::{Response, StatusCode};
use http_body_util::Full;
use kube_controller_client::{Client, ClientOptions, Config};
use tokio::runtime::{Builder, Runtime};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime")
}

/// Configuration of a server that answers every request with 503.
fn config() -> Config {
    Config::from_service(tower::service_fn(async |_| {
        let mut answer = Response::new(Full::<Bytes>::default());
        *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        Ok::<_, Infallible>(answer)
    }))
}

/// Runs the program for `time` of virtual time.
fn run_for(time: Duration, settings: Settings) {
    runtime().block_on(async {
        let stop = CancellationToken::new();
        let stopped = async {
            sleep(time).await;
            stop.cancel();
        };
        let running = Box::pin(run(config(), settings, stop.clone()));
        let (ended, ()) = tokio::join!(running, stopped);
        ended.expect("503 answers do not end the program");
    });
}

fn start(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("start");
    group.bench_function("runtime", |it| it.iter(|| runtime().block_on(async {})));
    group.bench_function("client", |it| {
        let config = config();
        it.iter(|| Client::new(&config, ClientOptions::default()).expect("a client"));
    });
    let elects = || Settings { leader_election: Some(LeaderElection::default()), ..Settings::default() };
    let (moment, minute) = (Duration::from_millis(1), Duration::from_secs(60));
    group.bench_function("run/stopped at once", |it| it.iter(|| run_for(moment, Settings::default())));
    group.bench_function("run/candidate, stopped at once", |it| it.iter(|| run_for(moment, elects())));
    group.bench_function("run/a minute of 503", |it| it.iter(|| run_for(minute, Settings::default())));
}

criterion_group!(benches, start);
criterion_main!(benches);
