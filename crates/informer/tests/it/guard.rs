//! Lists that would remove many objects of a store, from an API server whose lists are wrong or that has lost the objects.

mod confirmation;
mod restored;
mod world;

use std::time::Duration;

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube_dev_apiserver::{Fault, On};
use kube_endpoints_testing::{
    eventually,
    lies::{EMPTY, Lie, Lies},
};
use kube_informer::{CacheState, HeldList, Informer, wait_for_sync};
use rstest::rstest;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use world::{World, config_map, name};

use crate::thing::Thing;

const NAMESPACE: &str = "default";
const THINGS: usize = 100;
/// Longest time from the relist to the list that confirms a held one: back-off, and 15 s plus a tenth.
const CONFIRMED: Duration = Duration::from_secs(20);

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[rstest]
#[case::for_a_second(1)]
#[case::for_ten_seconds(10)]
#[tokio::test(start_paused = true)]
async fn empty_list_that_is_right_again_in_time_removes_nothing(#[case] wrong_for: u64) {
    let world = World::start().await;
    world.lies.begin("configmaps", EMPTY);
    world.relist();
    assert_eq!(world.until_held().await, HeldList { stored: THINGS, missing: THINGS, changed: 0 });
    assert!(matches!(
        world.informer.progress().at(Instant::now()),
        CacheState::Held { since, .. } if since < seconds(1)
    ));
    sleep(seconds(wrong_for)).await;
    assert_eq!(world.stored(), THINGS);
    world.lies.end();
    sleep(CONFIRMED).await;
    assert_eq!((world.stored(), world.deletions(), world.reads()), (THINGS, 0, 0));
    assert_eq!(world.outcomes.all(), ["held", "withdrawn"]);
    assert!(world.held().is_none(), "stored");
    assert!(matches!(world.informer.progress().at(Instant::now()), CacheState::Synced { .. }));

    world.client.create(&config_map(500, true)).await.expect("created");
    eventually("the next event", &(THINGS + 1), async || world.stored()).await;
}

/// Lists that hide most objects, for an hour. `reject_reads`: the objects cannot be read either.
#[rstest]
#[case::empty(EMPTY, THINGS, false)]
#[case::most_hidden(Lie::Only("shown=true"), 60, false)]
#[case::most_hidden_and_forbidden(Lie::Only("shown=true"), 60, true)]
#[tokio::test(start_paused = true)]
async fn list_that_the_server_contradicts_stays_held(
    #[case] lie: Lie,
    #[case] missing: usize,
    #[case] reject_reads: bool,
) {
    let world = World::start().await;
    world.lies.begin("configmaps", lie);
    if reject_reads {
        world.server.faults().inject(Fault::reject(403).on(On::any().verb("get")));
    }
    world.relist();
    assert_eq!(world.until_held().await, HeldList { stored: THINGS, missing, changed: 0 });
    for _ in 0..60 {
        sleep(seconds(60)).await;
        let state = world.informer.progress().at(Instant::now());
        assert!(matches!(state, CacheState::Held { idle, .. } if idle < seconds(180)), "{state:?}");
    }
    assert_eq!((world.stored(), world.deletions()), (THINGS, 0));
    let outcomes = world.outcomes.all();
    assert_eq!(outcomes[0], "held");
    assert!(outcomes[1..].iter().all(|it| *it == "contradicted"), "{outcomes:?}");
    assert!((25..40).contains(&outcomes.len()), "{} lists in an hour", outcomes.len());
    assert_eq!(world.reads(), outcomes.len() - 1, "the first read contradicts the list");

    world.lies.end();
    sleep(seconds(140)).await;
    assert_eq!((world.stored(), world.deletions()), (THINGS, 0));
    assert_eq!(world.outcomes.all().last(), Some(&"withdrawn"));
}

#[tokio::test(start_paused = true)]
async fn older_state_removes_nothing() {
    let world = World::start_with(Lies::default(), 10).await;
    let version = world.informer.lister().last_resource_version().to_string();
    for thing in 10..THINGS {
        world.client.create(&config_map(thing, true)).await.expect("created");
    }
    eventually("things", &THINGS, async || world.stored()).await;
    world.lies.begin("configmaps", Lie::At(version));
    world.relist();
    assert_eq!(world.until_held().await, HeldList { stored: THINGS, missing: 90, changed: 0 });
    sleep(seconds(60)).await;
    world.lies.end();
    sleep(seconds(70)).await;
    assert_eq!((world.stored(), world.deletions()), (THINGS, 0));
    assert_eq!(world.outcomes.all().last(), Some(&"withdrawn"));
    world.delete(0..1).await;
    eventually("the next event", &(THINGS - 1), async || world.stored()).await;
}

#[tokio::test(start_paused = true)]
async fn objects_that_are_gone_are_removed_after_the_second_list() {
    let world = World::start().await;
    world.while_away(async || world.delete(20..THINGS).await).await;
    world.until_held().await;
    let held = Instant::now();
    assert_eq!(world.stored(), THINGS);
    eventually("things", &20, async || world.stored()).await;
    let delay = held.elapsed();
    assert!(delay >= seconds(14) && delay < seconds(17), "{delay:?}");
    assert_eq!((world.deletions(), world.reads()), (80, 5));
    assert_eq!(world.outcomes.all(), ["held", "confirmed"]);
    assert!(world.held().is_none());
    world.delete(0..1).await;
    eventually("the next event", &19, async || world.stored()).await;
}

/// Half of the things is not more than half, so that no second list is needed.
#[tokio::test(start_paused = true)]
async fn many_objects_that_are_gone_are_removed_after_reads() {
    let world = World::start_with(Lies::default(), 2 * THINGS).await;
    world.while_away(async || world.delete(0..THINGS).await).await;
    let relisted = Instant::now();
    eventually("things", &THINGS, async || world.stored()).await;
    assert!(relisted.elapsed() < seconds(5), "{:?}", relisted.elapsed());
    assert_eq!((world.deletions(), world.reads()), (THINGS, 5));
    assert_eq!(world.outcomes.all(), ["confirmed"]);
}

/// An authorizer hides half of the namespaces.
#[tokio::test(start_paused = true)]
async fn list_without_many_objects_that_exist_is_held() {
    let world = World::start_with(Lies::default(), 2 * THINGS).await;
    world.lies.begin("configmaps", Lie::Only("half=odd"));
    world.relist();
    assert_eq!(world.until_held().await, HeldList { stored: 2 * THINGS, missing: THINGS, changed: 0 });
    sleep(seconds(600)).await;
    assert_eq!((world.stored(), world.deletions()), (2 * THINGS, 0));
    assert!(world.outcomes.all().iter().all(|it| *it == "contradicted"), "{:?}", world.outcomes.all());
    world.lies.end();
    sleep(seconds(140)).await;
    assert_eq!((world.stored(), world.deletions(), world.held()), (2 * THINGS, 0, None));
    assert_eq!(world.outcomes.all().last(), Some(&"withdrawn"));
}

/// Objects of the same name are no longer those of the store.
#[tokio::test(start_paused = true)]
async fn objects_that_were_created_again_do_not_contradict_a_list() {
    let world = World::start().await;
    world.lies.begin("configmaps", Lie::Only("shown=true"));
    world
        .while_away(async || {
            world.delete(40..THINGS).await;
            for thing in 40..THINGS {
                world.client.create(&config_map(thing, true)).await.expect("created");
            }
        })
        .await;
    world.until_held().await;
    eventually("things", &40, async || world.stored()).await;
    assert_eq!(world.outcomes.all(), ["held", "confirmed"]);
}

#[tokio::test(start_paused = true)]
async fn few_objects_are_removed_at_once() {
    let world = World::start().await;
    world.while_away(async || world.delete(50..THINGS).await).await;
    eventually("things", &50, async || world.stored()).await;
    assert_eq!(world.outcomes.all(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn deletions_on_the_watch_are_applied_at_once() {
    let world = World::start().await;
    let start = Instant::now();
    world.delete(0..THINGS).await;
    eventually("things", &0, async || world.stored()).await;
    assert!(start.elapsed() < seconds(1), "{:?}", start.elapsed());
    assert_eq!((world.deletions(), world.outcomes.all()), (THINGS, Vec::new()));
}

/// Objects that are listed but do not count any more need no reads.
#[tokio::test(start_paused = true)]
async fn objects_that_do_not_count_any_more_are_confirmed_by_the_second_list() {
    let world = World::start().await;
    let unready = async || world.informer.lister().list().iter().filter(|it| it.data["ready"] == "false").count();
    world
        .while_away(async || {
            for thing in 0..80 {
                world.client.update(&config_map(thing, false)).await.expect("updated");
            }
        })
        .await;
    assert_eq!(world.until_held().await, HeldList { stored: THINGS, missing: 0, changed: 80 });
    assert_eq!(unready().await, 0);
    eventually("things that do not count", &80, unready).await;
    assert_eq!((world.outcomes.all(), world.reads()), (vec!["held", "confirmed"], 0));
}

#[tokio::test(start_paused = true)]
async fn first_list_is_not_checked() {
    let lies = Lies::default();
    lies.begin("configmaps", EMPTY);
    let world = World::start_with(lies, THINGS).await;
    assert_eq!(world.stored(), 0);
    world.lies.end();
    world.relist();
    eventually("things", &THINGS, async || world.stored()).await;
    assert_eq!(world.outcomes.all(), [""; 0]);
}

/// While a list is held, own writes are stored and a store does not count as current.
#[tokio::test(start_paused = true)]
async fn own_writes_continue_while_a_list_is_held() {
    let world = World::start().await;
    let writes = world.informer.write_through(&world.informer.store_synced());
    world.lies.begin("configmaps", EMPTY);
    world.relist();
    world.until_held().await;

    let current = |millis| {
        let caught_up = world.informer.catch_up(seconds(1));
        async move { timeout(Duration::from_millis(millis), caught_up).await.is_ok() }
    };
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
    assert!(!current(100_000).await, "held lists and own writes do not make the store current");
    assert_eq!(is_right(), (THINGS, true, false), "after several lists");
    assert!(world.outcomes.all().contains(&"contradicted"));

    world.lies.end();
    assert!(current(200_000).await, "the list of the most recent state is stored");
    assert_eq!(is_right(), (THINGS, true, false));
    assert_eq!(world.outcomes.all().last(), Some(&"withdrawn"));
}
