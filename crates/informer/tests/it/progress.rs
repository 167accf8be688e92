//! Detection of a stalled cache.

use std::time::Duration;

use kube_controller_client::{Client, ClientOptions, Config as Connection};
use kube_dev_apiserver::{Config, Fault, On, Server};
use kube_endpoints_testing::{LIMIT, eventually};
use kube_informer::{CacheState, Informer, wait_for_sync};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use crate::thing::Thing;

/// Bookmarks advance a cache whose objects do not change. Without a server it does not advance.
#[tokio::test(start_paused = true)]
async fn a_cache_is_idle_when_neither_events_nor_bookmarks_come() {
    let millis = Duration::from_millis;
    let server = Server::in_process(Config { bookmark_interval: millis(50), ..Config::default() }).expect("a server");
    let options = ClientOptions { qps: 0.0, ..ClientOptions::default() };
    let client = Client::new(&Connection::from_service(server.service()), options).expect("a client");
    let informer = Informer::<Thing>::builder(client).build();
    let progress = informer.progress();
    assert_eq!(progress.at(Instant::now()), CacheState::NotStarted);
    let mut tasks = JoinSet::new();
    tasks.spawn(informer.run(CancellationToken::new()));
    wait_for_sync([&informer.store_synced()], LIMIT).await.expect("the informer syncs");

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
