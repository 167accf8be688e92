//! Controllers over a cache.

use std::{
    collections::BTreeSet,
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::{Stream, StreamExt as _, future::ready};
use k8s_openapi::{
    api::core::v1::{ConfigMap, Namespace, Secret},
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use kube::{
    Client, Resource, ResourceExt as _,
    core::ObjectMeta,
    runtime::{
        Controller,
        controller::{self, Action},
        reflector::ObjectRef,
    },
};
use kube_dev_apiserver::{Config, Fault, On, Server};
use kube_endpoints_testing::LIMIT;
use kube_informer::runtime::Caches;
use serde_json::json;
use tokio::{task::JoinSet, time::timeout};

use super::{Cluster, map_ref, named, names, next};

fn never(_: Arc<ConfigMap>, error: &io::Error, _: Arc<()>) -> Action {
    panic!("{error}")
}

/// Returns the names of the first `count` reconciled objects.
async fn reconciled(
    results: impl Stream<Item = Result<(ObjectRef<ConfigMap>, Action), impl std::error::Error>>,
    count: usize,
) -> Vec<String> {
    let names = results.take(count).map(|result| result.expect("reconciled").0.name).collect();
    timeout(LIMIT, names).await.expect("reconciled objects")
}

// kube: runner_should_wait_for_readiness, runner_should_dedupe_while_waiting_for_readiness
#[tokio::test(start_paused = true)]
async fn a_controller_starts_when_the_first_list_is_stored() {
    let server = Server::in_process(Config::default()).unwrap();
    let slow = Duration::from_secs(20);
    server.faults().inject(Fault::delay_request(slow, slow).on(On::any().resource("configmaps")).times(1));
    let caches = Caches::new(Client::new(server.service(), "default"));
    let cluster = Cluster { server, caches, running: JoinSet::new() }.run();
    for name in ["a", "b", "c"] {
        cluster.create(name);
    }
    let cache = cluster.caches.of::<ConfigMap>();
    let store = cache.store();
    // Each object is triggered twice, once by a stream that does not wait for the store.
    let early = futures::stream::iter(["a", "b", "c"].map(map_ref)).chain(futures::stream::pending());
    let sizes = Arc::new(Mutex::new(Vec::new()));
    let reconcile = {
        let (store, sizes) = (store.clone(), sizes.clone());
        move |_, _| {
            sizes.lock().unwrap().push(store.len());
            ready(Ok::<_, io::Error>(Action::await_change()))
        }
    };
    let mut results = Controller::for_shared_stream(cache.applied_objects(), store.clone())
        .reconcile_on(early)
        .run(reconcile, never, Arc::new(()))
        .boxed();
    assert!(timeout(slow / 2, results.next()).await.is_err(), "the first list is not stored");
    let reconciled = reconciled(&mut results, 3).await.into_iter().collect::<BTreeSet<_>>();
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
        let cache = caches.of::<ConfigMap>();
        let controller = Controller::for_shared_stream(cache.applied_objects(), cache.store());
        let reconcile = |_, _| ready(Ok::<_, io::Error>(Action::await_change()));
        let results = controller.run(reconcile, never, Arc::new(())).collect::<Vec<_>>();
        let run = caches.run();
        match pause {
            // The future is polled never, once, or for a while.
            None => drop(run),
            Some(pause) => drop(timeout(pause, run).await),
        }
        let results = timeout(LIMIT, results).await.expect("the end");
        assert!(matches!(&results[..], [Err(controller::Error::RunnerError(_))]), "{pause:?}: {results:?}");
        let late = caches.of::<Secret>();
        assert_eq!(next(&mut late.touched_objects().boxed()).await, None, "a cache that is added later has ended");
        assert!(timeout(LIMIT, late.store().wait_until_ready()).await.unwrap().is_err());
    }
}

// kube: applier_must_not_deadlock_if_reschedule_buffer_fills
#[tokio::test(start_paused = true)]
async fn immediate_requeues_of_many_objects_do_not_block_the_controller() {
    const OBJECTS: usize = 500;
    let mut cluster = Cluster::start();
    let maps: Vec<_> = (0..OBJECTS)
        .map(|it| json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": format!("map-{it}"), "namespace": "default" } }))
        .collect();
    cluster.server.load(maps).unwrap();
    let cache = cluster.caches.of::<ConfigMap>();
    let reconcile = |_, _| ready(Ok::<_, io::Error>(Action::requeue(Duration::ZERO)));
    let controller = Controller::for_shared_stream(cache.applied_objects(), cache.store());
    let mut results = controller.run(reconcile, never, Arc::new(())).boxed();
    let reconciled = reconciled(&mut results, 3 * OBJECTS).await;
    assert_eq!(reconciled.iter().collect::<BTreeSet<_>>().len(), OBJECTS);
    cluster.running.shutdown().await;
    timeout(LIMIT, results.for_each(|_| ready(()))).await.expect("the controller ends with its trigger");
}

fn owner<K: Resource<DynamicType = ()>>(name: &str, uid: &str) -> OwnerReference {
    OwnerReference {
        api_version: K::api_version(&()).into(),
        kind: K::kind(&()).into(),
        name: name.to_owned(),
        uid: uid.to_owned(),
        ..OwnerReference::default()
    }
}

// kube: trigger_self_maps_owned_and_shared_objects, trigger_owners_shared_only_enqueues_matching_owner_kind,
// trigger_others_enqueues_every_mapped_object
#[tokio::test(start_paused = true)]
async fn owned_and_watched_objects_trigger_their_owners_alone() {
    let cluster = Cluster::start();
    let uid = cluster.create("owner").uid().unwrap();
    for name in ["one", "other", "namespace"] {
        cluster.create(name);
    }
    let (maps, secrets) = (cluster.caches.of::<ConfigMap>(), cluster.caches.of::<Secret>());
    let namespaces = cluster.caches.of::<Namespace>();
    let watched = namespaces.touched_objects().filter(|it| ready(it.name_any() == "watched"));
    let reconcile = |_, _| ready(Ok::<_, io::Error>(Action::await_change()));
    let mut results = Controller::for_shared_stream(maps.applied_objects(), maps.store())
        .owns_shared_stream(secrets.touched_objects())
        .watches_shared_stream(watched, |_| ["one", "other"].map(map_ref))
        .run(reconcile, never, Arc::new(()))
        .boxed();
    let all = reconciled(&mut results, 4).await;
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 4, "each object triggers itself once: {all:?}");

    let owners = vec![owner::<ConfigMap>("owner", &uid), owner::<Namespace>("namespace", "u")];
    let metadata = ObjectMeta { owner_references: Some(owners), ..named("owned") };
    let secret = Secret { metadata, ..Secret::default() };
    cluster.server.typed::<Secret>().create(&secret).unwrap();
    assert_eq!(reconciled(&mut results, 1).await, ["owner"]);
    cluster.server.typed::<Secret>().delete("owned").unwrap();
    assert_eq!(reconciled(&mut results, 1).await, ["owner"], "also by its deletion");

    let namespace = Namespace { metadata: named("watched"), ..Namespace::default() };
    cluster.server.typed::<Namespace>().create(&namespace).unwrap();
    assert_eq!(
        reconciled(&mut results, 2).await.into_iter().collect::<BTreeSet<_>>(),
        ["one", "other"].map(str::to_owned).into()
    );
    assert!(timeout(LIMIT, results.next()).await.is_err(), "nothing else is reconciled");
}
