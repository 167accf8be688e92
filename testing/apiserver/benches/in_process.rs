//! In-process benchmarks of the server and its requests: `cargo bench -p kube-dev-apiserver --bench in_process`.

#![expect(clippy::unwrap_used, reason = "benchmarks may panic")]

use std::rc::Rc;

use bytes::Bytes;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use kube_dev_apiserver::{Config, InProcess, Server};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use tower::ServiceExt as _;

const PODS: &str = "/api/v1/namespaces/default/pods";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
/// Calls to one server before it is replaced, to bound its history.
const CALLS: u64 = 1_000;

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

fn start() -> Server {
    Server::in_process(Config { seed: Some(1), ..Config::default() }).unwrap()
}

async fn call(service: &InProcess, method: Method, path: &str, media_type: &str, body: Bytes) -> Bytes {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", media_type)
        .header("user-agent", "bench/1")
        .header("accept", "application/json")
        .body(Full::new(body))
        .unwrap();
    let response = service.clone().oneshot(request).await.unwrap();
    assert!(response.status().is_success(), "{}", response.status());
    response.into_body().collect().await.unwrap().to_bytes()
}

fn pod() -> Bytes {
    let spec = json!({"nodeName": "n", "containers": [{"name": "main", "image": "app:1"}]});
    json!({"metadata": {"name": "web", "labels": {"app": "web"}}, "spec": spec}).to_string().into()
}

fn slice(number: u64) -> Bytes {
    let endpoint = |host: u8| {
        json!({
            "addresses": [format!("10.0.0.{host}")],
            "conditions": {"ready": true, "serving": true, "terminating": false},
            "nodeName": "n",
            "targetRef": {"kind": "Pod", "namespace": "default", "name": format!("web-{host}")},
        })
    };
    json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": format!("web-{number}"),
            "labels": {"kubernetes.io/service-name": "web", "endpointslice.kubernetes.io/managed-by": "bench"},
        },
        "addressType": "IPv4",
        "endpoints": (1..=3).map(endpoint).collect::<Vec<_>>(),
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
    })
    .to_string()
    .into()
}

fn status(number: u64) -> Bytes {
    let ready = if number.is_multiple_of(2) { "True" } else { "False" };
    json!({"status": {"phase": "Running", "podIP": "10.0.0.1", "conditions": [{"type": "Ready", "status": ready}]}})
        .to_string()
        .into()
}

fn servers(c: &mut Criterion) {
    let runtime = runtime();
    c.bench_function("in_process/server", |bencher| {
        bencher.iter(|| {
            runtime.block_on(async {
                drop(start());
                // The runtime drops the server's task, and with it the state, at the next scheduling point.
                yield_now().await;
            });
        });
    });
    c.bench_function("in_process/server, first request", |bencher| {
        bencher.iter(|| {
            runtime.block_on(async {
                let server = start();
                call(&server.service(), Method::GET, PODS, "", Bytes::new()).await
            })
        });
    });
}

/// Benchmarks calls to servers with one Pod.
fn calls(c: &mut Criterion, name: &str, make: impl Fn(u64) -> (Method, String, &'static str, Bytes)) {
    let runtime = runtime();
    let _entered = runtime.enter();
    let new = || {
        let server = start();
        runtime.block_on(call(&server.service(), Method::POST, PODS, "application/json", pod()));
        Rc::new(server)
    };
    let (mut server, mut count) = (new(), 0);
    c.bench_function(name, |bencher| {
        bencher.iter_batched(
            || {
                count += 1;
                if count % CALLS == 0 {
                    server = new();
                }
                (Rc::clone(&server), make(count))
            },
            |(server, (method, path, media_type, body))| {
                runtime.block_on(call(&server.service(), method, &path, media_type, body))
            },
            BatchSize::NumIterations(CALLS),
        );
    });
}

fn requests(c: &mut Criterion) {
    calls(c, "in_process/get", |_| (Method::GET, format!("{PODS}/web"), "", Bytes::new()));
    calls(c, "in_process/create EndpointSlice", |number| {
        (Method::POST, SLICES.to_owned(), "application/json", slice(number))
    });
    calls(c, "in_process/patch Pod status", |number| {
        (Method::PATCH, format!("{PODS}/web/status"), "application/merge-patch+json", status(number))
    });
}

criterion_group!(benches, servers, requests);
criterion_main!(benches);
