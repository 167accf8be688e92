//! What a connection does to the watches on it: they do not hold each other up, and outlive or outlast it.

use std::{
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures::{StreamExt as _, channel::mpsc, stream};
use kube_controller_client::{
    Body, Client, ClientOptions, Config, Error, Resource, Timeouts, TransportKind, WatchParams,
};
use tokio::time::{Instant, timeout};

use crate::tls::{self, Fate, client, client_within, serve, serve_watches};

const PODS: Resource = Resource::namespaced("", "v1", "pods", "Pod");
/// For what would otherwise hang for ever.
const LIMIT: Duration = Duration::from_secs(60);
const MIB: usize = 1 << 20;

async fn watch(client: &Client) -> Body {
    client.watch(&PODS, None, &WatchParams::default()).await.expect("a watch")
}

#[tokio::test]
async fn watches_that_nobody_reads_hold_up_no_other() {
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
    let directory = tempfile::tempdir().unwrap();
    let client = client(directory.path(), &server).await;
    let mut unread = Vec::new();
    for _ in 0..UNREAD {
        unread.push(watch(&client).await);
    }
    // As far as the server may run ahead on each of them.
    let full = async {
        while sent.load(Ordering::Relaxed) < UNREAD * MIB {
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, full).await.expect("the server runs ahead");

    let mut read = 0;
    let mut last = pin!(watch(&client).await);
    while let Some(chunk) = timeout(LIMIT, last.next()).await.expect("not held up") {
        read += chunk.expect("whole").len();
    }
    assert_eq!(read, 4 * MIB);

    let mut late = unread.swap_remove(0);
    let mut read = 0;
    while read < 4 * MIB {
        let chunk = timeout(LIMIT, late.next()).await.expect("goes on once it is read");
        read += chunk.expect("endless").expect("whole").len();
    }
}

#[tokio::test]
async fn a_retired_connection_brings_its_watches_to_their_end_and_takes_no_more() {
    let (events, body) = mpsc::unbounded();
    let first = Mutex::new(Some(body));
    let server = serve_watches(&["h2"], move || match first.lock().expect("no panic before").take() {
        Some(body) => tls::stream(body),
        None => tls::stream(stream::pending()),
    })
    .await;
    let directory = tempfile::tempdir().unwrap();
    let client = client(directory.path(), &server).await;
    let mut old = watch(&client).await;
    events.unbounded_send(Bytes::from_static(b"before")).expect("open");
    assert_eq!(old.next().await.expect("open").expect("whole"), "before");
    server.fate.send_replace(Fate::Retire);

    // Until the client has heard of it, the old connection may take some. None is lost.
    let connection = |at: usize| server.seen.lock().expect("no panic before")[at].0;
    let redial = async {
        for request in 1.. {
            drop(watch(&client).await);
            if connection(request) != connection(0) {
                return;
            }
        }
    };
    timeout(LIMIT, redial).await.expect("a new connection");
    events.unbounded_send(Bytes::from_static(b"after")).expect("open");
    assert_eq!(old.next().await.expect("open").expect("whole"), "after");
    drop(events);
    // HTTP/2 may tell the end with an empty frame.
    while let Some(chunk) = old.next().await {
        assert_eq!(chunk.expect("whole"), "");
    }
}

#[tokio::test]
async fn a_dead_connection_is_noticed_by_a_watch_on_which_nothing_happens() {
    let server = serve(&["h2"]).await;
    let directory = tempfile::tempdir().unwrap();
    let client = client(directory.path(), &server).await;
    let mut body = watch(&client).await;
    server.fate.send_replace(Fate::Freeze);

    tokio::time::pause();
    let since = Instant::now();
    let error = body.next().await.expect("not the end").unwrap_err();
    assert!(
        since.elapsed() <= Duration::from_secs(46),
        "30 s until the ping, 15 s for its answer, not {:?}",
        since.elapsed()
    );
    assert!(error.to_string().starts_with("watch pods: "), "{error}");
    tokio::time::resume();
    let _other = watch(&client).await;
    let seen = server.seen.lock().unwrap();
    assert_ne!(seen[0].0, seen[1].0, "a new connection");
}

/// The timeouts of a client that renews a lease every two seconds and has ten for it.
fn short() -> Timeouts {
    let (two, five) = (Duration::from_secs(2), Duration::from_secs(5));
    Timeouts { request: five, connect: five, ping_interval: two, ping_timeout: two }
}

#[tokio::test]
async fn a_dead_connection_fails_a_request_within_the_ping_of_its_client() {
    let server = serve(&["h2"]).await;
    let directory = tempfile::tempdir().unwrap();
    let client = client_within(directory.path(), &server, short()).await;
    client.get_json("/version").await.expect("an answer");
    server.fate.send_replace(Fate::Freeze);

    tokio::time::pause();
    let since = Instant::now();
    // As an update of a Lease: it may have been carried out, so the client does not send it again.
    let error = client.raw(http::Method::PUT, "/lease", None, Vec::new()).await.unwrap_err();
    assert!(since.elapsed() <= Duration::from_millis(4_100), "{:?}", since.elapsed());
    assert!(matches!(error, Error::Transport { kind: TransportKind::Reset, .. }), "{error:?}");
    tokio::time::resume();
    client.get_json("/version").await.expect("a new connection");
    let seen = server.seen.lock().unwrap();
    assert_ne!(seen[0].0, seen[1].0);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_accepts_and_stays_silent_is_given_up_within_the_connect_timeout() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let options = ClientOptions { qps: 0.0, timeouts: short(), ..ClientOptions::default() };
    let client = Client::new(&Config::from_url(&url).unwrap(), options).unwrap();
    let since = Instant::now();
    let error = client.raw(http::Method::PUT, "/lease", None, Vec::new()).await.unwrap_err();
    assert!(since.elapsed() <= Duration::from_millis(5_100), "{:?}", since.elapsed());
    assert!(
        matches!(error, Error::Transport { kind: TransportKind::Connect | TransportKind::Timeout, .. }),
        "{error:?}"
    );
}
