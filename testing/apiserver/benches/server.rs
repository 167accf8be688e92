//! Benchmarks of requests over loopback sockets: `cargo bench -p kube-dev-apiserver --bench server`.

#![expect(clippy::unwrap_used, reason = "benchmarks may panic")]

use std::time::Duration;

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kube_dev_apiserver::{Config, Server};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::time::Instant;

const PODS: &str = "/api/v1/namespaces/default/pods";
const LISTED: usize = 10_000;
const WATCHERS: usize = 5;
const CHANGES: usize = 1_000;

struct Harness {
    server: Server,
    http: Client<HttpConnector, Full<Bytes>>,
}

impl Harness {
    async fn start() -> Self {
        let server = Server::start(Config { seed: Some(1), ..Config::default() }).await.unwrap();
        Self { server, http: Client::builder(TokioExecutor::new()).build_http() }
    }

    async fn send(&self, method: Method, path: &str, body: String) -> http::Response<Incoming> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.server.url()))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body)))
            .unwrap();
        let response = self.http.request(request).await.unwrap();
        assert!(response.status().is_success(), "{}", response.status());
        response
    }

    async fn whole(&self, method: Method, path: &str, body: String) -> Bytes {
        self.send(method, path, body).await.into_body().collect().await.unwrap().to_bytes()
    }

    async fn create_pods(&self, count: usize) {
        for i in 0..count {
            self.whole(Method::POST, PODS, pod(&format!("pod-{i}"), 0)).await;
        }
    }
}

fn pod(name: &str, value: u64) -> String {
    json!({
        "metadata": {"name": name, "labels": {"app": "web", "v": value.to_string()}},
        "spec": {"nodeName": "n", "containers": [{"name": "main", "image": "app:1"}]}
    })
    .to_string()
}

fn writes(c: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let harness = runtime.block_on(Harness::start());
    let mut created = 0_u64;
    c.bench_function("create", |bencher| {
        bencher.iter(|| {
            created += 1;
            runtime.block_on(harness.whole(Method::POST, PODS, pod(&format!("new-{created}"), 0)))
        });
    });
    runtime.block_on(harness.create_pods(1));
    let mut value = 0;
    c.bench_function("update", |bencher| {
        bencher.iter(|| {
            value += 1;
            runtime.block_on(harness.whole(Method::PUT, &format!("{PODS}/pod-0"), pod("pod-0", value)))
        });
    });
    runtime.block_on(harness.server.shutdown());
}

fn list(c: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let harness = runtime.block_on(Harness::start());
    runtime.block_on(harness.create_pods(LISTED));
    let mut group = c.benchmark_group("list");
    group.throughput(Throughput::Elements(LISTED as u64)).sample_size(20);
    group.bench_function("10,000 pods", |bencher| {
        bencher.iter(|| runtime.block_on(harness.whole(Method::GET, "/api/v1/pods", String::new())));
    });
    group.finish();
    runtime.block_on(harness.server.shutdown());
}

/// Returns the time until every watcher has received all changes, which are in the history before it starts.
async fn fan_out(harness: &Harness, from: u64) -> Duration {
    let mut bodies = Vec::new();
    for _ in 0..WATCHERS {
        let path = format!("/api/v1/pods?watch=true&resourceVersion={from}");
        bodies.push(harness.send(Method::GET, &path, String::new()).await.into_body());
    }
    let start = Instant::now();
    futures::future::join_all(bodies.into_iter().map(|mut body| async move {
        let mut left = CHANGES;
        while left > 0 {
            let data = body.frame().await.unwrap().unwrap().into_data().unwrap();
            left -= data.iter().map(|byte| usize::from(*byte == b'\n')).sum::<usize>();
        }
    }))
    .await;
    start.elapsed()
}

fn watch(c: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let harness = runtime.block_on(Harness::start());
    let from = runtime.block_on(async {
        let list: Value =
            serde_json::from_slice(&harness.whole(Method::GET, "/api/v1/pods", String::new()).await).unwrap();
        harness.create_pods(CHANGES).await;
        list["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
    });
    let mut group = c.benchmark_group("watch");
    group.throughput(Throughput::Elements((CHANGES * WATCHERS) as u64)).sample_size(20);
    group.bench_function("1,000 changes to 5 watchers", |bencher| {
        bencher.iter_custom(|rounds| {
            runtime.block_on(async {
                let mut total = Duration::ZERO;
                for _ in 0..rounds {
                    total += fan_out(&harness, from).await;
                }
                total
            })
        });
    });
    group.finish();
    runtime.block_on(harness.server.shutdown());
}

criterion_group!(benches, writes, list, watch);
criterion_main!(benches);
