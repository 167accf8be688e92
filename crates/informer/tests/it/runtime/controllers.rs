//! Controllers of `kube` over caches.

use std::{
    collections::BTreeSet,
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::{
    FutureExt as _, StreamExt as _,
    future::{BoxFuture, ready},
    stream::{self, BoxStream},
};
use k8s_openapi::{
    api::core::v1::{ConfigMap, Namespace},
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use kube::{
    Api, Client, Resource, ResourceExt as _,
    api::{Patch, PatchParams, PostParams},
    core::{ObjectMeta, PartialObjectMeta},
    runtime::{
        Controller,
        controller::{self, Action},
        finalizer::{Event, finalizer},
        reflector::ObjectRef,
        watcher,
    },
};
use kube_dev_apiserver::{Config, Fault, On, Server};
use kube_endpoints_testing::{LIMIT, eventually};
use kube_informer::runtime::{Cache, Caches};
use serde_json::json;
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{World, names, next, reference};

type Outcome = Result<(ObjectRef<ConfigMap>, Action), controller::Error<io::Error, watcher::Error>>;
type Reconcile = Box<dyn FnMut(Arc<ConfigMap>) -> BoxFuture<'static, io::Result<Action>> + Send>;
/// Names of the reconciled objects.
type Reconciled = Arc<Mutex<Vec<String>>>;

/// Runs a controller that panics at an error. One type of reconciler: each costs the compiler a second.
fn run(controller: Controller<ConfigMap>, mut reconcile: Reconcile) -> BoxStream<'static, Outcome> {
    let never = |_, error: &io::Error, _| panic!("{error}");
    controller.run(move |map, _| reconcile(map), never, Arc::new(())).boxed()
}

fn done(action: Action) -> BoxFuture<'static, io::Result<Action>> {
    ready(Ok(action)).boxed()
}

fn nothing() -> Reconcile {
    Box::new(|_| done(Action::await_change()))
}

/// Returns the names of the first `count` reconciled objects.
async fn reconciled(results: &mut BoxStream<'static, Outcome>, count: usize) -> Vec<String> {
    let names = results.take(count).map(|result| result.expect("reconciled").0.name).collect();
    timeout(LIMIT, names).await.expect("reconciled objects")
}

async fn until_end(results: BoxStream<'static, Outcome>) {
    timeout(LIMIT, results.for_each(|_| ready(()))).await.expect("the controller ends with its triggers");
}

// kube: runner_should_wait_for_readiness, runner_should_dedupe_while_waiting_for_readiness
#[tokio::test(start_paused = true)]
async fn a_controller_starts_when_the_first_list_is_stored() {
    let world = World::start();
    let slow = Duration::from_secs(20);
    let faults = world.server.faults();
    faults.inject(Fault::delay_request(slow, slow).on(On::any().resource("configmaps")).times(1));
    world.create(["a", "b", "c"]);
    let cache = world.caches.of::<ConfigMap>();
    let store = cache.store();
    // Each object is triggered twice, once by a stream that does not wait for the store.
    let early = stream::iter(["a", "b", "c"].map(reference)).chain(stream::pending());
    let sizes = Arc::new(Mutex::new(Vec::new()));
    let reconcile = {
        let (store, sizes) = (store.clone(), sizes.clone());
        move |_| {
            sizes.lock().unwrap().push(store.len());
            done(Action::await_change())
        }
    };
    let mut results = run(cache.controller().reconcile_on(early), Box::new(reconcile));
    assert!(timeout(slow / 2, results.next()).await.is_err(), "the first list is not stored");
    let mut reconciled = reconciled(&mut results, 3).await;
    reconciled.sort();
    assert_eq!(reconciled, names(&store));
    assert!(timeout(slow, results.next()).await.is_err(), "one reconciliation of each object");
    assert_eq!(*sizes.lock().unwrap(), [3; 3], "the list is whole before the first reconciliation");
}

// kube: runner_should_report_readiness_errors
#[tokio::test(start_paused = true)]
async fn caches_that_end_before_the_first_list_end_the_controllers() {
    let server = Server::in_process(Config::default()).unwrap();
    server.faults().inject(Fault::unavailable().on(On::any().verb("list").resource("configmaps")));
    server.faults().inject(Fault::unavailable().on(On::any().verb("watch").resource("configmaps")));
    for pause in [None, Some(Duration::ZERO), Some(Duration::from_secs(3))] {
        let caches = Caches::new(Client::new(server.service(), "default"));
        let results = run(caches.of::<ConfigMap>().controller(), nothing()).collect::<Vec<_>>();
        let run = caches.run();
        match pause {
            // The future is polled never, once, or for a while.
            None => drop(run),
            Some(pause) => drop(timeout(pause, run).await),
        }
        let results = timeout(LIMIT, results).await.expect("the end");
        assert!(matches!(&results[..], [Err(controller::Error::RunnerError(_))]), "{pause:?}: {results:?}");
        let late = caches.of::<Namespace>();
        assert_eq!(next(&mut late.touched_objects().boxed()).await, None, "a cache that is added later has ended");
        assert!(timeout(LIMIT, late.store().wait_until_ready()).await.unwrap().is_err());
    }
}

// kube: applier_must_not_deadlock_if_reschedule_buffer_fills
#[tokio::test(start_paused = true)]
async fn immediate_requeues_of_many_objects_do_not_block_the_controller() {
    const OBJECTS: usize = 500;
    let mut world = World::start();
    let map = |number| {
        let metadata = json!({"name": format!("map-{number}"), "namespace": "default"});
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    };
    world.server.load((0..OBJECTS).map(map)).unwrap();
    let controller = world.caches.of::<ConfigMap>().controller();
    let mut results = run(controller, Box::new(|_| done(Action::requeue(Duration::ZERO))));
    let reconciled = reconciled(&mut results, 3 * OBJECTS).await;
    assert_eq!(reconciled.iter().collect::<BTreeSet<_>>().len(), OBJECTS);
    world.tasks.shutdown().await;
    until_end(results).await;
}

/// Returns a cache of the config maps that no other one owns.
fn owners(world: &World) -> Cache<ConfigMap> {
    world.caches.builder().labels("app=web").build()
}

/// Returns a controller of these config maps with those that they own, of which the metadata are cached, and with
/// Namespaces that name config maps in a label.
fn controller(caches: &Caches, owners: &Cache<ConfigMap>) -> Controller<ConfigMap> {
    owners
        .controller()
        .owns_shared_stream(caches.of::<PartialObjectMeta<ConfigMap>>().touched_objects())
        .watches_shared_stream(caches.of::<Namespace>().touched_objects(), |namespace| {
            let configs = namespace.labels().get("configs").map(String::as_str).unwrap_or_default();
            configs.split_terminator('.').map(reference).collect::<Vec<_>>()
        })
}

fn owned(name: &str, owners: Vec<OwnerReference>) -> ConfigMap {
    let (name, owner_references) = (Some(name.to_owned()), Some(owners));
    ConfigMap { metadata: ObjectMeta { name, owner_references, ..ObjectMeta::default() }, ..ConfigMap::default() }
}

// kube: trigger_self_maps_owned_and_shared_objects, trigger_owners_shared_only_enqueues_matching_owner_kind,
// trigger_others_enqueues_every_mapped_object
#[tokio::test(start_paused = true)]
async fn owned_and_watched_objects_trigger_their_owners_alone() {
    let mut world = World::start();
    let [owner, ..] = world.create(["owner", "one", "other", "namespace"]);
    let mut results = run(controller(&world.caches, &owners(&world)), nothing());
    let all = reconciled(&mut results, 4).await;
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 4, "each object triggers itself once: {all:?}");

    let (name, uid) = (Some("namespace".to_owned()), Some("u".to_owned()));
    let namespace = Namespace { metadata: ObjectMeta { name, uid, ..ObjectMeta::default() }, ..Namespace::default() };
    let references = vec![owner.owner_ref(&()).unwrap(), namespace.owner_ref(&()).unwrap()];
    world.server.typed().create(&owned("owned", references)).unwrap();
    assert_eq!(reconciled(&mut results, 1).await, ["owner"]);
    world.patch("owned", &json!({"data": {"x": "y"}}));
    assert_eq!(reconciled(&mut results, 1).await, ["owner"]);
    world.delete("owned");
    assert_eq!(reconciled(&mut results, 1).await, ["owner"], "also by its deletion");

    let namespaces = world.server.typed::<Namespace>();
    let labels = Some([("configs".to_owned(), "one.other".to_owned())].into());
    let metadata = ObjectMeta { name: Some("watched".to_owned()), labels, ..ObjectMeta::default() };
    namespaces.create(&Namespace { metadata, ..Namespace::default() }).unwrap();
    let (both, set) = (["one", "other"].map(str::to_owned).into(), BTreeSet::from_iter);
    assert_eq!(set(reconciled(&mut results, 2).await), both);
    assert!(timeout(LIMIT, results.next()).await.is_err(), "nothing else is reconciled");
    // The events of its termination and of its deletion.
    namespaces.delete("watched").unwrap();
    let rest = results.by_ref().take_until(sleep(LIMIT)).map(|result| result.expect("reconciled").0.name);
    assert_eq!(set(rest.collect().await), both, "also by its deletion");
    world.tasks.shutdown().await;
    until_end(results).await;
}

/// Starts a controller that creates a config map for each one that no other one owns.
fn start(world: &World, owners: &Cache<ConfigMap>, tasks: &mut JoinSet<()>) -> Reconciled {
    let reconciled = Reconciled::default();
    let (client, log) = (world.caches.client(), reconciled.clone());
    let reconcile = move |map: Arc<ConfigMap>| {
        log.lock().expect("no panic").push(map.name_any());
        let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
        let reference = map.controller_owner_ref(&()).expect("a stored object");
        let owned = owned(&format!("{}-owned", map.name_any()), vec![reference]);
        async move {
            match maps.create(&PostParams::default(), &owned).await {
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                created => drop(created.map_err(io::Error::other)?),
            }
            Ok(Action::await_change())
        }
        .boxed()
    };
    let results = run(controller(&world.caches, owners), Box::new(reconcile));
    tasks.spawn(results.for_each(|_| ready(())));
    reconciled
}

/// Waits until the reconciler was called, and returns the names.
async fn calls(reconciled: &Reconciled, at_least: usize) -> Vec<String> {
    let enough = async || reconciled.lock().expect("no panic").len() >= at_least;
    eventually("enough calls", &true, enough).await;
    // Debounced and superfluous calls would follow.
    sleep(Duration::from_secs(5)).await;
    std::mem::take(&mut *reconciled.lock().expect("no panic"))
}

#[tokio::test(start_paused = true)]
async fn controllers_share_caches_also_when_they_start_late_and_write() {
    let (mut world, mut tasks) = (World::start(), JoinSet::new());
    world.create(["a", "b"]);
    let owners = owners(&world);
    let first = start(&world, &owners, &mut tasks);
    assert_eq!(calls(&first, 2).await.into_iter().collect::<BTreeSet<_>>(), ["a", "b"].map(str::to_owned).into());
    world.delete("a-owned");
    let after_deletion = calls(&first, 1).await;
    assert!(after_deletion.iter().all(|name| name == "a"), "{after_deletion:?}");
    assert!(world.server.typed::<ConfigMap>().get("a-owned").is_ok(), "created again");

    let second = start(&world, &owners, &mut tasks);
    assert_eq!(calls(&second, 2).await.into_iter().collect::<BTreeSet<_>>(), ["a", "b"].map(str::to_owned).into());
    world.create(["c"]);
    assert!(calls(&first, 1).await.contains(&"c".to_owned()));
    assert!(calls(&second, 1).await.contains(&"c".to_owned()));
    let watches = |resource| world.server.faults().open_watches(&On::any().resource(resource));
    assert_eq!((watches("configmaps"), watches("namespaces")), (2, 1), "objects and metadata of config maps");
    world.tasks.shutdown().await;
    timeout(LIMIT, tasks.join_all()).await.expect("controllers end with their caches");
}

/// `finalizer()` adds its finalizer and waits for the event of that write.
#[tokio::test(start_paused = true)]
async fn finalizers_are_driven_by_own_writes() {
    let mut world = World::start();
    world.create(["a"]);
    let reconciled = Reconciled::default();
    let (api, log) = (world.api(), reconciled.clone());
    let reconcile = move |map| {
        let (api, log) = (api.clone(), log.clone());
        let steps = api.clone();
        let step = async move |event: Event<ConfigMap>| {
            let (text, map) = match event {
                Event::Apply(map) => ("apply", map),
                Event::Cleanup(map) => ("cleanup", map),
            };
            log.lock().unwrap().push(text.to_owned());
            let patch = Patch::Merge(json!({"data": {"seen": text}}));
            if map.data.as_ref().is_none_or(|data| data.get("seen").is_none_or(|it| it != text)) {
                steps.patch(&map.name_any(), &PatchParams::default(), &patch).await?;
            }
            Ok::<_, kube::Error>(Action::await_change())
        };
        async move { finalizer(&api, "example.com/it", map, step).await.map_err(io::Error::other) }.boxed()
    };
    let results = run(world.caches.of::<ConfigMap>().controller(), Box::new(reconcile));
    world.tasks.spawn(results.for_each(|_| ready(())));
    assert!(calls(&reconciled, 1).await.iter().all(|it| it == "apply"));
    let maps = world.server.typed::<ConfigMap>();
    assert_eq!(maps.get("a").unwrap().finalizers(), ["example.com/it"]);
    world.delete("a");
    world.server.wait_until(LIMIT, || maps.get("a").is_err().then_some(())).await.unwrap();
    assert!(calls(&reconciled, 1).await.iter().all(|it| it == "cleanup"));
}
