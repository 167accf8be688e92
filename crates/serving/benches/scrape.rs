//! Scrapes of `/metrics` over one connection of plain HTTP: gathering, encoding, limits and the socket.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kube_controller::Health;
use kube_controller_serving::{Routes, Server, ServingMetrics};
use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::task::JoinSet;

/// Series of one histogram with the default buckets: 12 buckets, sum and count.
const SERIES_OF_A_HISTOGRAM: usize = 14;

/// Returns a registry of this number of series, half of them of histograms.
fn registry(series: usize) -> Registry {
    let counters = IntCounterVec::new(Opts::new("syncs_total", "Syncs by queue and result."), &["queue", "result"]);
    let options = HistogramOpts::new("sync_duration_seconds", "Duration of a sync by queue.");
    let (counters, histograms) = (counters.expect("valid names"), HistogramVec::new(options, &["queue"]));
    let (registry, histograms) = (Registry::new(), histograms.expect("valid names"));
    for number in 0..series / 2 {
        counters.with_label_values(&[&format!("queue-{number}"), "success"]).inc_by(1_000_000 + number as u64);
    }
    for number in 0..series / 2 / SERIES_OF_A_HISTOGRAM {
        histograms.with_label_values(&[format!("queue-{number}")]).observe(0.0125);
    }
    registry.register(Box::new(counters)).expect("registered once");
    registry.register(Box::new(histograms)).expect("registered once");
    registry
}

/// Scrapes once; returns the number of samples.
async fn scrape(stream: &mut TcpStream, response: &mut Vec<u8>) -> usize {
    stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: it\r\n\r\n").await.expect("sent");
    response.clear();
    loop {
        stream.read_buf(response).await.expect("received");
        let Some(end) = response.windows(4).take(1 << 10).position(|it| it == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&response[..end]);
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
        if response.len() == end + 4 + length.parse::<usize>().expect("a number") {
            let lines = response[end + 4..].split(|byte| *byte == b'\n');
            return lines.filter(|line| !line.is_empty() && line[0] != b'#').count();
        }
    }
}

fn scrapes(c: &mut Criterion) {
    let mut group = c.benchmark_group("scrape");
    group.measurement_time(Duration::from_secs(3));
    for series in [280, 2_800, 28_000] {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let mut tasks = JoinSet::new();
        let mut stream = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            let address = listener.local_addr().expect("an address");
            let routes = Routes::new(Health::default()).metrics(registry(series));
            tasks.spawn(Server::plain(listener, routes, ServingMetrics::default()).run());
            TcpStream::connect(address).await.expect("a connection")
        });
        let mut response = Vec::new();
        assert_eq!(runtime.block_on(scrape(&mut stream, &mut response)), series);
        group.throughput(Throughput::Elements(series as u64));
        group.bench_function(BenchmarkId::new("series", series), |b| {
            b.iter(|| runtime.block_on(scrape(&mut stream, &mut response)));
        });
    }
    group.finish();
}

criterion_group!(benches, scrapes);
criterion_main!(benches);
