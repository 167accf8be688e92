//! An unmodified `kube` client.

use futures::{StreamExt as _, TryStreamExt as _, pin_mut};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ListParams, ObjectMeta, PostParams, WatchEvent, WatchParams};
use kube::{Api, Client, Error};
use kube_dev_apiserver::{Fault, On, Server};

use super::start;

fn api(server: &Server) -> Api<ConfigMap> {
    Api::default_namespaced(Client::new(server.service(), "default"))
}

fn map(name: &str) -> ConfigMap {
    ConfigMap { metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }, ..ConfigMap::default() }
}

fn name(map: &ConfigMap) -> &str {
    map.metadata.name.as_deref().unwrap()
}

#[tokio::test(start_paused = true)]
async fn objects_and_errors() {
    let server = start();
    let maps = api(&server);
    let created = maps.create(&PostParams::default(), &map("a")).await.unwrap();
    assert_eq!(created.metadata.resource_version, Some(server.revision().to_string()));
    let Error::Api(exists) = maps.create(&PostParams::default(), &map("a")).await.unwrap_err() else { panic!() };
    assert_eq!((exists.code, exists.reason.as_str()), (409, "AlreadyExists"));
    let Error::Api(missing) = maps.get("b").await.unwrap_err() else { panic!() };
    assert_eq!((missing.code, missing.message.as_str()), (404, r#"configmaps "b" not found"#));
    let listed = maps.list(&ListParams::default()).await.unwrap();
    assert_eq!(listed.items.iter().map(name).collect::<Vec<_>>(), ["a"]);
    let page = maps.list(&ListParams::default().limit(1)).await.unwrap();
    assert_eq!(page.items, listed.items);
}

#[tokio::test(start_paused = true)]
async fn watch_gets_later_writes() {
    let server = start();
    let maps = api(&server);
    maps.create(&PostParams::default(), &map("a")).await.unwrap();
    let events = maps.watch(&WatchParams::default(), "0").await.unwrap();
    pin_mut!(events);
    let first = events.next().await.unwrap().unwrap();
    assert!(matches!(&first, WatchEvent::Added(it) if name(it) == "a"), "{first:?}");

    let (params, second) = (PostParams::default(), map("b"));
    let (written, next) = tokio::join!(maps.create(&params, &second), events.try_next());
    assert_eq!(name(&written.unwrap()), "b");
    let next = next.unwrap().unwrap();
    assert!(matches!(&next, WatchEvent::Added(it) if name(it) == "b"), "{next:?}");
    maps.delete("a", &DeleteParams::default()).await.unwrap();
    let last = events.try_next().await.unwrap().unwrap();
    assert!(matches!(&last, WatchEvent::Deleted(it) if name(it) == "a"), "{last:?}");
    assert_eq!(server.faults().open_watches(&On::any().resource("configmaps")), 1);
}

#[tokio::test(start_paused = true)]
async fn reset_is_a_service_error() {
    let server = start();
    let maps = api(&server);
    server.faults().inject(Fault::reset().on(On::writes()).times(1));
    let Error::Service(error) = maps.create(&PostParams::default(), &map("a")).await.unwrap_err() else { panic!() };
    let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    assert_eq!(kind, Some(std::io::ErrorKind::ConnectionReset));
    assert_eq!(server.objects("", "configmaps").len(), 0);
    maps.create(&PostParams::default(), &map("a")).await.unwrap();
}
