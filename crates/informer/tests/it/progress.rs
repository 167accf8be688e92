//! Detection of a stalled cache.

use std::time::Duration;

use kube_controller_client::Config as Connection;
use kube_dev_apiserver::{Config, Fault, On, Server};
use kube_endpoints_testing::eventually;
use kube_informer::{CacheState, Informer};
use tokio::time::{Instant, sleep};

use crate::{
    server::{client_of, run},
    thing::Thing,
};

/// Bookmarks advance a cache whose objects do not change. Without a server it does not advance.
#[tokio::test(start_paused = true)]
async fn a_cache_is_idle_when_neither_events_nor_bookmarks_come() {
    let millis = Duration::from_millis;
    let server = Server::in_process(Config { bookmark_interval: millis(50), ..Config::default() }).expect("a server");
    let client = client_of(&Connection::from_service(server.service()));
    let informer = Informer::<Thing>::builder(client).build();
    let progress = informer.progress();
    assert_eq!(progress.at(Instant::now()), CacheState::NotStarted);
    let _tasks = run(&informer).await;

    let idle = async || matches!(progress.at(Instant::now()), CacheState::Synced { idle } if idle > millis(500));
    let is_idle = async |expected: bool| eventually("idle", &expected, idle).await;
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
