//! Detection of a stalled cache.

use std::time::Duration;

use kube_dev_apiserver::{Config, Fault, On, Server};
use kube_informer::{CacheState, Informer, wait_for_sync};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use crate::{server::client, thing::Thing};

/// Bookmarks advance a cache whose objects do not change. Without a server it does not advance.
#[tokio::test]
async fn a_cache_is_idle_when_neither_events_nor_bookmarks_come() {
    let millis = Duration::from_millis;
    let server =
        Server::start(Config { bookmark_interval: millis(50), ..Config::default() }).await.expect("the server starts");
    let informer = Informer::<Thing>::builder(client(&server.url())).build();
    let progress = informer.progress();
    assert_eq!(progress.at(Instant::now()), CacheState::NotStarted);
    let mut tasks = JoinSet::new();
    tasks.spawn(informer.run(CancellationToken::new()));
    wait_for_sync([&informer.store_synced()], Duration::from_secs(30)).await.expect("the informer syncs");

    let is_idle = |expect: bool| {
        let progress = progress.clone();
        async move {
            let idle = |at| matches!(progress.at(at), CacheState::Synced { idle } if idle > millis(500));
            let deadline = Instant::now() + Duration::from_secs(30);
            while idle(Instant::now()) != expect {
                assert!(Instant::now() < deadline, "30 s passed, expected idle: {expect}");
                sleep(millis(10)).await;
            }
        }
    };
    let start = Instant::now();
    while start.elapsed() < millis(1_500) {
        is_idle(false).await;
        sleep(millis(50)).await;
    }
    let away = server.faults().inject(Fault::unavailable().on(On::any()));
    server.faults().cut_watches(&On::any());
    is_idle(true).await;
    server.faults().remove(away);
    is_idle(false).await;
    server.shutdown().await;
}
