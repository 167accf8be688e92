//! Latency of single requests over loopback HTTP/1.1, to a server that returns constant responses.

use std::convert::Infallible;
use std::hint::black_box;

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use k8s_openapi::api::discovery::v1::{Endpoint, EndpointConditions, EndpointSlice};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_controller_client::{Client, ClientOptions, Config, ListParams};
use kube_wire::Resource;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

/// Responds to GET with `list_bytes` bytes, to DELETE with 409, and to other methods with the metadata of a slice.
async fn respond(request: Request<Incoming>, list_bytes: usize) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    // An API server reads the request body before it responds.
    let _ = body.collect().await;
    let (code, body) = match parts.method {
        Method::GET => (StatusCode::OK, Bytes::from(vec![b' '; list_bytes])),
        Method::DELETE => (StatusCode::CONFLICT, CONFLICT.into()),
        _ => (StatusCode::OK, UPDATED.into()),
    };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = code;
    response.headers_mut().insert("content-type", http::HeaderValue::from_static("application/json"));
    Ok(response)
}

const UPDATED: &str = r#"{"kind":"EndpointSlice","apiVersion":"discovery.k8s.io/v1","metadata":{"name":"web-x7k2p",
    "namespace":"shop","uid":"6f7e4b1e-6b0a-4a52-8f3b-0a1b2c3d4e5f","resourceVersion":"123456","generation":7}}"#;
const CONFLICT: &str = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"the object has been modified",
    "reason":"Conflict","code":409}"#;

struct Bench {
    runtime: Runtime,
    url: String,
    _tasks: JoinSet<()>,
}

impl Bench {
    /// Starts a server whose GET responses have `list_bytes` bytes.
    fn new(list_bytes: usize) -> Bench {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("build runtime");
        let mut tasks = JoinSet::new();
        let url = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
            let url = format!("http://{}", listener.local_addr().expect("local address"));
            tasks.spawn(async move {
                let mut connections = JoinSet::new();
                while let Ok((stream, _)) = listener.accept().await {
                    stream.set_nodelay(true).expect("set TCP_NODELAY");
                    connections.spawn(async move {
                        let service = service_fn(move |request| respond(request, list_bytes));
                        let _ = auto::Builder::new(TokioExecutor::new())
                            .serve_connection(TokioIo::new(stream), service)
                            .await;
                    });
                }
            });
            url
        });
        Bench { runtime, url, _tasks: tasks }
    }

    fn client(&self, qps: f32, burst: u32) -> Client {
        let _in_runtime = self.runtime.enter();
        let options = ClientOptions { qps, burst, ..ClientOptions::default() };
        Client::new(&Config::from_url(&self.url).expect("valid URL"), options).expect("create client")
    }
}

fn slice(endpoints: usize) -> EndpointSlice {
    let endpoint = |number: usize| Endpoint {
        addresses: vec![format!("10.1.{}.{}", number / 250, number % 250)],
        conditions: Some(EndpointConditions { ready: Some(true), serving: Some(true), terminating: Some(false) }),
        node_name: Some(format!("node-{}", number % 100)),
        zone: Some("zone-a".to_owned()),
        ..Endpoint::default()
    };
    let (name, namespace) = (Some("web-x7k2p".to_owned()), Some("shop".to_owned()));
    EndpointSlice {
        metadata: ObjectMeta { name, namespace, resource_version: Some("123455".to_owned()), ..ObjectMeta::default() },
        address_type: "IPv4".to_owned(),
        endpoints: Some((0..endpoints).map(endpoint).collect()),
        ports: None,
    }
}

/// Writes: JSON encoding, headers, rate limiter, and decoding of the response. A slice has at most 1,000 endpoints.
fn writes(c: &mut Criterion) {
    let bench = Bench::new(0);
    let mut group = c.benchmark_group("update");
    let unlimited = bench.client(0.0, 0);
    for endpoints in [1, 10, 100, 1_000] {
        let slice = slice(endpoints);
        group.throughput(Throughput::Elements(endpoints as u64));
        group.bench_with_input(BenchmarkId::new("endpoints", endpoints), &slice, |b, slice| {
            b.iter(|| bench.runtime.block_on(unlimited.update(black_box(slice))).expect("update"));
        });
    }
    // A limit that is never reached: measures the cost of the rate limiter itself.
    let limited = bench.client(1e9, 1_000_000_000);
    let slice = slice(1);
    group.throughput(Throughput::Elements(1));
    group.bench_function("endpoints/1/within limits", |b| {
        b.iter(|| bench.runtime.block_on(limited.update(black_box(&slice))).expect("update"));
    });
    group.finish();
    c.bench_function("refused", |b| {
        b.iter(|| {
            let rejected = bench.runtime.block_on(unlimited.delete::<EndpointSlice>("shop", "web-x7k2p", None));
            assert!(rejected.expect_err("delete succeeded").is_conflict());
        });
    });
}

const PODS: Resource = Resource::namespaced("", "v1", "pods", "Pod");

/// Reads of whole response bodies, from one packet to a page of a long list.
fn bodies(c: &mut Criterion) {
    let mut group = c.benchmark_group("list");
    for bytes in [1 << 10, 64 << 10, 1 << 20] {
        let bench = Bench::new(bytes);
        let client = bench.client(0.0, 0);
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(BenchmarkId::new("bytes", bytes), |b| {
            b.iter(|| bench.runtime.block_on(client.list(&PODS, None, &ListParams::default())).expect("list"));
        });
    }
    group.finish();
}

criterion_group!(benches, writes, bodies);
criterion_main!(benches);
