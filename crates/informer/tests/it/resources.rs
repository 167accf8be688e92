//! Custom resources: types of the author's, and resources that are known only at run time.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_dev_apiserver::{Config, CustomKind, Server};
use kube_informer::{Informer, wait_for_sync};
use kube_wire::{Decode, Dynamic, Resource};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::server::client;

/// Has the fields of a type that `kube::CustomResource` derives.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Widget {
    api_version: String,
    kind: String,
    metadata: ObjectMeta,
    spec: Spec,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Spec {
    size: u32,
}

kube_wire::object!(Widget, Resource::namespaced("example.com", "v1", "widgets", "Widget"), write);

/// Starts a server with one Widget.
async fn start() -> Server {
    let kinds = vec![CustomKind::new("example.com", "v1", "Widget")];
    let server = Server::start(Config { kinds, ..Config::default() }).await.expect("a server");
    let metadata = ObjectMeta { name: Some("w".to_owned()), namespace: Some("default".to_owned()), ..<_>::default() };
    let (api_version, kind) = ("example.com/v1".to_owned(), "Widget".to_owned());
    let widget = Widget { api_version, kind, metadata, spec: Spec { size: 3 } };
    let created = client(&server.url()).create(&widget).await.expect("created");
    assert!(created.metadata.uid.is_some(), "the type can be written");
    server
}

/// Runs the informer until it is synced.
async fn sync<T: Decode>(informer: &Informer<T>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    tasks.spawn(informer.run(CancellationToken::new()));
    wait_for_sync([&informer.store_synced()], Duration::from_secs(30)).await.expect("the informer syncs");
    tasks
}

#[tokio::test]
async fn type_of_the_author_is_cached() {
    let server = start().await;
    let informer = Informer::<Widget>::builder(client(&server.url())).build();
    let _tasks = sync(&informer).await;
    let widget = informer.lister().get("default", "w").expect("cached");
    assert_eq!(widget.spec.size, 3);
    server.shutdown().await;
}

#[tokio::test]
async fn resource_of_run_time_is_listed_and_watched() {
    let server = start().await;
    let resource = Resource::discovered("example.com", "v1", "widgets", "Widget", true);
    let informer = Informer::<Dynamic>::builder(client(&server.url())).resource(resource).build();
    let _tasks = sync(&informer).await;
    let size = || informer.lister().get("default", "w").map(|it| it.value["spec"]["size"].clone());
    assert_eq!(size(), Some(json!(3)));
    let (changed, mut changes) = tokio::sync::watch::channel(());
    informer.add_handler(move |_| changed.send_replace(()));
    let widgets = server.typed_as::<serde_json::Value>("example.com", "widgets");
    widgets.patch("w", &json!({"spec": {"size": 4}})).expect("patched");
    changes.wait_for(|()| size() == Some(json!(4))).await.expect("watched");
    server.shutdown().await;
}
