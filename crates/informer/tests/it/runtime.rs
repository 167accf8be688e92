//! Caches for operators that are written with `kube::runtime::Controller`, on the embedded API server in process.

mod controllers;
mod own_writes;
mod subscribers;

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{
    Api, Client, ResourceExt as _,
    api::{Patch, PatchParams},
    core::{ObjectMeta, PartialObjectMeta},
    runtime::reflector::{ObjectRef, Store},
};
use kube_dev_apiserver::{Config, History, Server};
use kube_endpoints_testing::eventually;
use kube_informer::runtime::{CachedResource, Caches};
use tokio::task::JoinSet;

/// A server, and running caches over it.
struct World {
    server: Server,
    caches: Caches,
    tasks: JoinSet<()>,
}

impl World {
    fn start() -> Self {
        Self::with(Config::default(), Caches::new)
    }

    fn with(config: Config, caches: impl FnOnce(Client) -> Caches) -> Self {
        let server = Server::in_process(config).expect("a server");
        let caches = caches(Client::new(server.service(), "default"));
        let mut tasks = JoinSet::new();
        tasks.spawn(caches.run());
        Self { server, caches, tasks }
    }

    /// Creates config maps in the namespace `default` as another client.
    fn create(&self, names: &[&str]) {
        for name in names {
            self.server.typed::<ConfigMap>().create(&config_map(name)).expect("created");
        }
    }

    /// Returns the operator's access to config maps.
    fn api(&self) -> Api<ConfigMap> {
        Api::namespaced(self.caches.client(), "default")
    }
}

fn config_map(name: &str) -> ConfigMap {
    let labels = Some(BTreeMap::from([("app".to_owned(), "web".to_owned())]));
    ConfigMap {
        metadata: ObjectMeta { name: Some(name.to_owned()), labels, ..ObjectMeta::default() },
        ..ConfigMap::default()
    }
}

fn app(map: &ConfigMap) -> Vec<String> {
    map.labels().get("app").cloned().into_iter().collect()
}

fn names<K: CachedResource>(store: &Store<K>) -> Vec<String> {
    let mut names: Vec<_> = store.state().iter().map(|it| it.name_any()).collect();
    names.sort();
    names
}

#[tokio::test(start_paused = true)]
async fn an_object_is_kept_once() {
    let world = World::start();
    world.create(&["a", "b"]);
    let cache = world.caches.builder::<ConfigMap>().index("app", app).build();
    let store = cache.store();
    store.wait_until_ready().await.unwrap();
    let stored = |name: &str| store.get(&ObjectRef::new(name).within("default")).unwrap();
    let is_indexed = |object: &Arc<ConfigMap>| cache.by_index("app", "web").iter().any(|it| Arc::ptr_eq(it, object));
    assert_eq!(names(&store), ["a", "b"]);
    assert!(is_indexed(&stored("a")) && is_indexed(&stored("b")), "of the first list");
    assert!(cache.by_index("app", "db").is_empty() && cache.by_index("team", "web").is_empty());

    let version = world.server.typed::<ConfigMap>().patch("a", &serde_json::json!({"data": {"x": "y"}})).unwrap();
    eventually("version", &version.resource_version(), async || stored("a").resource_version()).await;
    assert!(is_indexed(&stored("a")), "of an event");
    assert_eq!(Arc::strong_count(&stored("a")), 3, "kube's store, the informer's, and this reference");
}

#[tokio::test(start_paused = true)]
async fn metadata_alone_are_kept_current() {
    let world = World::start();
    world.create(&["a"]);
    let store = world.caches.of::<PartialObjectMeta<ConfigMap>>().store();
    store.wait_until_ready().await.unwrap();
    let of_answer = |name: &str| {
        let object = store.get(&ObjectRef::new(name).within("default"))?;
        Some((object.types.clone()?.kind, object.labels().get("app")?.clone()))
    };
    let metadata = |app: &str| Some(("PartialObjectMetadata".to_owned(), app.to_owned()));
    assert_eq!(of_answer("a"), metadata("web"), "of the first list");

    let labels = |app: &str| serde_json::json!({"metadata": {"labels": {"app": app}}});
    world.server.typed::<ConfigMap>().patch("a", &labels("db")).unwrap();
    eventually("labels", &metadata("db"), async || of_answer("a")).await;
    world.server.restart(History::Lost);
    world.create(&["b"]);
    eventually("a list", &metadata("web"), async || of_answer("b")).await;

    let patch = Patch::Merge(labels("mail"));
    let patched = world.api().patch("a", &PatchParams::default(), &patch).await.unwrap();
    let stored = store.get(&ObjectRef::new("a").within("default")).unwrap();
    assert_eq!(stored.resource_version(), patched.resource_version(), "of an own write");
}

#[tokio::test(start_paused = true)]
async fn an_empty_list_makes_the_store_ready() {
    let world = World::start();
    let cache = world.caches.of::<ConfigMap>();
    cache.store().wait_until_ready().await.unwrap();
    assert!(cache.store().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_cache_of_a_type_is_the_same_for_all() {
    let world = World::start();
    let [one, other] = [(); 2].map(|()| world.caches.of::<ConfigMap>().store());
    one.wait_until_ready().await.unwrap();
    other.wait_until_ready().await.unwrap();
    assert_eq!(world.server.requests().all().len(), 1, "one streaming list");
}

#[tokio::test(start_paused = true)]
async fn namespaces_restrict_caches_of_namespaced_types() {
    let world = World::with(Config::default(), |client| Caches::namespaced(client, "kube-system"));
    world.create(&["a"]);
    let elsewhere = world.caches.builder::<ConfigMap>().namespace("default").build().store();
    let (maps, namespaces) = (world.caches.of::<ConfigMap>().store(), world.caches.of::<Namespace>().store());
    for ready in
        [elsewhere.wait_until_ready().await, maps.wait_until_ready().await, namespaces.wait_until_ready().await]
    {
        ready.unwrap();
    }
    assert_eq!((names(&maps), names(&elsewhere)), (vec![], vec!["a".to_owned()]));
    assert!(namespaces.get(&ObjectRef::new("kube-system")).is_some());
}

/// The informer behind a cache keeps the others when one cannot be decoded; `kube`'s watcher fails.
#[tokio::test(start_paused = true)]
async fn an_undecodable_object_does_not_hide_the_others() {
    #[derive(Debug, Clone, serde::Deserialize)]
    struct Numbers {
        metadata: ObjectMeta,
        #[serde(rename = "data")]
        _data: BTreeMap<String, u64>,
    }
    kube_informer::projection!(Numbers, ConfigMap);

    let world = World::start();
    let maps = world.server.typed_as::<serde_json::Value>("", "configmaps");
    for (name, text) in [("good", "1"), ("bad", "one")] {
        maps.create(&serde_json::json!({"metadata": {"name": name}, "data": {"n": text}})).unwrap();
    }
    let store = world.caches.of::<Numbers>().store();
    store.wait_until_ready().await.unwrap();
    assert!(store.is_empty(), "all data of config maps are strings");
}
