//! Unreachable servers and unexpected responses.

use k8s_openapi::api::core::v1::ConfigMap;
use kube_controller_client::{Client, ClientOptions, Config, Error, TransportKind};
use rstest::rstest;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use crate::cluster::{client, config_map};

/// Starts a server that writes the next of `answers` to each connection and closes it. The task returns the number of
/// connections.
pub(crate) async fn serve(answers: Vec<&'static str>) -> (String, JoinSet<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let url = format!("http://{}", listener.local_addr().expect("local address"));
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut served = 0;
        for answer in answers {
            let (mut connection, _) = listener.accept().await.expect("accept");
            // One read is enough for the small requests of these tests.
            let _ = connection.read(&mut [0; 4096]).await;
            connection.write_all(answer.as_bytes()).await.expect("write");
            connection.shutdown().await.expect("shutdown");
            served += 1;
        }
        served
    });
    (url, tasks)
}

const NOT_FOUND: &str = "HTTP/1.1 404 x\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
const BUSY_NOW: &str = "HTTP/1.1 429 x\r\nretry-after: 0\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbusy";
const BUSY: &str = "HTTP/1.1 503 x\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbusy";
const GATEWAY: &str = "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 13\r\nconnection: close\r\n\r\n<html> nope\r\n";
const CUT: &str = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"kind\":";
const NONSENSE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n[]";
const SILENCE: &str = "";

#[tokio::test]
async fn a_server_that_is_away() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let error = client(&format!("http://127.0.0.1:{port}")).create(&config_map("web")).await.unwrap_err();
    assert!(matches!(error, Error::Transport { kind: TransportKind::Connect, .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with("create configmaps default/web: ") && text.contains("refused"), "{text}");
}

#[rstest]
#[case::asked_to_wait(&[BUSY_NOW, BUSY_NOW, NOT_FOUND], "the server answered 404 Not Found: {}")]
#[case::busy_without_a_word(&[BUSY], "the server answered 503 Service Unavailable: busy")]
#[case::proxy(&[GATEWAY], "the server answered 502 Bad Gateway: <html> nope")]
#[case::closed_before_the_answer(&[SILENCE, NOT_FOUND], "the server answered 404 Not Found: {}")]
#[case::cut(&[CUT], "get configmaps default/web: ")]
#[case::nonsense(&[NONSENSE], "get configmaps default/web: invalid response: ")]
#[tokio::test]
async fn reads(#[case] answers: &[&'static str], #[case] expect: &str) {
    let (url, mut server) = serve(answers.to_vec()).await;
    let error = client(&url).get::<ConfigMap>("default", "web").await.unwrap_err();
    assert!(error.to_string().starts_with(expect), "{error}");
    assert_eq!(server.join_next().await.unwrap().unwrap(), answers.len(), "number of attempts");
}

#[tokio::test]
async fn a_write_whose_connection_broke_is_not_repeated() {
    let (url, mut server) = serve(vec![SILENCE]).await;
    let error = client(&url).create(&config_map("web")).await.unwrap_err();
    assert!(matches!(error, Error::Transport { kind: TransportKind::Reset, .. }), "{error:?}");
    assert_eq!(server.join_next().await.unwrap().unwrap(), 1);
}

const BUSY_FOR_LONG: &str = "HTTP/1.1 429 x\r\nretry-after: 600\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbusy";

/// Cancelling the token of `Client::until` fails requests that wait for a retry or the rate limiter, and all later
/// requests.
#[tokio::test]
async fn nothing_is_sent_after_the_last_call() {
    let (url, mut server) = serve(vec![BUSY_FOR_LONG]).await;
    let options = ClientOptions { qps: 0.001, burst: 2, ..ClientOptions::default() };
    let client = Client::new(&Config::from_url(&url).expect("valid URL"), options).expect("create client");
    let last_call = CancellationToken::new();
    let ending = client.until(last_call.clone());
    let (again, turn) = (config_map("again"), config_map("turn"));
    let again = ending.create(&again);
    let stop = async {
        assert_eq!(
            server.join_next().await.expect("task set is empty").expect("task panicked"),
            1,
            "one attempt, then a delay"
        );
        // Uses up the burst.
        let _ = client.create(&config_map("other")).await;
        let turn = ending.create(&turn);
        let (turn, ()) = tokio::join!(turn, async { last_call.cancel() });
        turn
    };
    let (again, turn) = tokio::join!(again, stop);
    for result in [again, turn, ending.create(&config_map("late")).await] {
        assert!(matches!(result, Err(Error::Ended { .. })), "{result:?}");
    }
}
