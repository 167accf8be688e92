//! Unreachable servers and unexpected responses.

use display_full_error::DisplayFullErrorExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube_controller_client::{Client, ClientOptions, Config, Error, TransportKind};
use kube_dev_apiserver::ReservedPort;
use rstest::rstest;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use crate::cluster::{client, config_map};

/// Starts a server that writes the next of `responses` to each connection and closes it. The task returns the requests.
pub(crate) async fn serve(responses: Vec<&'static str>) -> (String, JoinSet<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let url = format!("http://{}", listener.local_addr().expect("local address"));
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut requests = Vec::new();
        for response in responses {
            let (mut connection, _) = listener.accept().await.expect("accept");
            // One read is enough for the small requests of these tests.
            let mut request = [0; 8192];
            let length = connection.read(&mut request).await.unwrap_or_default();
            requests.push(String::from_utf8_lossy(&request[..length]).into_owned());
            connection.write_all(response.as_bytes()).await.expect("write");
            connection.shutdown().await.expect("shutdown");
        }
        requests
    });
    (url, tasks)
}

pub(crate) const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
const NOT_FOUND: &str = "HTTP/1.1 404 x\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
const RETRY_NOW: &str = "HTTP/1.1 429 x\r\nretry-after: 0\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbusy";
const BUSY: &str = "HTTP/1.1 503 x\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbusy";
const GATEWAY: &str = "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 13\r\nconnection: close\r\n\r\n<html> nope\r\n";
const TRUNCATED: &str = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"kind\":";
const NOT_AN_OBJECT: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n[]";
const NO_RESPONSE: &str = "";

#[tokio::test]
async fn unreachable_server_is_a_connect_error() {
    let port = ReservedPort::new().unwrap();
    let error = client(&format!("http://{}", port.address())).create(&config_map("web")).await.unwrap_err();
    assert!(matches!(error, Error::Transport { kind: TransportKind::Connect, .. }), "{error:?}");
    let text = error.to_string_full();
    assert!(text.starts_with("create configmaps default/web: ") && text.contains("refused"), "{text}");
}

#[rstest]
#[case::retry_after(&[RETRY_NOW, RETRY_NOW, NOT_FOUND], "the server answered 404 Not Found: {}")]
#[case::without_retry_after(&[BUSY], "the server answered 503 Service Unavailable: busy")]
#[case::proxy(&[GATEWAY], "the server answered 502 Bad Gateway: <html> nope")]
#[case::closed_before_the_response(&[NO_RESPONSE, NOT_FOUND], "the server answered 404 Not Found: {}")]
#[case::truncated(&[TRUNCATED], "get configmaps default/web: ")]
#[case::not_an_object(&[NOT_AN_OBJECT], "get configmaps default/web: invalid response: ")]
#[tokio::test]
async fn get_is_retried_on_retry_after_or_reset(#[case] responses: &[&'static str], #[case] expect: &str) {
    let (url, mut server) = serve(responses.to_vec()).await;
    let error = client(&url).get::<ConfigMap>("default", "web").await.unwrap_err();
    assert!(error.to_string_full().starts_with(expect), "{error}");
    assert_eq!(server.join_next().await.unwrap().unwrap().len(), responses.len(), "number of attempts");
}

#[tokio::test]
async fn write_is_not_retried_after_a_reset() {
    let (url, mut server) = serve(vec![NO_RESPONSE]).await;
    let error = client(&url).create(&config_map("web")).await.unwrap_err();
    assert!(matches!(error, Error::Transport { kind: TransportKind::Reset, .. }), "{error:?}");
    assert_eq!(server.join_next().await.unwrap().unwrap().len(), 1);
}

const RETRY_LATER: &str = "HTTP/1.1 429 x\r\nretry-after: 600\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbusy";

/// Cancelling the token of `Client::with_shutdown` fails requests that wait for a retry or the rate limiter, and all
/// later requests.
#[tokio::test]
async fn nothing_is_sent_after_shutdown() {
    let (url, mut server) = serve(vec![RETRY_LATER]).await;
    let options = ClientOptions { qps: 0.001, burst: 2, ..ClientOptions::default() };
    let client = Client::new(&Config::from_url(&url).expect("valid URL"), options).expect("create client");
    let shutdown = CancellationToken::new();
    let stopping = client.with_shutdown(shutdown.clone());
    let (retried, rate_limited) = (config_map("again"), config_map("turn"));
    let retried = stopping.create(&retried);
    let stop = async {
        assert_eq!(
            server.join_next().await.expect("task set is empty").expect("task panicked").len(),
            1,
            "one attempt, then a delay"
        );
        // Uses up the burst.
        let _ = client.create(&config_map("other")).await;
        let rate_limited = stopping.create(&rate_limited);
        let (rate_limited, ()) = tokio::join!(rate_limited, async { shutdown.cancel() });
        rate_limited
    };
    let (retried, rate_limited) = tokio::join!(retried, stop);
    for result in [retried, rate_limited, stopping.create(&config_map("late")).await] {
        assert!(matches!(result, Err(Error::ShuttingDown { .. })), "{result:?}");
    }
}
