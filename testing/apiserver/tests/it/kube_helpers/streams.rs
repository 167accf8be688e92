//! Helpers that follow many objects: watchers, of metadata as well, and streaming lists.

use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, PartialObjectMeta, Patch, PatchParams, PostParams};
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt as _, watcher as watch};
use kube::{Api, ResourceExt as _};
use kube_dev_apiserver::{Fault, On};
use rstest::rstest;
use serde_json::json;

use super::{Kube, config_map, soon};

/// Formats an event as its kind and the value of its object.
fn text(event: Event<ConfigMap>) -> String {
    match event {
        Event::Init => "init".to_owned(),
        Event::InitApply(it) => format!("init {}={}", it.name_any(), it.data.unwrap()["key"]),
        Event::InitDone => "done".to_owned(),
        Event::Apply(it) => format!("apply {}={}", it.name_any(), it.data.unwrap()["key"]),
        Event::Delete(it) => format!("delete {}", it.name_any()),
    }
}

/// A list in pages, or a streaming list with `sendInitialEvents`.
#[rstest]
#[case::pages(watcher::Config::default().page_size(1))]
#[case::streaming_list(watcher::Config::default().streaming_lists())]
#[tokio::test]
async fn watcher_sees_each_change(#[case] config: watcher::Config) {
    let kube = Kube::start().await;
    let maps = kube.config_maps();
    for name in ["a", "b"] {
        maps.create(&PostParams::default(), &config_map(name, "1")).await.unwrap();
    }
    let mut events = Box::pin(watch(maps.clone(), config));
    let mut next = async || text(soon(events.next()).await.unwrap().unwrap());
    for expect in ["init", "init a=1", "init b=1", "done"] {
        assert_eq!(next().await, expect);
    }
    let patch = Patch::Merge(json!({"data": {"key": "2"}}));
    maps.patch("a", &PatchParams::default(), &patch).await.unwrap();
    assert_eq!(next().await, "apply a=2");
    maps.delete("b", &DeleteParams::default()).await.unwrap();
    assert_eq!(next().await, "delete b");
    // The watch ends and is opened again, without a list.
    kube.server.faults().cut_watches(&On::any());
    maps.create(&PostParams::default(), &config_map("c", "1")).await.unwrap();
    assert_eq!(next().await, "apply c=1");
}

#[tokio::test]
async fn expired_watch_lists_again() {
    let kube = Kube::start().await;
    let maps = kube.config_maps();
    maps.create(&PostParams::default(), &config_map("a", "1")).await.unwrap();
    kube.server.faults().inject(Fault::expired().on(On::any().verb("watch").resource("configmaps")).times(1));
    let mut events = Box::pin(watch(maps.clone(), watcher::Config::default()).default_backoff());
    let mut seen = Vec::new();
    while seen.iter().filter(|it| *it == "done").count() < 2 {
        if let Ok(event) = soon(events.next()).await.unwrap() {
            seen.push(text(event));
        }
    }
    assert_eq!(seen, ["init", "init a=1", "done", "init", "init a=1", "done"]);
    assert_eq!(kube.server.faults().unspent(), []);
}

#[tokio::test]
async fn watcher_of_metadata_receives_no_data() {
    let kube = Kube::start().await;
    kube.config_maps().create(&PostParams::default(), &config_map("a", "1")).await.unwrap();
    let metadata: Api<PartialObjectMeta<ConfigMap>> = Api::default_namespaced(kube.client.clone());
    let stream = watch(metadata, watcher::Config::default()).applied_objects();
    let first = soon(Box::pin(stream).try_next()).await.unwrap().unwrap();
    assert_eq!(first.name_any(), "a");
    let types = first.types.unwrap();
    assert_eq!((types.api_version.as_str(), types.kind.as_str()), ("meta.k8s.io/v1", "PartialObjectMetadata"));
}
