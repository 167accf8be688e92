//! Custom resources: types of the author's, and resources that are known only at run time.

use kube_dev_apiserver::{Config, CustomKind, Server};
use kube_informer::Informer;
use kube_wire::{Decode as _, Dynamic, Resource};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::server::{client, run};

/// Spec from which kube derives the type `Widget`.
#[derive(Debug, Clone, kube::CustomResource, Serialize, Deserialize)]
#[kube(group = "example.com", version = "v1", kind = "Widget", namespaced, schema = "disabled")]
struct WidgetSpec {
    size: u32,
}

kube_wire::object!(Widget, Resource::namespaced("example.com", "v1", "widgets", "Widget"), write);

async fn start() -> Server {
    let kinds = vec![CustomKind::new("example.com", "v1", "Widget")];
    let server = Server::start(Config { kinds, ..Config::default() }).await.expect("a server");
    let mut widget = Widget::new("w", WidgetSpec { size: 3 });
    widget.metadata.namespace = Some("default".to_owned());
    let created = client(&server.url()).create(&widget).await.expect("created");
    assert!(created.metadata.uid.is_some(), "the type can be written");
    server
}

/// kube returns the names only at run time, so the macro cannot take them from the type.
#[test]
fn resource_is_that_of_the_derived_type() {
    let of_kube = kube::discovery::ApiResource::erase::<Widget>(&());
    let Resource { group, version, plural, kind, .. } = Widget::RESOURCE;
    assert_eq!([group, version, plural, kind], [of_kube.group, of_kube.version, of_kube.plural, of_kube.kind]);
}

#[tokio::test]
async fn type_that_kube_derives_is_cached() {
    let server = start().await;
    let informer = Informer::<Widget>::builder(client(&server.url())).build();
    let _tasks = run(&informer).await;
    let widget = informer.lister().get("default", "w").expect("cached");
    assert_eq!(widget.spec.size, 3);
    server.shutdown().await;
}

#[tokio::test]
async fn resource_of_run_time_is_listed_and_watched() {
    let server = start().await;
    let resource = Resource::discovered("example.com", "v1", "widgets", "Widget", true);
    let informer = Informer::<Dynamic>::builder(client(&server.url())).resource(resource).build();
    let _tasks = run(&informer).await;
    let size = || informer.lister().get("default", "w").map(|it| it.value["spec"]["size"].clone());
    assert_eq!(size(), Some(json!(3)));
    let (changed, mut changes) = tokio::sync::watch::channel(());
    informer.add_handler(move |_| changed.send_replace(()));
    let widgets = server.typed_as::<serde_json::Value>("example.com", "widgets");
    widgets.patch("w", &json!({"spec": {"size": 4}})).expect("patched");
    changes.wait_for(|()| size() == Some(json!(4))).await.expect("watched");
    server.shutdown().await;
}
