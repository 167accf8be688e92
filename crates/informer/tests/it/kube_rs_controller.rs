//! Properties that kube tests of its own controller, store and shared streams, with the cache in their place.

mod controllers;
mod streams;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use futures::{Stream, StreamExt as _};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{
    Api, Client, Resource, ResourceExt as _,
    api::{DeleteParams, PostParams},
    core::{Expression, ObjectMeta, Selector},
    runtime::reflector::{ObjectRef, Store},
};
use kube_dev_apiserver::{Config, Fault, History, On, Server};
use kube_endpoints_testing::{LIMIT, eventually};
use kube_informer::runtime::Caches;
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use serde_json::json;
use tokio::{task::JoinSet, time::timeout};

/// A server and caches, which run until they are dropped.
struct Cluster {
    server: Server,
    caches: Caches,
    running: JoinSet<()>,
}

impl Cluster {
    fn start() -> Self {
        let server = Server::in_process(Config::default()).expect("a server");
        let caches = Caches::new(Client::new(server.service(), "default"));
        Self { server, caches, running: JoinSet::new() }.run()
    }

    fn run(mut self) -> Self {
        self.running.spawn(self.caches.run());
        self
    }

    fn create(&self, name: &str) -> ConfigMap {
        self.server
            .typed::<ConfigMap>()
            .create(&ConfigMap { metadata: named(name), ..ConfigMap::default() })
            .expect("created")
    }

    fn change(&self, name: &str, value: &str) {
        self.server.typed::<ConfigMap>().patch(name, &json!({ "data": { "value": value } })).expect("patched");
    }

    fn delete(&self, name: &str) {
        self.server.typed::<ConfigMap>().delete(name).expect("deleted");
    }

    /// Resets all watches, so that later ones start with a list.
    fn expire_watches(&self) {
        self.server.faults().inject(Fault::expired().on(On::any().verb("watch")).times(1));
        self.server.restart(History::Kept);
    }
}

fn named(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }
}

fn map_ref(name: &str) -> ObjectRef<ConfigMap> {
    ObjectRef::new(name).within("default")
}

fn names(store: &Store<ConfigMap>) -> BTreeSet<String> {
    store.state().iter().map(|map| map.name_any()).collect()
}

fn values(store: &Store<ConfigMap>) -> BTreeMap<String, String> {
    let value = |map: &ConfigMap| map.data.as_ref().and_then(|data| data.get("value").cloned()).unwrap_or_default();
    store.state().iter().map(|map| (map.name_any(), value(map))).collect()
}

/// Waits for the next object of a stream. Returns its name; `None` at the end.
async fn next<K: Resource<DynamicType = ()>>(stream: &mut (impl Stream<Item = Arc<K>> + Unpin)) -> Option<String> {
    timeout(LIMIT, stream.next()).await.expect("an object or the end").map(|object| object.name_any())
}

async fn ready_store(cluster: &Cluster) -> Store<ConfigMap> {
    let store = cluster.caches.of::<ConfigMap>().store();
    timeout(LIMIT, store.wait_until_ready()).await.expect("a list").expect("running caches");
    store
}

// kube: reflector_applied_should_add_object, reflector_applied_should_update_object,
// reflector_deleted_should_remove_object
#[tokio::test(start_paused = true)]
async fn the_store_follows_the_watch() {
    let cluster = Cluster::start();
    let store = ready_store(&cluster).await;
    assert!(store.is_empty());
    let state = async || values(&store);
    let map = |entries: &[(&str, &str)]| entries.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    cluster.create("a");
    cluster.create("b");
    eventually("objects", &map(&[("a", ""), ("b", "")]), state).await;
    cluster.change("a", "new");
    eventually("objects", &map(&[("a", "new"), ("b", "")]), state).await;
    cluster.delete("b");
    eventually("objects", &map(&[("a", "new")]), state).await;
}

// kube: reflector_store_should_not_contain_duplicates
#[tokio::test(start_paused = true)]
async fn the_store_has_each_object_once() {
    let cluster = Cluster::start();
    let store = ready_store(&cluster).await;
    let api = Api::<ConfigMap>::default_namespaced(cluster.caches.client());
    let mut rng = SmallRng::seed_from_u64(7);
    for _ in 0..400 {
        let name = rng.random_range(0..20_u8).to_string();
        let exists = store.get(&map_ref(&name)).is_some();
        match (exists, rng.random_bool(0.4)) {
            (true, true) => drop(api.delete(&name, &DeleteParams::default()).await.unwrap()),
            (true, false) => cluster.change(&name, &rng.random_range(0..9_u8).to_string()),
            (false, _) => {
                let map = ConfigMap { metadata: named(&name), ..ConfigMap::default() };
                api.create(&PostParams::default(), &map).await.unwrap();
            }
        }
    }
    let maps = cluster.server.typed::<ConfigMap>().list().unwrap();
    let versions: BTreeMap<_, _> = maps.iter().map(|map| (map.name_any(), map.resource_version())).collect();
    let stored = async || {
        let state = store.state();
        let stored: BTreeMap<_, _> = state.iter().map(|map| (map.name_any(), map.resource_version())).collect();
        assert_eq!(stored.len(), state.len(), "no duplicates");
        stored
    };
    eventually("versions", &versions, stored).await;
}

// kube: should_allow_getting_*, should_not_allow_getting_*
#[tokio::test(start_paused = true)]
async fn references_find_objects_of_their_scope() {
    let cluster = Cluster::start();
    cluster.create("a");
    let namespaces = cluster.caches.of::<Namespace>().store();
    timeout(LIMIT, namespaces.wait_until_ready()).await.unwrap().unwrap();
    let maps = ready_store(&cluster).await;
    let found = |reference: &ObjectRef<ConfigMap>| maps.get(reference).is_some();
    assert_eq!((found(&map_ref("a")), found(&ObjectRef::new("a"))), (true, false), "namespaced");
    let found = |reference: &ObjectRef<Namespace>| namespaces.get(reference).is_some();
    let name = "kube-system";
    assert_eq!((found(&ObjectRef::new(name)), found(&ObjectRef::new(name).within("any"))), (true, true), "cluster");
}

// kube: state_filter_*, find_element_in_store
#[tokio::test(start_paused = true)]
async fn the_store_can_be_filtered_and_searched() {
    let cluster = Cluster::start();
    for (name, app) in [("a", "web"), ("b", "db")] {
        let labels = Some([("app".to_owned(), app.to_owned())].into());
        let map = ConfigMap { metadata: ObjectMeta { labels, ..named(name) }, ..ConfigMap::default() };
        cluster.server.typed::<ConfigMap>().create(&map).unwrap();
    }
    let store = ready_store(&cluster).await;
    let is_web = Selector::from(Expression::Equal("app".to_owned(), "web".to_owned()));
    let found = |maps: Vec<Arc<ConfigMap>>| maps.iter().map(|map| map.name_any()).collect::<String>();
    assert_eq!(found(store.state_filter_selector(&is_web)), "a");
    assert_eq!(found(store.state_filter(|map| map.labels()["app"] == "db")), "b");
    assert_eq!(store.find(|map| map.name_any() == "b").map(|map| map.name_any()).as_deref(), Some("b"));
    assert_eq!(store.len(), 2);
}

/// A Namespace has finalizers of its own, which are not in its metadata.
#[tokio::test(start_paused = true)]
async fn a_terminating_namespace_stays_stored() {
    let cluster = Cluster::start();
    let namespaces = cluster.caches.of::<Namespace>();
    timeout(LIMIT, namespaces.store().wait_until_ready()).await.unwrap().unwrap();
    let api = Api::<Namespace>::all(cluster.caches.client());
    api.create(&PostParams::default(), &Namespace { metadata: named("shop"), ..Namespace::default() }).await.unwrap();
    let deleted = api.delete("shop", &DeleteParams::default()).await.unwrap();
    let is_there = namespaces.store().get(&ObjectRef::new("shop")).is_some();
    assert_eq!(is_there, cluster.server.object("", "namespaces", "", "shop").is_some(), "{deleted:?}");
}

/// A reconciler may write objects whose cache has no first list yet.
#[tokio::test(start_paused = true)]
async fn the_first_list_has_own_writes_that_are_newer() {
    let cluster = Cluster::start();
    cluster.create("old");
    // The server answers the first list later than the writes after it.
    let slow = Duration::from_secs(20);
    cluster.server.faults().inject(Fault::delay_events(slow, slow).on(On::any().resource("configmaps").verb("watch")));
    cluster.server.faults().inject(Fault::delay_events(slow, slow).on(On::any().resource("configmaps").verb("list")));
    let store = cluster.caches.of::<ConfigMap>().store();
    assert!(timeout(slow / 2, store.wait_until_ready()).await.is_err(), "no list yet");
    let api = Api::<ConfigMap>::default_namespaced(cluster.caches.client());
    api.delete("old", &DeleteParams::default()).await.unwrap();
    api.create(&PostParams::default(), &ConfigMap { metadata: named("new"), ..ConfigMap::default() }).await.unwrap();
    timeout(LIMIT, store.wait_until_ready()).await.expect("a list").unwrap();
    assert_eq!(names(&store), BTreeSet::from(["new".to_owned()]));
}
