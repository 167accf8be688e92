//! Random histories on the embedded API server, over connections that break: at the end, store and handlers have its
//! state.

use std::{collections::BTreeMap, time::Duration};

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube_controller_client::{Client, ClientOptions, Config, ListParams};
use kube_dev_apiserver::{ReservedPort, Server};
use kube_endpoints_testing::{LIMIT, eventually, until};
use kube_informer::{Informer, wait_for_sync};
use kube_wire::{Decode as _, Encoding, Object as _, decode_list};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use rstest::rstest;
use tokio::{net::TcpListener, sync::watch, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{proxy::Proxy, replay::Replay, thing::Thing};

pub(crate) fn client(url: &str) -> Client {
    client_with_encoding(Encoding::Protobuf, url)
}

/// Returns a client that requests this encoding for types that support it.
pub(crate) fn client_with_encoding(content_type: Encoding, url: &str) -> Client {
    let config = Config::from_url(url).expect("a valid URL");
    Client::new(&config, ClientOptions { qps: 0.0, content_type, ..ClientOptions::default() }).expect("a client")
}

async fn list_things(client: &Client) -> Vec<Thing> {
    let body = client.list(&Thing::RESOURCE, Some("default"), &ListParams::default()).await.expect("a list");
    let mut things = decode_list::<Thing>(&body).expect("decodes").items;
    things.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
    things
}

/// Waits until `now` returns the state of the server.
async fn wait_for_state(mut change: watch::Receiver<()>, expect: &[Thing], what: &str, now: impl Fn() -> Vec<Thing>) {
    let reached = timeout(LIMIT, change.wait_for(|()| now() == expect)).await.is_ok();
    assert!(reached, "{what} has {:?}, the server {expect:?}", now());
}

/// Sends one random write directly to the server.
async fn write(client: &Client, random: &mut StdRng, names: u32) {
    let name = format!("thing-{}", random.random_range(0..names));
    let data = Some(BTreeMap::from([("group".to_owned(), random.random_range(0..100).to_string())]));
    let (named, namespace) = (Some(name.clone()), Some("default".to_owned()));
    let metadata = ObjectMeta { name: named, namespace, ..ObjectMeta::default() };
    let object = ConfigMap { metadata, data, ..ConfigMap::default() };
    match client.create(&object).await {
        Ok(_) => {}
        Err(error) if error.is_already_exists() && random.random_bool(0.5) => {
            client.update(&object).await.expect("updated");
        }
        Err(error) if error.is_already_exists() => {
            client.delete::<ConfigMap>("default", &name, None).await.expect("deleted");
        }
        Err(error) => panic!("{error}"),
    }
}

#[rstest]
// With a short history, a watch that is resumed after a cut finds its version expired.
#[case::calm(1, 10_000, 0.0)]
#[case::cut(2, 10_000, 0.05)]
#[case::cut_and_expired(3, 5, 0.05)]
#[case::cut_often(4, 5, 0.3)]
#[tokio::test]
async fn store_and_handlers_reach_the_state_of_the_server(
    #[case] seed: u64,
    #[case] watch_history: usize,
    #[case] cuts: f64,
) {
    let mut random = StdRng::seed_from_u64(seed);
    let config =
        kube_dev_apiserver::Config { watch_history, seed: Some(seed), ..kube_dev_apiserver::Config::default() };
    let server = Server::start(config).await.unwrap();
    let direct = client(&server.url());
    for _ in 0..20 {
        write(&direct, &mut random, 10).await;
    }

    let proxy = Proxy::to(server.address()).await;
    let informer = Informer::<Thing>::builder(client(&proxy.url())).namespace("default").build();
    let mut handlers = vec![Replay::of(&informer)];
    let stop = CancellationToken::new();
    let mut tasks = JoinSet::new();
    tasks.spawn(informer.run(stop.clone()));
    wait_for_sync([&informer.store_synced()], LIMIT).await.unwrap();
    for round in 0..200 {
        write(&direct, &mut random, 10).await;
        if random.random_bool(cuts) {
            proxy.cut();
        }
        if round == 100 {
            handlers.push(Replay::of(&informer));
        }
    }

    let expect = list_things(&direct).await;
    let lister = informer.lister();
    let stored = || lister.list().iter().map(|it| (**it).clone()).collect::<Vec<_>>();
    wait_for_state(handlers[0].changed.clone(), &expect, "the store", stored).await;
    for handler in handlers {
        wait_for_state(handler.changed.clone(), &expect, "a handler", || handler.things()).await;
    }
    stop.cancel();
    tasks.join_all().await;
    server.shutdown().await;
}

#[tokio::test]
async fn informer_retries_until_the_server_starts() {
    // The address of a server that is started later.
    let port = ReservedPort::new().unwrap();
    let listen = port.address();
    let informer = Informer::<Thing>::builder(client(&format!("http://{listen}"))).build();
    let synced = informer.store_synced();
    let mut tasks = JoinSet::new();
    tasks.spawn(informer.run(CancellationToken::new()));
    let error = wait_for_sync([&synced], Duration::from_millis(100)).await.unwrap_err();
    assert_eq!(error.missing, ["configmaps"]);

    let server = Server::start(kube_dev_apiserver::Config { listen, ..Default::default() }).await.unwrap();
    wait_for_sync([&synced], LIMIT).await.unwrap();
    server.shutdown().await;
}

#[tokio::test]
async fn selectors_and_namespace_restrict_the_store() {
    let server = Server::start(kube_dev_apiserver::Config::default()).await.unwrap();
    let direct = client(&server.url());
    for (name, app) in [("a", "web"), ("b", "db")] {
        let labels = Some(BTreeMap::from([("app".to_owned(), app.to_owned())]));
        let (name, namespace) = (Some(name.to_owned()), Some("default".to_owned()));
        let metadata = ObjectMeta { name, namespace, labels, ..ObjectMeta::default() };
        direct.create(&ConfigMap { metadata, ..ConfigMap::default() }).await.unwrap();
    }
    let informer = Informer::<Thing>::builder(direct.clone()).label_selector("app=web").build();
    let elsewhere = Informer::<Thing>::builder(direct).namespace("kube-system").build();
    let mut tasks = JoinSet::new();
    tasks.spawn(informer.run(CancellationToken::new()));
    tasks.spawn(elsewhere.run(CancellationToken::new()));
    wait_for_sync([&informer.store_synced(), &elsewhere.store_synced()], LIMIT).await.unwrap();
    let names: Vec<_> = informer.lister().list().iter().map(|it| it.key().to_string()).collect();
    assert_eq!(names, ["default/a"]);
    assert!(elsewhere.lister().is_empty());
    server.shutdown().await;
}

/// A server that restarts from a backup is behind the version at which the watch would resume: the watch would deliver
/// nothing, and the store would keep deleted objects.
#[tokio::test]
async fn restart_from_a_backup_causes_a_relist() {
    let start = async |listen| {
        Server::start(kube_dev_apiserver::Config { listen, ..kube_dev_apiserver::Config::default() }).await.unwrap()
    };
    let create = async |client: &Client, name: &str| {
        let (name, namespace) = (Some(name.to_owned()), Some("default".to_owned()));
        let metadata = ObjectMeta { name, namespace, ..ObjectMeta::default() };
        client.create(&ConfigMap { metadata, ..ConfigMap::default() }).await.expect("created");
    };
    let port = ReservedPort::new().unwrap();
    let address = port.address();
    let server = start(address).await;
    let things = client(&format!("http://{address}"));
    for name in ["a", "b", "c"] {
        create(&things, name).await;
    }
    let informer = Informer::<Thing>::builder(things.clone()).namespace("default").build();
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    tasks.spawn(informer.run(stop.clone()));
    wait_for_sync([&informer.store_synced()], LIMIT).await.unwrap();
    server.shutdown().await;
    // The informer connects once, in vain.
    let listener = until("free address", || TcpListener::bind(address), Result::is_ok).await.unwrap();
    drop(timeout(LIMIT, listener.accept()).await.expect("a retry").unwrap());
    drop(listener);

    let server = start(address).await;
    create(&things, "a").await;
    let stored = async || informer.lister().list().iter().map(|it| it.metadata.name.to_string()).collect::<Vec<_>>();
    eventually("names in the store", &vec!["a".to_owned()], stored).await;
    stop.cancel();
    server.shutdown().await;
}
