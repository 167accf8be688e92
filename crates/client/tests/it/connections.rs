//! Behaviour of watches on a shared connection: flow control, GOAWAY and dead connections.

use std::{
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use display_full_error::DisplayFullErrorExt as _;
use futures::{StreamExt as _, channel::mpsc, stream};
use kube_controller_client::{Body, Client, ClientOptions, Config, Error, Timeouts, TransportKind, WatchParams};
use kube_endpoints_testing::{LIMIT, until, wait_for_bytes};
use rstest::rstest;
use tokio::time::{Instant, timeout};

use crate::{
    cluster::PODS,
    tls::{self, ConnectionMode, serve, serve_watches},
};

const MIB: usize = 1 << 20;

async fn watch(client: &Client) -> Body {
    client.watch(&PODS, None, &WatchParams::default()).await.expect("watch")
}

#[tokio::test]
async fn unread_watches_do_not_block_others() {
    const UNREAD: usize = 16;
    let sent = Arc::new(AtomicUsize::new(0));
    let (counter, opened) = (sent.clone(), AtomicUsize::new(0));
    let chunk = Bytes::from_static(&[b' '; 1 << 14]);
    let server = serve_watches(&["h2"], move || {
        if opened.fetch_add(1, Ordering::Relaxed) == UNREAD {
            return tls::stream(stream::repeat(chunk.clone()).take(4 * MIB / chunk.len()));
        }
        let counter = counter.clone();
        tls::stream(stream::repeat(chunk.clone()).inspect(move |chunk| {
            counter.fetch_add(chunk.len(), Ordering::Relaxed);
        }))
    })
    .await;
    let client = server.client().await;
    let mut unread = Vec::new();
    for _ in 0..UNREAD {
        unread.push(watch(&client).await);
    }
    // The flow-control window of each stream is full.
    until("full windows", async || sent.load(Ordering::Relaxed), |sent| *sent >= UNREAD * MIB).await;

    let mut read = 0;
    let mut last = pin!(watch(&client).await);
    while let Some(chunk) = timeout(LIMIT, last.next()).await.expect("watch is blocked") {
        read += chunk.expect("watch failed").len();
    }
    assert_eq!(read, 4 * MIB);

    let mut late = unread.swap_remove(0);
    let mut read = 0;
    while read < 4 * MIB {
        let chunk = timeout(LIMIT, late.next()).await.expect("watch did not resume");
        read += chunk.expect("watch ended").expect("watch failed").len();
    }
}

#[tokio::test]
async fn goaway_completes_watches_and_redials() {
    let (events, body) = mpsc::unbounded();
    let first = Mutex::new(Some(body));
    let server = serve_watches(&["h2"], move || match first.lock().expect("lock").take() {
        Some(body) => tls::stream(body),
        None => tls::stream(stream::pending()),
    })
    .await;
    let client = server.client().await;
    let mut old = watch(&client).await;
    events.unbounded_send(Bytes::from_static(b"before")).expect("send chunk");
    assert_eq!(old.next().await.expect("watch ended").expect("watch failed"), "before");
    server.mode.send_replace(ConnectionMode::GoAway);

    // Until the client has received GOAWAY, the old connection may accept watches. None may be lost.
    let connection = |at: usize| server.requests.lock().expect("lock")[at].0;
    let redial = async {
        for request in 1.. {
            drop(watch(&client).await);
            if connection(request) != connection(0) {
                return;
            }
        }
    };
    timeout(LIMIT, redial).await.expect("no new connection");
    events.unbounded_send(Bytes::from_static(b"after")).expect("send chunk");
    assert_eq!(old.next().await.expect("watch ended").expect("watch failed"), "after");
    drop(events);
    // HTTP/2 may signal the end of a stream with an empty frame.
    while let Some(chunk) = old.next().await {
        assert_eq!(chunk.expect("watch failed"), "");
    }
}

#[tokio::test]
async fn dead_connection_fails_an_idle_watch() {
    let server = serve(&["h2"]).await;
    let client = server.client().await;
    let mut body = watch(&client).await;
    server.mode.send_replace(ConnectionMode::Freeze);

    tokio::time::pause();
    let bytes = wait_for_bytes();
    let start = Instant::now();
    let error = body.next().await.expect("watch ended without an error").unwrap_err();
    assert!(
        // Timers of the runtime have a resolution of a millisecond.
        start.elapsed() < Duration::from_millis(15_010),
        "10 s until the ping, 5 s for its answer, not {:?}",
        start.elapsed()
    );
    assert!(error.to_string_full().starts_with("watch pods: "), "{error}");
    drop(bytes);
    tokio::time::resume();
    let _other = watch(&client).await;
    let requests = server.requests.lock().unwrap();
    assert_ne!(requests[0].0, requests[1].0, "a new connection");
}

/// Timeouts of a client that renews a lease with a retry period of 2 s and a renew deadline of 10 s.
fn short_timeouts() -> Timeouts {
    let (two, five) = (Duration::from_secs(2), Duration::from_secs(5));
    Timeouts { request: five, connect: five, ping_interval: two, ping_timeout: two }
}

#[tokio::test]
async fn dead_connection_fails_a_request_within_the_ping_timeout() {
    let server = serve(&["h2"]).await;
    let client = server.client_with_timeouts(short_timeouts()).await;
    client.get_json("/version").await.expect("request");
    server.mode.send_replace(ConnectionMode::Freeze);

    tokio::time::pause();
    let bytes = wait_for_bytes();
    let start = Instant::now();
    // Like the update of a Lease: it may have been applied, so the client does not retry it.
    let error = client.raw(http::Method::PUT, "/lease", None, Vec::new()).await.unwrap_err();
    assert!(start.elapsed() <= Duration::from_millis(4_100), "{:?}", start.elapsed());
    assert!(matches!(error, Error::Transport { kind: TransportKind::Reset, .. }), "{error:?}");
    drop(bytes);
    tokio::time::resume();
    client.get_json("/version").await.expect("request on a new connection");
    let requests = server.requests.lock().unwrap();
    assert_ne!(requests[0].0, requests[1].0);
}

#[tokio::test(start_paused = true)]
async fn silent_server_fails_a_request_within_the_connect_timeout() {
    let _bytes = wait_for_bytes();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let options = ClientOptions { qps: 0.0, timeouts: short_timeouts(), ..ClientOptions::default() };
    let client = Client::new(&Config::from_url(&url).unwrap(), options).unwrap();
    let start = Instant::now();
    let error = client.raw(http::Method::PUT, "/lease", None, Vec::new()).await.unwrap_err();
    assert!(start.elapsed() <= Duration::from_millis(5_100), "{:?}", start.elapsed());
    assert!(
        matches!(error, Error::Transport { kind: TransportKind::Connect | TransportKind::Timeout, .. }),
        "{error:?}"
    );
}

/// GOAWAY without an error; the last stream that the server accepts is 0.
const GOAWAY: &[u8] = &[0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// `RST_STREAM` of the first stream: `REFUSED_STREAM`.
const REFUSED_STREAM: &[u8] = &[0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 7];

#[rstest]
#[case::goaway(GOAWAY)]
#[case::refused_stream(REFUSED_STREAM)]
#[tokio::test]
async fn refused_stream_is_a_reset(#[case] frames: &'static [u8]) {
    let server = tls::serve_frames(frames).await;
    let client = server.client().await;
    let error = client.raw(http::Method::PUT, "/lease", None, Vec::new()).await.unwrap_err();
    assert!(matches!(error, Error::Transport { kind: TransportKind::Reset, .. }), "{error:?}");
}

#[tokio::test]
async fn get_that_goaway_refuses_is_sent_on_a_new_connection() {
    let server = tls::serve_frames(GOAWAY).await;
    let client = server.client().await;
    client.get_json("/version").await.expect("request");
    assert_eq!(server.requests.lock().unwrap()[0].0, 1);
}
