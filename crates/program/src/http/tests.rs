use kube_controller::Probe;
use rstest::rstest;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::*;

fn pages() -> Arc<Pages> {
    let health = Health::default();
    health.add("database", &[Probe::Readyz], || Err("no connection".to_owned()));
    #[cfg(feature = "prometheus")]
    let registry = prometheus::Registry::new();
    #[cfg(feature = "prometheus")]
    registry.register(Box::new(prometheus::IntCounter::new("syncs_total", "Syncs.").unwrap())).unwrap();
    Arc::new(Pages {
        health,
        #[cfg(feature = "prometheus")]
        registry: Some(registry),
    })
}

/// Sends bytes, and reads the response to its end.
async fn exchange(request: &[u8]) -> String {
    let (mut client, server): (DuplexStream, DuplexStream) = duplex(64 * 1024);
    let send = async {
        client.write_all(request).await.unwrap();
        let mut response = String::new();
        client.read_to_string(&mut response).await.unwrap();
        response
    };
    tokio::join!(send, connection(server, pages())).0
}

#[rstest]
#[case::alive("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n", "200 OK", "ok")]
#[case::http_1_0("GET /livez HTTP/1.0\r\n\r\n", "200 OK", "ok")]
#[case::body_is_dropped("GET /livez HTTP/1.1\r\n\r\nmore", "200 OK", "ok")]
#[case::query(
    "GET /readyz?verbose HTTP/1.1\r\n\r\n",
    "500 Internal Server Error",
    "[-]database failed: no connection\nreadyz check failed\n"
)]
#[case::head("HEAD /livez HTTP/1.1\r\n\r\n", "200 OK", "")]
#[case::unknown("GET /debug HTTP/1.1\r\n\r\n", "404 Not Found", "404 page not found\n")]
#[case::method("POST /livez HTTP/1.1\r\n\r\n", "405 Method Not Allowed", "405 method not allowed\n")]
#[case::not_http("\u{16}\u{3}\u{1}\r\n\r\n", "400 Bad Request", "")]
#[case::no_target("GET\r\n\r\n", "400 Bad Request", "")]
#[tokio::test(start_paused = true)]
async fn responses(#[case] request: &str, #[case] status: &str, #[case] body: &str) {
    let response = exchange(request.as_bytes()).await;
    // The connection was closed, or the response would have no end.
    let (head, found) = response.split_once("\r\n\r\n").unwrap();
    let (_version, found_status) = head.lines().next().unwrap().split_once(' ').unwrap();
    assert_eq!((found_status, found), (status, body));
}

#[cfg(feature = "prometheus")]
#[tokio::test(start_paused = true)]
async fn metrics() {
    let response = exchange(b"GET /metrics HTTP/1.1\r\n\r\n").await;
    assert!(response.ends_with("# TYPE syncs_total counter\nsyncs_total 0\n"), "{response}");
    assert!(response.contains("\r\ncontent-type: text/plain; version=0.0.4\r\n"), "{response}");
}

#[tokio::test(start_paused = true)]
async fn a_long_request_is_rejected() {
    let request = format!("GET /livez HTTP/1.1\r\nA: {}", "a".repeat(2 * HEAD));
    assert!(exchange(request.as_bytes()).await.starts_with("HTTP/1.1 431 "));
}

#[tokio::test(start_paused = true)]
async fn a_slow_client_is_disconnected() {
    let start = Instant::now();
    assert_eq!(exchange(b"GET /livez HTT").await, "");
    assert_eq!(start.elapsed(), LIMIT);
}

/// Idle connections take all slots for `LIMIT`, and a later client is served then. In paused time, so that a slow machine does
/// not reach `LIMIT` while it connects.
#[tokio::test(start_paused = true)]
async fn connections_are_bounded_and_the_stop_closes_them() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let mut server = JoinSet::new();
    server.spawn(serve(listener, pages(), stop.clone()));
    let mut idle = Vec::new();
    for _ in 0..CONNECTIONS {
        idle.push(TcpStream::connect(address).await.unwrap());
    }
    let mut waiting = TcpStream::connect(address).await.unwrap();
    waiting.write_all(b"GET /livez HTTP/1.1\r\n\r\n").await.unwrap();
    assert!(timeout(Duration::from_millis(300), waiting.readable()).await.is_err(), "no slot is free");
    drop(idle.pop());
    let mut response = String::new();
    waiting.read_to_string(&mut response).await.unwrap();
    assert!(response.ends_with("\r\n\r\nok"), "{response}");
    stop.cancel();
    server.join_next().await.unwrap().unwrap();
    assert!(matches!(idle[0].read(&mut [0]).await, Ok(0) | Err(_)));
}
