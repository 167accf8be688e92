//! Lists that lack many objects, from an API server whose lists are wrong or that has lost the objects.

mod references;
mod world;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Uri};
use http_body_util::Full;
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube_controller_client::Config;
use kube_dev_apiserver::{Fault, On};
use kube_endpoints_testing::eventually;
use kube_informer::{CacheState, HeldList};
use rstest::rstest;
use tokio::time::{Instant, sleep, timeout};
use tower::ServiceExt as _;
use world::{World, config_map, hide, name, server};

use crate::thing::Thing;

const NAMESPACE: &str = "default";
const THINGS: usize = 100;
/// Longest time between two lists while one is held: 10 s, and a tenth.
const RECHECKED: Duration = Duration::from_secs(11);

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn missing(held: Option<HeldList>) -> usize {
    held.map_or(0, |held| held.missing)
}

/// Lists that hide all objects but the first `keep`. `reject_reads`: the process may not read single objects, and lists
/// them by name.
#[rstest]
#[case::empty_for_a_second(0, 1, false)]
#[case::empty_for_ten_minutes(0, 600, false)]
#[case::most(40, 600, false)]
#[case::most_and_reads_are_forbidden(40, 600, true)]
#[tokio::test(start_paused = true)]
async fn objects_that_wrong_lists_lack_stay_and_everything_else_goes_on(
    #[case] keep: usize,
    #[case] wrong_for: u64,
    #[case] reject_reads: bool,
) {
    let world = World::start().await;
    if reject_reads {
        world.server.faults().inject(Fault::reject(403).on(On::any().verb("get")));
    }
    let fault = hide(&world.server, keep);
    world.relist();
    let held = world.until_held().await;
    assert_eq!((held.missing, held.found), (THINGS - keep, true));
    assert_eq!(world.stored(), THINGS);
    assert!(matches!(
        world.informer.progress().at(Instant::now()),
        CacheState::Held { since, .. } if since < seconds(1)
    ));
    // Until the list that follows the held one: its watch goes on, too.
    sleep(Duration::from_millis(1_500)).await;
    world.client.create(&config_map(500, true)).await.expect("created");
    eventually("an addition", &(THINGS + 1), async || world.stored()).await;
    world.delete(0..1).await;
    eventually("a deletion", &THINGS, async || world.stored()).await;
    world.client.update(&config_map(1, false)).await.expect("updated");
    let data = async || world.informer.lister().get(NAMESPACE, &name(1)).map(|it| it.data["ready"].clone());
    eventually("a change", &Some("false".to_owned()), data).await;
    assert_eq!(world.deletions(), 1);
    sleep(seconds(wrong_for)).await;
    assert_eq!((world.stored(), world.deletions()), (THINGS, 0));
    let lists = world.metrics.guarded().len();
    assert!(lists <= 6 + usize::try_from(wrong_for).expect("fits") / 10, "{lists} lists in {wrong_for} s");

    world.server.faults().remove(fault);
    sleep(RECHECKED).await;
    assert_eq!((world.stored(), world.deletions(), world.held()), (THINGS, 0, None));
    assert_eq!(world.metrics.guarded().last().map(String::as_str), Some("withdrawn"));
    assert!(matches!(world.informer.progress().at(Instant::now()), CacheState::Synced { .. }));
}

/// Returns the URI of a list at this version in place of that of any list of things. A streaming list becomes one without
/// `resourceVersionMatch`, which servers reject.
fn at_version(uri: &Uri, version: &str) -> Option<Uri> {
    let (path, query) = (uri.path(), uri.query().unwrap_or_default());
    let changed = match (query.contains("watch=true"), query.contains("sendInitialEvents=true")) {
        (true, false) => return None,
        (true, true) => "watch=true&sendInitialEvents=true".to_owned(),
        (false, _) => format!("resourceVersion={version}&resourceVersionMatch=Exact"),
    };
    path.ends_with("/configmaps").then(|| format!("{path}?{changed}").parse().expect("a valid URI"))
}

#[tokio::test(start_paused = true)]
async fn older_state_removes_nothing() {
    let server = server(10);
    let old_version = Arc::new(Mutex::new(None::<String>));
    let service = server.service().map_request({
        let old_version = Arc::clone(&old_version);
        move |mut request: Request<Full<Bytes>>| {
            let version = old_version.lock().expect("not poisoned");
            if let Some(uri) = version.as_ref().and_then(|version| at_version(request.uri(), version)) {
                *request.uri_mut() = uri;
            }
            request
        }
    });
    let world = World::start_with(server, &Config::from_service(service)).await;
    let version = world.informer.lister().last_resource_version().to_string();
    for thing in 10..THINGS {
        world.client.create(&config_map(thing, true)).await.expect("created");
    }
    eventually("things", &THINGS, async || world.stored()).await;
    *old_version.lock().expect("not poisoned") = Some(version);
    world.relist();
    assert_eq!(world.until_held().await.missing, 90);
    sleep(seconds(60)).await;
    *old_version.lock().expect("not poisoned") = None;
    sleep(RECHECKED).await;
    assert_eq!((world.stored(), world.deletions()), (THINGS, 0));
    assert!(world.held().is_none());
    world.delete(0..1).await;
    eventually("the next event", &(THINGS - 1), async || world.stored()).await;
}

/// Objects that are gone are removed without another list, whatever their share of the cache.
#[rstest]
#[case::most(80, 5)]
#[case::all(THINGS, 5)]
#[case::few(50, 0)]
#[tokio::test(start_paused = true)]
async fn objects_that_are_gone_are_removed_at_once(#[case] gone: usize, #[case] reads: usize) {
    let world = World::start().await;
    world.while_away(async || world.delete(0..gone).await).await;
    let relisted = Instant::now();
    eventually("things", &(THINGS - gone), async || world.stored()).await;
    assert!(relisted.elapsed() < seconds(3), "{:?}", relisted.elapsed());
    assert_eq!((world.deletions(), world.reads(), world.held()), (gone, reads, None));
    assert_eq!(world.metrics.guarded(), vec!["confirmed"; usize::from(reads > 0)]);
}

/// Objects of the same name are no longer those of the store.
#[tokio::test(start_paused = true)]
async fn objects_that_were_created_again_do_not_contradict_a_list() {
    let world = World::start().await;
    hide(&world.server, 40);
    world
        .while_away(async || {
            world.delete(40..THINGS).await;
            for thing in 40..THINGS {
                world.client.create(&config_map(thing, true)).await.expect("created");
            }
        })
        .await;
    eventually("things", &40, async || world.stored()).await;
    assert_eq!(world.metrics.guarded(), ["confirmed"]);
}

#[tokio::test(start_paused = true)]
async fn deletions_on_the_watch_are_applied_at_once() {
    let world = World::start().await;
    let start = Instant::now();
    world.delete(0..THINGS).await;
    eventually("things", &0, async || world.stored()).await;
    assert!(start.elapsed() < seconds(1), "{:?}", start.elapsed());
    assert_eq!((world.deletions(), world.metrics.guarded()), (THINGS, vec![]));
}

/// A list that is right in part must not remove the others.
#[tokio::test(start_paused = true)]
async fn a_few_objects_that_a_list_after_a_held_one_lacks_are_read_as_well() {
    let world = World::start().await;
    let fault = hide(&world.server, 0);
    world.relist();
    world.until_held().await;
    world.server.faults().remove(fault);
    hide(&world.server, THINGS / 2);
    eventually("missing things", &50, async || missing(world.held())).await;
    sleep(seconds(60)).await;
    assert_eq!((world.stored(), world.deletions()), (THINGS, 0));
    world.delete(0..THINGS).await;
    eventually("things", &0, async || world.stored()).await;
}

/// Reads that fail prove nothing.
#[tokio::test(start_paused = true)]
async fn failed_reads_hold_a_list_until_they_are_answered() {
    let world = World::start().await;
    let failing = world.server.faults().inject(Fault::reject(500).on(On::any().verb("get")));
    world.while_away(async || world.delete(0..THINGS).await).await;
    assert!(!world.until_held().await.found);
    sleep(seconds(60)).await;
    assert_eq!(world.stored(), THINGS);
    world.server.faults().remove(failing);
    sleep(RECHECKED).await;
    assert_eq!((world.stored(), world.held()), (0, None));
}

/// Own writes are stored while a list is held, and are not undone by its successors.
#[tokio::test(start_paused = true)]
async fn own_writes_continue_while_a_list_is_held() {
    let world = World::start().await;
    let writes = world.informer.write_through(&world.informer.store_synced());
    let fault = hide(&world.server, 0);
    world.relist();
    world.until_held().await;

    let metadata =
        ObjectMeta { name: Some("own".to_owned()), namespace: Some(NAMESPACE.to_owned()), ..ObjectMeta::default() };
    let write = writes.begin(NAMESPACE, "own");
    let created = world.client.create(&ConfigMap { metadata, ..ConfigMap::default() }).await.expect("created");
    let thing = world.client.get::<Thing>(NAMESPACE, "own").await.expect("read");
    assert_eq!(Some(thing.metadata.resource_version.to_string()), created.metadata.resource_version);
    write.written(thing);
    let stored = world.informer.lister().get(NAMESPACE, &name(7)).expect("stored");
    let write = writes.begin(NAMESPACE, &name(7));
    world.delete(7..8).await;
    write.deleted(&stored);
    let is_right = || {
        let lister = world.informer.lister();
        (lister.len(), lister.get(NAMESPACE, "own").is_some(), lister.get(NAMESPACE, &name(7)).is_some())
    };
    assert_eq!(is_right(), (THINGS, true, false));
    sleep(seconds(100)).await;
    assert_eq!(is_right(), (THINGS, true, false), "after several lists");
    world.server.faults().remove(fault);
    sleep(RECHECKED).await;
    assert_eq!((is_right(), world.held()), ((THINGS, true, false), None));
}

/// etcd was restored to a state without most objects, so that reads do not find them.
#[tokio::test(start_paused = true)]
async fn a_restored_state_is_believed() {
    let world = World::start_on(server(10)).await;
    let snapshot = world.server.snapshot();
    for thing in 10..THINGS {
        world.client.create(&config_map(thing, true)).await.expect("created");
    }
    eventually("things", &THINGS, async || world.stored()).await;
    world.server.restore(&snapshot);
    eventually("things", &10, async || world.stored()).await;
    assert_eq!(world.metrics.guarded(), ["confirmed"]);
    timeout(seconds(60), world.informer.catch_up(seconds(1))).await.expect("the list is of the restored state");
}
