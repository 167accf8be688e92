//! The store of a cache.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    core::{Expression, ObjectMeta, PartialObjectMeta, Selector},
    runtime::reflector::ObjectRef,
};
use kube_dev_apiserver::History;
use kube_endpoints_testing::eventually;
use kube_informer::runtime::Caches;
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use serde_json::json;

use super::{AssignedPod, World, config_map, names, pod, reference, until_ready};

fn app(map: &ConfigMap) -> Vec<String> {
    map.labels().get("app").cloned().into_iter().collect()
}

#[tokio::test(start_paused = true)]
async fn an_object_is_kept_once() {
    let world = World::start();
    world.create(["a", "b"]);
    let cache = world.caches.builder::<ConfigMap>().index("app", app).build();
    let store = cache.store();
    until_ready(&store).await;
    let stored = |name: &str| store.get(&reference(name)).unwrap();
    let is_indexed = |object: &Arc<ConfigMap>| cache.by_index("app", "web").iter().any(|it| Arc::ptr_eq(it, object));
    assert_eq!(names(&store), ["a", "b"]);
    assert!(is_indexed(&stored("a")) && is_indexed(&stored("b")), "of the first list");
    assert!(cache.by_index("app", "db").is_empty() && cache.by_index("team", "web").is_empty());

    let version = world.patch("a", &json!({"data": {"x": "y"}})).resource_version();
    eventually("version", &version, async || stored("a").resource_version()).await;
    assert!(is_indexed(&stored("a")), "of an event");
    assert_eq!(Arc::strong_count(&stored("a")), 3, "kube's store, the informer's, and this reference");
}

#[tokio::test(start_paused = true)]
async fn metadata_alone_are_kept_current() {
    let world = World::start();
    world.create(["a"]);
    let store = world.caches.of::<PartialObjectMeta<ConfigMap>>().store();
    until_ready(&store).await;
    let of_answer = |name: &str| {
        let object = store.get(&reference(name))?;
        Some((object.types.clone()?.kind, object.labels().get("app")?.clone()))
    };
    let metadata = |app: &str| Some(("PartialObjectMetadata".to_owned(), app.to_owned()));
    assert_eq!(of_answer("a"), metadata("web"), "of the first list");

    let labels = |app: &str| json!({"metadata": {"labels": {"app": app}}});
    world.patch("a", &labels("db"));
    eventually("labels", &metadata("db"), async || of_answer("a")).await;
    world.server.restart(History::Lost);
    world.create(["b"]);
    eventually("a list", &metadata("web"), async || of_answer("b")).await;

    let patch = Patch::Merge(labels("mail"));
    let patched = world.api().patch("a", &PatchParams::default(), &patch).await.unwrap();
    let stored = store.get(&reference("a")).unwrap();
    assert_eq!(stored.resource_version(), patched.resource_version(), "of an own write");
}

// kube: should_allow_getting_*, should_not_allow_getting_*
#[tokio::test(start_paused = true)]
async fn namespaces_restrict_caches_and_references_of_namespaced_types() {
    let world = World::with(|client| Caches::namespaced(client, "kube-system"));
    world.create(["a"]);
    let elsewhere = world.caches.builder::<ConfigMap>().namespace("default").build().store();
    let (maps, namespaces) = (world.caches.of::<ConfigMap>().store(), world.caches.of::<Namespace>().store());
    until_ready(&elsewhere).await;
    until_ready(&maps).await;
    until_ready(&namespaces).await;
    assert_eq!((names(&maps), names(&elsewhere)), (vec![], vec!["a".to_owned()]));
    let found = |reference: &ObjectRef<ConfigMap>| elsewhere.get(reference).is_some();
    assert_eq!((found(&reference("a")), found(&ObjectRef::new("a"))), (true, false), "namespaced");
    let found = |reference: &ObjectRef<Namespace>| namespaces.get(reference).is_some();
    assert_eq!((found(&ObjectRef::new("kube-system")), found(&reference("kube-system"))), (true, true), "cluster");
}

/// The informer behind a cache keeps the others when one cannot be decoded; `kube`'s watcher fails.
#[tokio::test(start_paused = true)]
async fn an_undecodable_object_does_not_hide_the_others() {
    let world = World::start();
    let pods = world.server.typed_as::<serde_json::Value>("", "pods");
    for pod in [pod("good", Some("n")), pod("bad", None)] {
        pods.create(&pod).unwrap();
    }
    let store = world.caches.of::<AssignedPod>().store();
    until_ready(&store).await;
    assert_eq!(names(&store), ["good"]);
}

// kube: reflector_applied_should_add_object, reflector_applied_should_update_object,
// reflector_deleted_should_remove_object, reflector_store_should_not_contain_duplicates
#[tokio::test(start_paused = true)]
async fn the_store_has_each_object_of_the_server_once() {
    let world = World::start();
    let store = world.caches.of::<ConfigMap>().store();
    until_ready(&store).await;
    assert!(store.is_empty(), "ready after an empty list");
    let (api, maps) = (world.api(), world.server.typed::<ConfigMap>());
    let mut rng = SmallRng::seed_from_u64(7);
    for _ in 0..400 {
        let name = rng.random_range(0..20_u8).to_string();
        let is_own = rng.random_bool(0.5);
        match (maps.get(&name).is_ok(), rng.random_bool(0.4)) {
            (true, true) if is_own => drop(api.delete(&name, &DeleteParams::default()).await.unwrap()),
            (true, true) => world.delete(&name),
            (true, false) => {
                let value = rng.random_range(0..9_u8).to_string();
                world.patch(&name, &json!({"data": {"value": value}}));
            }
            (false, _) if is_own => drop(api.create(&PostParams::default(), &config_map(&name)).await.unwrap()),
            (false, _) => drop(world.create([&name])),
        }
    }
    let content = |map: &ConfigMap| (map.name_any(), (map.resource_version(), map.data.clone()));
    let expected: BTreeMap<_, _> = maps.list().unwrap().iter().map(content).collect();
    let stored = async || {
        let state = store.state();
        let stored: BTreeMap<_, _> = state.iter().map(|map| content(map)).collect();
        assert_eq!(stored.len(), state.len(), "no duplicates");
        stored
    };
    eventually("objects", &expected, stored).await;
}

// kube: state_filter_*, find_element_in_store
#[tokio::test(start_paused = true)]
async fn the_store_can_be_filtered_and_searched() {
    let world = World::start();
    world.create(["a", "b"]);
    world.patch("b", &json!({"metadata": {"labels": {"app": "db"}}}));
    let store = world.caches.of::<ConfigMap>().store();
    until_ready(&store).await;
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
    let world = World::start();
    let store = world.caches.of::<Namespace>().store();
    until_ready(&store).await;
    let api = Api::<Namespace>::all(world.caches.client());
    let metadata = ObjectMeta { name: Some("shop".to_owned()), ..ObjectMeta::default() };
    api.create(&PostParams::default(), &Namespace { metadata, ..Namespace::default() }).await.unwrap();
    let deleted = api.delete("shop", &DeleteParams::default()).await.unwrap();
    let is_there = store.get(&ObjectRef::new("shop")).is_some();
    assert_eq!(is_there, world.server.object("", "namespaces", "", "shop").is_some(), "{deleted:?}");
}
