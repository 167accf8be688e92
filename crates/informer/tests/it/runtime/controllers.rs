//! Controllers of `kube` over caches.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::{StreamExt as _, future::ready};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Secret};
use kube::{
    Api, Client, Resource as _, ResourceExt as _,
    api::{Patch, PatchParams, PostParams},
    core::ObjectMeta,
    runtime::{
        controller::Action,
        finalizer::{Event, finalizer},
        reflector::ObjectRef,
    },
};
use kube_dev_apiserver::{Config, On};
use kube_endpoints_testing::{LIMIT, eventually};
use kube_informer::runtime::Caches;
use serde_json::json;
use tokio::task::JoinSet;

use super::World;

type Reconciled = Arc<Mutex<Vec<String>>>;

struct Context {
    client: Client,
    reconciled: Reconciled,
}

fn retry<K>(_: Arc<K>, _: &kube::Error, _: Arc<Context>) -> Action {
    Action::requeue(Duration::from_secs(60))
}

/// Creates a Secret that the config map owns, and records the call.
async fn reconcile(map: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, kube::Error> {
    context.reconciled.lock().expect("no panic").push(map.name_any());
    let secrets: Api<Secret> = Api::namespaced(context.client.clone(), "default");
    let owner_references = map.controller_owner_ref(&()).map(|owner| vec![owner]);
    let metadata = ObjectMeta { name: Some(map.name_any()), owner_references, ..ObjectMeta::default() };
    match secrets.create(&PostParams::default(), &Secret { metadata, ..Secret::default() }).await {
        Err(kube::Error::Api(status)) if status.code == 409 => {}
        created => drop(created?),
    }
    Ok(Action::await_change())
}

/// Starts a controller of config maps with Secrets that they own, and Nodes that name one in a label.
fn start(caches: &Caches, tasks: &mut JoinSet<()>) -> Reconciled {
    let reconciled = Reconciled::default();
    let controller = caches
        .of::<ConfigMap>()
        .controller()
        .owns_shared_stream(caches.of::<Secret>().touched_objects())
        .watches_shared_stream(caches.of::<Node>().touched_objects(), |node| {
            node.labels().get("config").map(|name| ObjectRef::new(name).within("default"))
        });
    let context = Arc::new(Context { client: caches.client(), reconciled: reconciled.clone() });
    tasks.spawn(controller.run(reconcile, retry, context).for_each(|_| ready(())));
    reconciled
}

/// Waits until the reconciler was called, and returns the names.
async fn calls(reconciled: &Reconciled, at_least: usize) -> Vec<String> {
    let enough = async || reconciled.lock().expect("no panic").len() >= at_least;
    eventually("enough calls", &true, enough).await;
    // Debounced and superfluous calls would follow.
    tokio::time::sleep(Duration::from_secs(5)).await;
    std::mem::take(&mut *reconciled.lock().expect("no panic"))
}

#[tokio::test(start_paused = true)]
async fn a_controller_is_triggered_by_its_objects_and_those_that_it_owns_and_watches() {
    let mut world = World::with(Config { garbage_collection: true, ..Config::default() }, Caches::new);
    world.create(&["a", "b"]);
    let reconciled = start(&world.caches, &mut world.tasks);
    let mut first = calls(&reconciled, 2).await;
    first.sort();
    first.dedup();
    assert_eq!(first, ["a", "b"]);

    let secrets = world.server.typed::<Secret>();
    secrets.delete("a").unwrap();
    let after_deletion = calls(&reconciled, 1).await;
    assert!(after_deletion.iter().all(|name| name == "a"), "{after_deletion:?}");
    assert!(secrets.get("a").is_ok(), "created again");
    secrets.patch("b", &json!({"stringData": {"x": "y"}})).unwrap();
    assert_eq!(calls(&reconciled, 1).await, ["b"]);

    let nodes = world.server.typed::<Node>();
    let metadata = ObjectMeta {
        name: Some("n".to_owned()),
        labels: Some([("config".to_owned(), "a".to_owned())].into()),
        ..ObjectMeta::default()
    };
    nodes.create(&Node { metadata, ..Node::default() }).unwrap();
    assert_eq!(calls(&reconciled, 1).await, ["a"]);
    nodes.delete("n").unwrap();
    assert_eq!(calls(&reconciled, 1).await, ["a"]);
}

#[tokio::test(start_paused = true)]
async fn controllers_share_caches_also_when_they_start_late() {
    let mut world = World::start();
    world.create(&["a"]);
    let first = start(&world.caches, &mut world.tasks);
    calls(&first, 1).await;
    let second = start(&world.caches, &mut world.tasks);
    assert_eq!(calls(&second, 1).await[0], "a");
    world.create(&["b"]);
    assert!(calls(&first, 1).await.contains(&"b".to_owned()));
    assert!(calls(&second, 1).await.contains(&"b".to_owned()));
    for resource in ["configmaps", "secrets", "nodes"] {
        let watches = world.server.faults().open_watches(&On::any().resource(resource));
        assert_eq!(watches, 1, "{resource}");
    }
}

/// `finalizer()` adds its finalizer and waits for the event of that write.
#[tokio::test(start_paused = true)]
async fn finalizers_are_driven_by_own_writes() {
    async fn reconcile(map: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, kube::Error> {
        let api: Api<ConfigMap> = Api::namespaced(context.client.clone(), "default");
        let step = async |event: Event<ConfigMap>| {
            let (text, map) = match event {
                Event::Apply(map) => ("apply", map),
                Event::Cleanup(map) => ("cleanup", map),
            };
            context.reconciled.lock().unwrap().push(text.to_owned());
            let patch = Patch::Merge(json!({"data": {"seen": text}}));
            let api: Api<ConfigMap> = Api::namespaced(context.client.clone(), "default");
            if map.data.as_ref().is_none_or(|data| data.get("seen").is_none_or(|it| it != text)) {
                api.patch(&map.name_any(), &PatchParams::default(), &patch).await?;
            }
            Ok::<_, kube::Error>(Action::await_change())
        };
        finalizer(&api, "example.com/it", map, step).await.map_err(|error| kube::Error::Service(Box::new(error)))
    }

    let mut world = World::start();
    world.create(&["a"]);
    let context = Arc::new(Context { client: world.caches.client(), reconciled: Reconciled::default() });
    let reconciled = context.reconciled.clone();
    let controller = world.caches.of::<ConfigMap>().controller();
    world.tasks.spawn(controller.run(reconcile, retry, context).for_each(|_| ready(())));
    assert!(calls(&reconciled, 1).await.iter().all(|it| it == "apply"));
    let maps = world.server.typed::<ConfigMap>();
    assert_eq!(maps.get("a").unwrap().finalizers(), ["example.com/it"]);
    maps.delete("a").unwrap();
    world.server.wait_until(LIMIT, || maps.get("a").is_err().then_some(())).await.unwrap();
    assert!(calls(&reconciled, 1).await.iter().all(|it| it == "cleanup"));
}

#[tokio::test(start_paused = true)]
async fn a_controller_ends_with_its_caches() {
    let mut world = World::start();
    world.create(&["a"]);
    let mut controllers = JoinSet::new();
    let reconciled = start(&world.caches, &mut controllers);
    calls(&reconciled, 1).await;
    world.tasks.shutdown().await;
    tokio::time::timeout(LIMIT, controllers.join_next()).await.expect("ends").unwrap().unwrap();
}
