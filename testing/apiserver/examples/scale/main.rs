//! Load test over loopback sockets: writes, watch events, slow watchers, and memory use with 150,000 pods.
//!
//! `cargo run --release -p kube-dev-apiserver --example scale -- [writes | events | slow | memory [PODS]]`

#![expect(clippy::print_stdout, reason = "prints its results")]

mod client;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use client::Connection;
use http::Method;
use http_body_util::BodyExt as _;
use kube_dev_apiserver::{Config, Server};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

type Error = Box<dyn std::error::Error + Send + Sync>;

const WRITERS: usize = 8;
const WATCHERS: usize = 5;
const PODS: &str = "/api/v1/namespaces/default/pods";
const RECORDED: &[u8] = include_bytes!("../../fixtures/pod.list.json");

fn main() -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_else(|| "writes".to_owned());
    runtime.block_on(async {
        match what.as_str() {
            "writes" => writes().await,
            "events" => events().await,
            "slow" => slow().await,
            "memory" => memory(arguments.next().map_or(Ok(150_000), |count| count.parse())?).await,
            other => Err(format!("unknown scenario {other}").into()),
        }
    })
}

/// Returns production-size pods recorded on a real server.
fn recorded_pods() -> Result<Vec<Value>, Error> {
    let mut list: Value = serde_json::from_slice(RECORDED)?;
    let Value::Array(items) = list["items"].take() else { return Err("no items".into()) };
    let whole =
        |pod: &Value| pod["metadata"].get("deletionTimestamp").is_none() && pod["status"].get("podIP").is_some();
    Ok(items.into_iter().filter(whole).collect())
}

fn pod(recorded: &[Value], i: usize) -> Value {
    let mut pod = recorded[i % recorded.len()].clone();
    let labels = pod["metadata"]["labels"].take();
    let annotations = pod["metadata"]["annotations"].take();
    pod["metadata"] = json!({"name": format!("pod-{i}"), "labels": labels, "annotations": annotations});
    pod
}

/// Sends `count` requests over [`WRITERS`] connections and returns the number of requests per second.
async fn drive(
    server: &Server,
    count: usize,
    request: impl Fn(usize) -> (Method, String, Bytes) + Send + Sync + 'static,
) -> Result<f64, Error> {
    let request = Arc::new(request);
    let address = server.address();
    let start = Instant::now();
    let mut tasks: JoinSet<Result<(), Error>> = JoinSet::new();
    for writer in 0..WRITERS {
        let request = Arc::clone(&request);
        tasks.spawn(async move {
            let mut connection = Connection::open(address).await?;
            for i in (writer..count).step_by(WRITERS) {
                let (method, path, body) = request(i);
                connection.write(method, &path, body).await?;
            }
            Ok(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    Ok(rate(count as u64, start.elapsed()))
}

#[expect(clippy::cast_precision_loss, reason = "precision is sufficient for display")]
fn rate(count: u64, elapsed: Duration) -> f64 {
    count as f64 / elapsed.as_secs_f64()
}

async fn writes() -> Result<(), Error> {
    let count = 20_000;
    let server = Server::start(Config::default()).await?;
    let small = drive(&server, count, |i| {
        let body = json!({"metadata": {"name": format!("c{i}")}, "data": {"a": "1"}});
        (Method::POST, "/api/v1/namespaces/default/configmaps".to_owned(), body.to_string().into())
    });
    println!("create ConfigMap:        {:>9.0}/s", small.await?);
    let recorded = recorded_pods()?;
    let creates = recorded.clone();
    let created =
        drive(&server, count, move |i| (Method::POST, PODS.to_owned(), pod(&creates, i).to_string().into())).await?;
    println!("create Pod:              {created:>9.0}/s");
    let updated = drive(&server, count, move |i| {
        (Method::PUT, format!("{PODS}/pod-{i}/status"), pod(&recorded, i).to_string().into())
    });
    println!("update status of Pod:    {:>9.0}/s", updated.await?);
    server.shutdown().await;
    Ok(())
}

/// Watches pods from a version and counts the events.
async fn watch(address: std::net::SocketAddr, from: u64, seen: Arc<AtomicU64>) -> Result<(), Error> {
    let mut connection = Connection::open(address).await?;
    let path = format!("/api/v1/pods?watch=true&resourceVersion={from}");
    let mut body = connection.send(Method::GET, &path, Bytes::new()).await?.into_body();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            seen.fetch_add(lines(&data), Ordering::Relaxed);
        }
    }
    Ok(())
}

fn lines(bytes: &[u8]) -> u64 {
    bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum()
}

fn watchers(server: &Server, from: u64) -> (JoinSet<Result<(), Error>>, Arc<AtomicU64>) {
    let seen = Arc::new(AtomicU64::new(0));
    let mut tasks = JoinSet::new();
    for _ in 0..WATCHERS {
        tasks.spawn(watch(server.address(), from, Arc::clone(&seen)));
    }
    (tasks, seen)
}

async fn until(seen: &AtomicU64, count: u64) {
    while seen.load(Ordering::Relaxed) < count {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

fn small_pod(i: usize, value: usize) -> Bytes {
    json!({
        "metadata": {"name": format!("pod-{i}"), "labels": {"app": "web", "v": value.to_string()}},
        "spec": {"nodeName": "n", "containers": [{"name": "main", "image": "app:1"}]}
    })
    .to_string()
    .into()
}

async fn events() -> Result<(), Error> {
    let count = 50_000;
    let server = Server::start(Config { watch_history: 2 * count, ..Config::default() }).await?;
    let (mut tasks, seen) = watchers(&server, 1);
    let start = Instant::now();
    let written = drive(&server, count, |i| (Method::POST, PODS.to_owned(), small_pod(i, 0))).await?;
    until(&seen, (count * WATCHERS) as u64).await;
    let delivered = rate((count * WATCHERS) as u64, start.elapsed());
    println!("during writes:           {written:>9.0} writes/s, {delivered:>9.0} events/s to {WATCHERS} watchers");
    tasks.shutdown().await;

    let (mut tasks, seen) = watchers(&server, 1);
    let start = Instant::now();
    until(&seen, (count * WATCHERS) as u64).await;
    let caught_up = rate((count * WATCHERS) as u64, start.elapsed());
    println!("catching up:             {caught_up:>9.0} events/s to {WATCHERS} watchers");
    tasks.shutdown().await;
    server.shutdown().await;
    Ok(())
}

async fn slow() -> Result<(), Error> {
    let count = 20_000;
    for sleepers in [0, WATCHERS] {
        let server = Server::start(Config::default()).await?;
        let mut unread = Vec::new();
        for _ in 0..sleepers {
            let mut connection = Connection::open(server.address()).await?;
            let path = "/api/v1/pods?watch=true&resourceVersion=1";
            unread.push((connection.send(Method::GET, path, Bytes::new()).await?, connection));
        }
        let written = drive(&server, count, |i| (Method::POST, PODS.to_owned(), small_pod(i, 0))).await?;
        println!("{sleepers} stalled watchers: {written:>9.0} writes/s");
        for (response, _connection) in unread {
            let read = response.into_body().collect().await.map(http_body_util::Collected::to_bytes);
            let events = read.as_deref().map_or(0, lines);
            println!("  one received {events} of {count} events before it was closed");
        }
        server.shutdown().await;
    }
    Ok(())
}

fn resident_mib() -> Result<u64, Error> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib / 1024)
}

async fn memory(count: usize) -> Result<(), Error> {
    let server = Server::start(Config::default()).await?;
    println!("after start:             {:>6} MiB", resident_mib()?);
    let recorded = recorded_pods()?;
    let creates = recorded.clone();
    drive(&server, count, move |i| (Method::POST, PODS.to_owned(), pod(&creates, i).to_string().into())).await?;
    let updates = recorded.clone();
    let status = move |i| (Method::PUT, format!("{PODS}/pod-{i}/status"), pod(&updates, i).to_string().into());
    drive(&server, count, status).await?;
    println!("{count} pods:             {:>6} MiB", resident_mib()?);
    let mut connection = Connection::open(server.address()).await?;
    let mut body = connection.send(Method::GET, "/api/v1/pods", Bytes::new()).await?.into_body();
    let (start, mut bytes) = (Instant::now(), 0);
    while let Some(frame) = body.frame().await {
        bytes += frame?.into_data().map_or(0, |data| data.len());
    }
    println!("listed {} MiB in {:.1} s", bytes >> 20, start.elapsed().as_secs_f64());
    println!("after a list:            {:>6} MiB", resident_mib()?);
    server.shutdown().await;
    Ok(())
}
