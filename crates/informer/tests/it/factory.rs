//! Informers shared through a factory.

use std::time::Duration;

use k8s_openapi::api::core::v1::Node;
use kube_dev_apiserver::{Fault, On, Server};
use kube_informer::{Factory, HandlerOptions, NamedIndexes};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{
    log::{record, record_with},
    thing::Thing,
};

async fn start() -> (Server, Factory) {
    let server = Server::start(kube_dev_apiserver::Config::default()).await.expect("the server starts");
    let client = crate::server::client(&server.url());
    (server, Factory::new(client))
}

#[tokio::test]
async fn callers_share_one_watch() {
    let (server, factory) = start().await;
    let index = || NamedIndexes::new().with("group", Thing::group);
    let one = factory.informer_with(|builder| builder.index(index())).unwrap();
    let other = factory.clone().informer_with::<Thing, NamedIndexes<Thing>>(|_| panic!("it exists already")).unwrap();
    let refused = factory.informer::<Thing>().unwrap_err();
    assert_eq!(refused.to_string(), "the informer of configmaps was created with an index of another type");
    let (_, handle) = record(&one);
    assert_eq!(other.handlers().len(), 1);
    let nodes = factory.informer::<Node>().unwrap();

    let stop = CancellationToken::new();
    let mut tasks = JoinSet::new();
    tasks.spawn(factory.run(stop.clone()));
    factory.wait_for_sync(Duration::from_secs(30)).await.unwrap();
    assert!(handle.has_synced() && nodes.store_synced().has_synced());
    for resource in ["configmaps", "nodes"] {
        assert_eq!(server.requests().count(&On::any().verb("watch").resource(resource)), 1, "{resource}");
    }
    stop.cancel();
    tasks.join_all().await;
    server.shutdown().await;
}

#[tokio::test]
async fn informer_created_while_the_factory_runs_is_started() {
    let (_server, factory) = start().await;
    let mut tasks = JoinSet::new();
    tasks.spawn(factory.run(CancellationToken::new()));
    tasks.spawn(factory.run(CancellationToken::new()));
    tasks.join_next().await.expect("two tasks").expect("the second call returns");
    let (log, _) = record(&factory.informer::<Thing>().unwrap());
    factory.wait_for_sync(Duration::from_secs(30)).await.unwrap();
    assert_eq!(log.take(), "", "the server has no objects");
}

// client-go: TestWaitFor, TestSyncResult
#[tokio::test]
async fn errors_name_unsynced_handlers() {
    let (server, factory) = start().await;
    server.faults().inject(Fault::reject(503).on(On::any().resource("configmaps")));
    let things = factory.informer::<Thing>().unwrap();
    factory.informer::<Node>().unwrap();
    record(&things);
    record_with(&things, HandlerOptions::named("endpoints-controller"));
    let mut tasks = JoinSet::new();
    tasks.spawn(factory.run(CancellationToken::new()));
    let error = factory.wait_for_sync(Duration::from_secs(2)).await.unwrap_err();
    assert_eq!(error.missing, ["configmaps", "configmaps", "configmaps (endpoints-controller)"]);
    let empty = Factory::new(crate::server::client("http://127.0.0.1:1"));
    empty.wait_for_sync(Duration::ZERO).await.expect("nothing to wait for");
}
