//! The server over plain HTTP.

use kube_controller::Probe;
use rstest::rstest;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use super::*;

async fn connect(tasks: &mut JoinSet<()>) -> TcpStream {
    let health = Health::default();
    health.add("database", &[Probe::Readyz], || Err("no connection".to_owned()));
    let registry = Registry::new();
    registry.register(Box::new(prometheus::IntCounter::new("syncs_total", "Syncs.").unwrap())).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let routes = Routes::new(health).metrics(registry);
    let routes =
        routes.slow_page("/slow", |request| response::text(response::StatusCode::OK, request.query.to_owned()));
    let routes = routes.slow_page("/broken", |_| panic!("a bug of the page"));
    let server = Server::plain(listener, routes, ServingMetrics::default());
    assert!(server.certificates().is_none());
    tasks.spawn(server.run());
    TcpStream::connect(address).await.unwrap()
}

/// Sends bytes and no more, and reads the responses to their end.
async fn exchange(request: &[u8]) -> String {
    let mut tasks = JoinSet::new();
    let mut stream = connect(&mut tasks).await;
    stream.write_all(request).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    String::from_utf8(response).unwrap()
}

#[rstest]
#[case::alive("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n", "200 OK", "ok")]
#[case::http_1_0("GET /livez HTTP/1.0\r\n\r\n", "200 OK", "ok")]
#[case::query(
    "GET /readyz?verbose HTTP/1.1\r\n\r\n",
    "500 Internal Server Error",
    "[-]database failed: no connection\nreadyz check failed\n"
)]
#[case::head("HEAD /livez HTTP/1.1\r\n\r\n", "200 OK", "")]
#[case::unknown("GET /debug HTTP/1.1\r\n\r\n", "404 Not Found", "404 page not found\n")]
#[case::no_health_metrics("GET /metrics/slis HTTP/1.1\r\n\r\n", "404 Not Found", "404 page not found\n")]
#[case::method("POST /livez HTTP/1.1\r\n\r\n", "405 Method Not Allowed", "405 method not allowed\n")]
#[case::token_is_ignored("GET /livez HTTP/1.1\r\nAuthorization: Bearer a\r\n\r\n", "200 OK", "ok")]
#[case::not_http("\u{16}\u{3}\u{1}\r\n\r\n", "400 Bad Request", "")]
#[case::no_target("GET\r\n\r\n", "400 Bad Request", "")]
#[tokio::test]
async fn responses(#[case] request: &str, #[case] status: &str, #[case] body: &str) {
    let response = exchange(request.as_bytes()).await;
    let (head, found) = response.split_once("\r\n\r\n").unwrap();
    let (_version, found_status) = head.lines().next().unwrap().split_once(' ').unwrap();
    assert_eq!((found_status, found), (status, body));
}

#[rstest]
#[case::slow("/slow?a=b", "HTTP/1.1 200 OK\r\n", "\r\n\r\na=b")]
#[case::panics("/broken", "HTTP/1.1 500 Internal Server Error\r\n", "\r\n\r\nthe page has panicked\n")]
#[tokio::test]
async fn slow_pages(#[case] path: &str, #[case] beginning: &str, #[case] end: &str) {
    let mut tasks = JoinSet::new();
    let mut stream = connect(&mut tasks).await;
    // Without the end of the connection, which the server takes for that of the client while a page is made.
    let request = format!("GET {path} HTTP/1.1\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with(beginning) && response.ends_with(end), "{response}");
}

#[tokio::test]
async fn http_2_without_tls_is_not_served() {
    assert_eq!(exchange(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await, "");
}

#[tokio::test]
async fn metrics() {
    let response = exchange(b"GET /metrics HTTP/1.1\r\n\r\n").await;
    assert!(response.ends_with("# TYPE syncs_total counter\nsyncs_total 0\n"), "{response}");
    assert!(response.contains("\r\ncontent-type: text/plain; version=0.0.4; charset=utf-8\r\n"), "{response}");
}

#[tokio::test]
async fn a_long_request_is_rejected() {
    let mut tasks = JoinSet::new();
    let mut stream = connect(&mut tasks).await;
    stream.write_all(b"GET /livez HTTP/1.1\r\nA: ").await.unwrap();
    // The server may close the connection before everything is sent.
    let _ = stream.write_all(&vec![b'a'; 64 << 10]).await;
    let mut response = Vec::new();
    let _ = stream.read_to_end(&mut response).await;
    assert!(response.is_empty() || response.starts_with(b"HTTP/1.1 431 "));
}

/// A client that sends nothing, and one that sends half a request.
#[rstest]
#[case::silent(b"".as_slice())]
#[case::half_a_head(b"GET /livez HTT".as_slice())]
#[tokio::test]
async fn a_slow_client_is_disconnected_after_10_s(#[case] sent: &[u8]) {
    let mut tasks = JoinSet::new();
    let mut stream = connect(&mut tasks).await;
    stream.write_all(sent).await.unwrap();
    let _clock = pause_limits();
    let start = Instant::now();
    let mut response = Vec::new();
    let _ = stream.read_to_end(&mut response).await;
    assert!(response.is_empty() && start.elapsed() >= Duration::from_secs(10), "{:?}", start.elapsed());
}

/// The response is larger than what the kernel stores for the client.
#[tokio::test]
async fn a_client_that_reads_nothing_is_disconnected_after_10_s() {
    const SIZE: usize = 32 << 20;
    let served = Registry::new();
    served.register(Box::new(prometheus::IntCounter::new("large", "x".repeat(SIZE)).unwrap())).unwrap();
    let registry = Registry::new();
    let metrics = ServingMetrics::register(&registry, "example").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(Server::plain(listener, Routes::new(Health::default()).metrics(served), metrics).run());
    stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").await.unwrap();
    let _clock = pause_limits();
    tokio::time::sleep(Duration::from_secs(11)).await;
    let mut received = Vec::new();
    let _ = stream.read_to_end(&mut received).await;
    assert!(received.starts_with(b"HTTP/1.1 200 OK\r\n") && received.len() < SIZE, "{} bytes", received.len());
    let closed =
        registry.gather().into_iter().find(|it| it.name() == "example_serving_connections_closed_total").unwrap();
    let stalled = closed.get_metric().iter().find(|it| it.get_label()[0].value() == "write_timeout").unwrap();
    assert!((stalled.get_counter().get_value() - 1.0).abs() < f64::EPSILON, "{stalled:?}");
}
