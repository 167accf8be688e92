//! Connections without data. The clock is advanced by minutes at once; the traffic itself takes far less time than the
//! tests allow for.

use std::{sync::Arc, time::Duration};

use kube_endpoints_testing::scripted::{End, Response, Script, frames, ok};
use kube_endpoints_testing::{LIMIT, LogLines};
use kube_informer::wait_for_sync;
use tokio::{
    sync::{Notify, watch},
    task::JoinSet,
    time::{advance, pause, resume, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::fmt;

use crate::{
    exchange::{bookmark, event, informer, list},
    thing::Thing,
};

const SECOND: Duration = Duration::from_secs(1);

struct Running {
    /// Number of objects received, stored or not.
    received: watch::Receiver<usize>,
    handle: kube_informer::HandlerHandle,
    _tasks: JoinSet<()>,
}

impl Running {
    fn start(script: &Script) -> Self {
        let informer = informer(script);
        let handle = informer.add_handler(drop);
        let mut tasks = JoinSet::new();
        tasks.spawn(informer.run(CancellationToken::new()));
        Self { received: Thing::decoded(), handle, _tasks: tasks }
    }

    async fn wait_for_objects(&mut self, objects: usize) {
        let received = self.received.wait_for(|count| *count == objects);
        timeout(LIMIT, received).await.expect("the objects").expect("the informer runs");
    }
}

async fn after(time: Duration) {
    pause();
    advance(time).await;
    // Lets the tasks run whose timers expired.
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    resume();
}

// client-go: TestInitialEventsEndBookmarkTicker
#[tokio::test]
async fn warns_every_10s_without_initial_events_end() {
    let lines = LogLines::default();
    let writer = lines.clone();
    let _guard = tracing::subscriber::set_default(fmt().with_writer(move || writer.clone()).with_ansi(false).finish());
    let go = Arc::new(Notify::new());
    let (first, then) = (event("ADDED", "a", 3) + "\n", bookmark(5, true) + "\n");
    let end = End::Held(go.clone(), then.into_bytes());
    let watch = Response::Stream { content_type: "application/json", chunks: vec![first.into_bytes()], end };
    let script = Script::serve([watch]).await;
    let mut running = Running::start(&script);
    running.wait_for_objects(1).await;

    let warnings = || lines.count("still waiting for the end of the initial events");
    for times in 0..3 {
        after(5 * SECOND).await;
        assert_eq!(warnings(), times);
        after(8 * SECOND).await;
        assert_eq!(warnings(), times + 1);
    }
    go.notify_one();
    wait_for_sync([&running.handle], LIMIT).await.expect("the stream ends");
    // A watch without data is normal once the initial events have ended.
    after(60 * SECOND).await;
    assert_eq!((warnings(), script.requests(1).await.len()), (3, 1));
}

#[tokio::test]
async fn watch_open_past_its_timeout_is_reopened() {
    let watches = [frames([event("ADDED", "a", 6)], true), frames([event("ADDED", "b", 7)], true)];
    let script = Script::serve_without_streams([ok(list(5, &[]))].into_iter().chain(watches)).await;
    let mut running = Running::start(&script);
    running.wait_for_objects(1).await;
    let first = script.requests(2).await.remove(1).line;
    let seconds = first.split("timeoutSeconds=").nth(1).and_then(|it| it.split('&').next()).expect("a timeout");
    let time = Duration::from_secs(seconds.parse().expect("a number"));
    // The server may end the watch up to 30 s late.
    after(time + 20 * SECOND).await;
    assert_eq!(script.requests(2).await.len(), 2);
    after(20 * SECOND).await;
    running.wait_for_objects(2).await;
    let second = script.requests(3).await.remove(2).line;
    assert!(second.contains("&resourceVersion=6&"), "after the last event: {second}");
}

#[tokio::test]
async fn list_without_data_is_requested_again() {
    let half = list(5, &[("a", 3), ("b", 4)]).split_once(r#"{"metadata":{"name":"b""#).expect("item b").0.to_owned();
    let whole = ok(list(5, &[("a", 3)]));
    let script = Script::serve_without_streams([frames([half], true), whole]).await;
    let mut running = Running::start(&script);
    running.wait_for_objects(1).await;
    after(50 * SECOND).await;
    assert_eq!(script.requests(1).await.len(), 1);
    after(20 * SECOND).await;
    wait_for_sync([&running.handle], LIMIT).await.expect("the second list");
}
