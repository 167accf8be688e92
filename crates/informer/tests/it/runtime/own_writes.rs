//! Own writes enter the cache before their answers are returned.

use std::time::Duration;

use futures::{StreamExt as _, poll};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions},
    runtime::reflector::Store,
};
use kube_dev_apiserver::{Fault, On};
use kube_endpoints_testing::eventually;
use kube_informer::CacheState;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::{AssignedPod, Caches, Client, Config, Server, World, config_map, names, next, pod, reference, until_ready};

/// Events of the watch come after all steps of a test.
const NEVER: Duration = Duration::from_secs(100_000);

/// Starts caches whose watches show nothing.
async fn blind(world: &World, store: &Store<ConfigMap>) {
    until_ready(store).await;
    world.server.faults().inject(Fault::delay_events(NEVER, NEVER).on(On::any().verb("watch").resource("configmaps")));
    world.server.faults().cut_watches(&On::any());
    // Time is paused: the informer has a new watch then.
    tokio::time::sleep(Duration::from_secs(20)).await;
}

fn version(store: &Store<ConfigMap>, name: &str) -> Option<String> {
    store.get(&reference(name))?.resource_version()
}

#[tokio::test(start_paused = true)]
async fn each_kind_of_write_is_seen_at_once() {
    let world = World::start();
    let store = world.caches.of::<ConfigMap>().store();
    blind(&world, &store).await;
    let api = world.api();

    let created = api.create(&PostParams::default(), &config_map("a")).await.unwrap();
    assert_eq!(version(&store, "a"), created.resource_version());
    let mut changed = created;
    for step in 0..5 {
        changed.data = Some([("step".to_owned(), step.to_string())].into());
        changed = api.replace("a", &PostParams::default(), &changed).await.expect("no conflict with an own write");
        assert_eq!(version(&store, "a"), changed.resource_version());
    }
    let merge = Patch::Merge(json!({"data": {"x": "y"}}));
    let merged = api.patch("a", &PatchParams::default(), &merge).await.unwrap();
    assert_eq!(version(&store, "a"), merged.resource_version());
    let apply = Patch::Apply(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}));
    let applied = api.patch("b", &PatchParams::apply("it"), &apply).await.unwrap();
    assert_eq!(version(&store, "b"), applied.resource_version());

    // The answer has the metadata alone: the cache reads the object.
    let annotated = Patch::Merge(json!({"metadata": {"annotations": {"x": "y"}}}));
    let annotated = api.patch_metadata("a", &PatchParams::default(), &annotated).await.unwrap();
    assert_eq!(version(&store, "a"), annotated.metadata.resource_version);

    let dry_run = PostParams { dry_run: true, ..PostParams::default() };
    api.create(&dry_run, &config_map("c")).await.unwrap();
    api.delete("a", &DeleteParams::default().dry_run()).await.unwrap();
    assert_eq!(names(&store), ["a", "b"]);

    api.delete("b", &DeleteParams::default()).await.unwrap();
    assert_eq!(names(&store), ["a"]);
    let finalized = Patch::Merge(json!({"metadata": {"finalizers": ["it/x"]}}));
    api.patch("a", &PatchParams::default(), &finalized).await.unwrap();
    api.delete("a", &DeleteParams::default()).await.unwrap();
    let deleted = store.get(&reference("a")).expect("waits for its finalizer");
    assert!(deleted.metadata.deletion_timestamp.is_some());
    let finished = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    api.patch("a", &PatchParams::default(), &finished).await.unwrap();
    assert!(store.is_empty(), "removed with its last finalizer");
}

#[tokio::test(start_paused = true)]
async fn own_writes_reach_the_subscribers_once() {
    let world = World::start();
    let cache = world.caches.of::<ConfigMap>();
    let mut touched = cache.touched_objects().boxed();
    until_ready(&cache.store()).await;
    let created = world.api().create(&PostParams::default(), &config_map("a")).await.unwrap();
    assert_eq!(touched.next().await.unwrap().resource_version(), created.resource_version());
    // Another client's write comes after the event of the own one.
    world.create(["b"]);
    assert_eq!(next(&mut touched).await.as_deref(), Some("b"));
    world.api().delete("a", &DeleteParams::default()).await.unwrap();
    assert_eq!(next(&mut touched).await.as_deref(), Some("a"));
    world.create(["c"]);
    assert_eq!(next(&mut touched).await.as_deref(), Some("c"));
    assert!(poll!(touched.next()).is_pending());
}

#[tokio::test(start_paused = true)]
async fn selectors_decide_about_own_writes() {
    let world = World::start();
    let selected = world.caches.builder::<ConfigMap>().labels("app=web").build().store();
    let named = world.caches.builder::<ConfigMap>().fields("metadata.name!=a").build().store();
    until_ready(&selected).await;
    until_ready(&named).await;
    world.server.faults().inject(Fault::delay_events(NEVER, NEVER).on(On::any().verb("watch").resource("configmaps")));
    world.server.faults().cut_watches(&On::any());
    let api = world.api();
    for name in ["a", "b"] {
        api.create(&PostParams::default(), &config_map(name)).await.unwrap();
    }
    assert_eq!((names(&selected), names(&named)), (vec!["a".to_owned(), "b".to_owned()], vec!["b".to_owned()]));

    let reads = || world.server.requests().count(&On::any().verb("list"));
    let before = reads();
    let data = Patch::Merge(json!({"data": {"x": "y"}}));
    let changed = api.patch("b", &PatchParams::default(), &data).await.unwrap();
    assert_eq!(version(&selected, "b"), changed.resource_version());
    assert_eq!(version(&named, "b"), changed.resource_version());
    assert_eq!(reads() - before, 1, "equal labels still match, of fields only the server knows");

    let moved = Patch::Merge(json!({"metadata": {"labels": {"app": "db"}}}));
    api.patch("b", &PatchParams::default(), &moved).await.unwrap();
    assert_eq!((names(&selected), names(&named)), (vec!["a".to_owned()], vec!["b".to_owned()]));
    let back = Patch::Merge(json!({"metadata": {"labels": {"app": "web"}}}));
    api.patch("b", &PatchParams::default(), &back).await.unwrap();
    assert_eq!(names(&selected), ["a", "b"]);
    world.server.faults().clear();
    world.server.faults().cut_watches(&On::any());
    world.create(["z"]);
    eventually("names", &["a", "b", "z"].map(str::to_owned).to_vec(), async || names(&selected)).await;
}

/// A server that answers writes only does not hold up the operator.
#[tokio::test(start_paused = true)]
async fn a_read_that_hangs_delays_an_answer_for_five_seconds() {
    let world = World::start();
    let store = world.caches.builder::<ConfigMap>().labels("app=web").build().store();
    until_ready(&store).await;
    world.server.faults().inject(Fault::delay_request(NEVER, NEVER).on(On::any().verb("list")));
    let start = Instant::now();
    world.api().create(&PostParams::default(), &config_map("a")).await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
    eventually("names", &vec!["a".to_owned()], async || names(&store)).await;
}

/// Of a conflict with a state that is not the stored one, the informer learns nothing: no list follows.
#[tokio::test(start_paused = true)]
async fn a_conflict_of_a_stale_copy_is_no_lost_write() {
    let world = World::start();
    let store = world.caches.of::<ConfigMap>().store();
    blind(&world, &store).await;
    let api = world.api();
    let stale = api.create(&PostParams::default(), &config_map("a")).await.unwrap();
    api.replace("a", &PostParams::default(), &stale).await.unwrap();
    let merge = Patch::Merge(json!({"data": {"x": "y"}}));
    api.patch("a", &PatchParams::default(), &merge).await.unwrap();
    world.server.requests().clear();
    let refused = api.replace("a", &PostParams::default(), &stale).await.unwrap_err();
    assert!(matches!(refused, kube::Error::Api(status) if status.code == 409));
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(world.server.requests().count(&On::any().verb("list")), 0);
}

/// Pods wait for their grace period. The answer to their deletion is the Pod.
#[tokio::test(start_paused = true)]
async fn a_deleted_pod_is_kept_while_it_terminates() {
    let world = World::start();
    world.server.typed_as::<Value>("", "pods").create(&pod("web", Some("n"))).unwrap();
    let store = world.caches.of::<AssignedPod>().store();
    until_ready(&store).await;
    let pods: Api<AssignedPod> = Api::namespaced(world.caches.client(), "default");
    pods.delete("web", &DeleteParams::default()).await.unwrap();
    let stored = || store.get(&reference("web"));
    assert!(stored().expect("terminates").metadata.deletion_timestamp.is_some());
    let uid = stored().and_then(|it| it.uid());
    let now =
        DeleteParams { preconditions: Some(Preconditions { uid, resource_version: None }), ..DeleteParams::default() };
    pods.delete("web", &now.grace_period(0)).await.unwrap();
    assert!(stored().is_none());
}

/// Otherwise an operator that writes would hide that its watch has stalled.
#[tokio::test(start_paused = true)]
async fn own_writes_are_no_progress_of_the_watch() {
    let world = World::start();
    let cache = world.caches.of::<ConfigMap>();
    let store = cache.store();
    blind(&world, &store).await;
    let idle = || match cache.progress().at(Instant::now()) {
        CacheState::Synced { idle } => idle,
        other => panic!("{other:?}"),
    };
    let before = idle();
    assert!(before > Duration::from_secs(10), "{before:?}");
    let api = world.api();
    api.create(&PostParams::default(), &config_map("a")).await.unwrap();
    assert_eq!(names(&store), ["a"]);
    assert!(idle() >= before, "created: {:?}", idle());
    api.delete("a", &DeleteParams::default()).await.unwrap();
    assert!(store.is_empty());
    assert!(idle() >= before, "deleted: {:?}", idle());
}

/// A reconciler may write objects whose cache has no first list yet.
#[tokio::test(start_paused = true)]
async fn the_first_list_has_own_writes_that_are_newer() {
    let world = World::start();
    world.create(["old"]);
    // The server answers the first list later than the writes after it.
    let slow = Duration::from_secs(20);
    for verb in ["watch", "list"] {
        world.server.faults().inject(Fault::delay_events(slow, slow).on(On::any().resource("configmaps").verb(verb)));
    }
    let store = world.caches.of::<ConfigMap>().store();
    assert!(timeout(slow / 2, store.wait_until_ready()).await.is_err(), "no list yet");
    let api = world.api();
    api.delete("old", &DeleteParams::default()).await.unwrap();
    api.create(&PostParams::default(), &config_map("new")).await.unwrap();
    until_ready(&store).await;
    assert_eq!(names(&store), ["new"]);
}

/// As the client that it sends with.
#[tokio::test(start_paused = true)]
async fn the_client_expires_with_its_credentials() {
    let server = Server::in_process(Config::default()).expect("a server");
    let expiry = Some("2026-12-01T00:00:00Z".parse().expect("a time"));
    let client = Client::new(server.service(), "shop").with_valid_until(expiry);
    let client = Caches::new(client).client();
    assert_eq!((client.default_namespace(), *client.valid_until()), ("shop", expiry));
}
