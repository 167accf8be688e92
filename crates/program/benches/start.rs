//! A controller from its start until every object is synced, over an API server in the process.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use k8s_openapi::api::core::v1::ConfigMap;
use kube_controller_program::{CancellationToken, Client, ClientOptions, Config, Controller, ObjectKey};
use kube_dev_apiserver::Server;
use serde_json::json;
use tokio::runtime;
use tokio::time::Instant;

/// Runs a controller until it has synced this number of objects. Returns the time.
async fn run(client: Client, objects: usize) -> Duration {
    let controller = Controller::new("bench", client);
    let config_maps = controller.informer::<ConfigMap>().build();
    let (left, stop) = (AtomicUsize::new(objects), CancellationToken::new());
    let ended = stop.clone();
    let sync = move |_: Arc<()>, _: ObjectKey| {
        if left.fetch_sub(1, Relaxed) == 1 {
            ended.cancel();
        }
        async { Ok::<(), Infallible>(()) }
    };
    let start = Instant::now();
    let controller = controller.primary(&config_maps).concurrency(5);
    controller.run(stop, (), sync).await.expect("no task fails");
    start.elapsed()
}

fn start(c: &mut Criterion) {
    let runtime = runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut group = c.benchmark_group("program/start");
    for count in [100_u32, 1_000, 10_000] {
        let _entered = runtime.enter();
        let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("a server");
        let named = |number| {
            let metadata = json!({"namespace": "default", "name": format!("web-{number}")});
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
        };
        server.load((0..count).map(named)).expect("valid objects");
        let options = ClientOptions { qps: 0.0, ..ClientOptions::default() };
        let client = Client::new(&Config::from_service(server.service()), options).expect("a client");
        group.sample_size(10).throughput(Throughput::Elements(count.into()));
        group.bench_with_input(BenchmarkId::from_parameter(count), &count, |b, count| {
            b.iter_custom(|rounds| {
                runtime.block_on(async {
                    let mut spent = Duration::ZERO;
                    for _ in 0..rounds {
                        spent += run(client.clone(), *count as usize).await;
                    }
                    spent
                })
            });
        });
    }
    group.finish();
}

criterion_group!(benches, start);
criterion_main!(benches);
