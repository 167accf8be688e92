//! Streaming lists that do not end with their bookmark, in virtual time.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{Full, StreamBody};
use kube_controller_client::Config;
use kube_informer::{Informer, wait_for_sync};
use rstest::rstest;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;
use tower::service_fn;

use crate::{
    exchange::{bookmark, event, list},
    server::client_of,
    thing::Thing,
};

/// Frames of a streaming list, each after a pause in seconds, and whether it stays open after the last one.
type Frames = (Vec<(u64, String)>, bool);

fn added(thing: u64) -> String {
    event("ADDED", &format!("thing-{thing}"), thing)
}

fn silent() -> Frames {
    (vec![(0, added(1)), (0, added(2))], true)
}

/// Changes without a pause of a minute, but no bookmark.
fn changes() -> Frames {
    ([(0, added(1))].into_iter().chain((2..100).map(|at| (5, event("MODIFIED", "thing-1", at)))).collect(), true)
}

/// New objects every 5 s, and an ordinary bookmark a minute.
fn additions_and_bookmarks() -> Frames {
    ((1..200).map(|at| (5, if at % 12 == 0 { bookmark(at, false) } else { added(at) })).collect(), true)
}

fn additions() -> Frames {
    ((1..1000).map(|at| (5, added(at))).collect(), true)
}

/// A large list that arrives slowly, and is complete after 250 s.
fn slow() -> Frames {
    ((1..6).map(|at| (50, added(at))).chain([(0, bookmark(9, true))]).collect(), true)
}

fn ended() -> Frames {
    (vec![(0, added(1)), (2, added(2))], false)
}

#[rstest]
#[case::silent(silent(), 60..=61, "stream, list")]
#[case::changes(changes(), 60..=65, "stream, list")]
#[case::additions_and_bookmarks(additions_and_bookmarks(), 60..=125, "stream, list")]
// The timeout of the stream, 300 s to 599 s, and 30 s more for the server to end it.
#[case::additions(additions(), 300..=635, "stream, list")]
#[case::slow(slow(), 249..=251, "stream")]
#[case::ended(ended(), 2..=2, "stream, list")]
#[tokio::test(start_paused = true)]
async fn streaming_list_without_its_bookmark_is_replaced_by_a_list(
    #[case] (frames, open): Frames,
    #[case] synced_after: std::ops::RangeInclusive<u64>,
    #[case] expect: &str,
) {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&requests);
    let service = service_fn(move |request: Request<Full<Bytes>>| {
        let query = request.uri().query().unwrap_or_default();
        let verb = match (query.contains("watch=true"), query.contains("sendInitialEvents")) {
            (true, true) => "stream",
            (true, false) => "watch",
            (false, _) => "list",
        };
        log.lock().expect("not poisoned").push(verb);
        let frames = match verb {
            "stream" => frames.clone(),
            "list" => vec![(0, list(9, &[("thing-1", 1)]))],
            _ => Vec::new(),
        };
        let frames = stream::iter(frames).then(|(pause, frame)| async move {
            sleep(Duration::from_secs(pause)).await;
            Ok::<_, Infallible>(Frame::data(Bytes::from(frame + "\n")))
        });
        let stays_open = (verb == "stream" && open) || verb == "watch";
        let end = stream::once(async move {
            if stays_open {
                std::future::pending::<()>().await;
            }
        })
        .filter_map(async |()| None);
        async { Ok::<_, Infallible>(Response::new(StreamBody::new(Box::pin(frames.chain(end))))) }
    });
    let client = client_of(&Config::from_service(service));
    let informer = Informer::<Thing>::builder(client).namespace("shop").build();
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    tasks.spawn(informer.run(CancellationToken::new()));
    wait_for_sync([&informer.store_synced()], Duration::from_secs(3600)).await.expect("synced");
    assert!(synced_after.contains(&start.elapsed().as_secs()), "synced after {:?}", start.elapsed());
    let mut requests = requests.lock().expect("not poisoned").clone();
    requests.retain(|verb| *verb != "watch");
    assert_eq!(requests.join(", "), expect);
}
