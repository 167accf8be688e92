//! Informers on the embedded API server over TCP.

use std::{collections::BTreeMap, time::Duration};

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::{ReservedPort, Server};
use kube_endpoints_testing::{LIMIT, eventually, until};
use kube_informer::{Informer, wait_for_sync};
use kube_wire::{Decode, Encoding, Object as _};
use tokio::{net::TcpListener, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::thing::Thing;

pub(crate) fn client(url: &str) -> Client {
    client_of(&Config::from_url(url).expect("a valid URL"))
}

/// Returns a client without rate limit.
pub(crate) fn client_of(config: &Config) -> Client {
    client_with_encoding(Encoding::Protobuf, config)
}

/// Returns a client that requests this encoding for types that support it.
pub(crate) fn client_with_encoding(content_type: Encoding, config: &Config) -> Client {
    Client::new(config, ClientOptions { qps: 0.0, content_type, ..ClientOptions::default() }).expect("a client")
}

/// Runs an informer, and waits until it has synced. It stops when the tasks are dropped.
pub(crate) async fn run<T: Decode>(informer: &Informer<T>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    tasks.spawn(informer.run(CancellationToken::new()));
    wait_for_sync([&informer.store_synced()], LIMIT).await.expect("the informer syncs");
    tasks
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
    let _tasks = (run(&informer).await, run(&elsewhere).await);
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
    let tasks = run(&informer).await;
    server.shutdown().await;
    // The informer connects once, in vain.
    let listener = until("free address", || TcpListener::bind(address), Result::is_ok).await.unwrap();
    drop(timeout(LIMIT, listener.accept()).await.expect("a retry").unwrap());
    drop(listener);

    let server = start(address).await;
    create(&things, "a").await;
    let stored = async || informer.lister().list().iter().map(|it| it.metadata.name.to_string()).collect::<Vec<_>>();
    eventually("names in the store", &vec!["a".to_owned()], stored).await;
    drop(tasks);
    server.shutdown().await;
}
