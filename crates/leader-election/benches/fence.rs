//! Cost of the fence per write, and of one renewal in the state machine.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::Server;
use kube_lease_election::{Election, ElectionOptions, Elector, LeaseName, Next, Now, Request, RequestOutcome, Timing};
use tokio_util::sync::CancellationToken;

fn name() -> LeaseName {
    LeaseName { namespace: "kube-system".to_owned(), name: "bench".to_owned() }
}

/// The check that each write of the leader makes.
fn fence(c: &mut Criterion) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("build runtime");
    let (server, fence, mut tasks) = runtime.block_on(async {
        let server = Server::start(kube_dev_apiserver::Config::default()).await.expect("start server");
        let config = Config::from_url(&server.url()).expect("valid URL");
        let client = Client::new(&config, ClientOptions::default()).expect("create client");
        let options = ElectionOptions {
            lease: name(),
            identity: "bench".to_owned(),
            timing: Timing::default(),
            recorder: None,
            metrics: None,
        };
        let (election, mut fence) = Election::new(client, options);
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(election.run(CancellationToken::new()));
        assert!(fence.wait_until_leading().await, "not elected");
        (server, fence, tasks)
    });
    c.bench_function("fence/lead", |b| b.iter(|| black_box(&fence).term_end().expect("not the leader")));
    tasks.abort_all();
    drop((runtime, server));
}

/// One renewal of the [`Elector`], without I/O.
fn renewal(c: &mut Criterion) {
    let mut elector = Elector::new(name(), "bench".to_owned(), Timing::default(), 1);
    let mut now = Now { at: tokio::time::Instant::now().into_std(), wall: jiff::Timestamp::UNIX_EPOCH };
    let mut version = 0_u64;
    let mut step = move || match elector.next(now) {
        Next::Wait(until) => now.at = until,
        Next::Send { request: Request::Get, .. } => elector.record_outcome(now, RequestOutcome::NotFound),
        Next::Send { .. } => {
            version += 1;
            now.wall += Duration::from_millis(1);
            let resource_version = version.to_string();
            elector.record_outcome(now, RequestOutcome::Written { uid: "u".to_owned(), resource_version });
        }
        Next::Ended(end) => unreachable!("election ended: {end:?}"),
    };
    c.bench_function("elector/renewal", |b| {
        b.iter(|| {
            step();
            step();
        });
    });
}

criterion_group!(benches, fence, renewal);
criterion_main!(benches);
