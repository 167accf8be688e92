//! Lists that would remove many objects of a store, from an API server whose lists are wrong or that has lost the objects.

mod confirmation;
mod restored;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::{Fault, History, On, Server};
use kube_endpoints_testing::{
    eventually,
    lies::{EMPTY, Lie, Lies},
    until,
};
use kube_informer::{
    CacheState, Guard, GuardOutcome, HandlerMetrics, HeldList, Informer, InformerMetrics, InformerMetricsProvider,
    RelistCause, RestoreSignal, wait_for_sync,
};
use kube_wire::{Resource, ResourceVersion};
use rstest::rstest;
use serde_json::{Value, json};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    log::{Log, record},
    thing::Thing,
};

const NAMESPACE: &str = "default";
const THINGS: usize = 100;
/// Longest time from the relist to the list that confirms a held one: back-off, and 15 s plus a tenth.
const CONFIRMED: Duration = Duration::from_secs(20);

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Records the decisions on guarded lists.
#[derive(Clone, Default)]
struct Outcomes(Arc<Mutex<Vec<&'static str>>>);

impl Outcomes {
    fn all(&self) -> Vec<&'static str> {
        self.0.lock().expect("not poisoned").clone()
    }
}

impl InformerMetricsProvider for Outcomes {
    fn informer(&self, _: &Resource) -> Arc<dyn InformerMetrics> {
        Arc::new(self.clone())
    }
}

impl InformerMetrics for Outcomes {
    fn listed(&self, _: usize, _: Duration) {}
    fn list_failed(&self) {}
    fn watch_opened(&self) {}
    fn relist(&self, _: RelistCause) {}
    fn undecodable(&self) {}
    fn undecodable_objects(&self, _: usize) {}
    fn processed(&self, _: Duration) {}
    fn stored(&self, _: &ResourceVersion, _: usize) {}

    fn guarded(&self, outcome: GuardOutcome) {
        self.0.lock().expect("not poisoned").push(outcome.as_str());
    }

    fn handler(&self, _: &str) -> Arc<dyn HandlerMetrics> {
        Arc::new(Silent)
    }
}

struct Silent;

impl HandlerMetrics for Silent {
    fn queued(&self, _: usize) {}
    fn delivered(&self, _: usize) {}
    fn lag(&self, _: Duration) {}
}

/// An API server with things, and an informer with a guard whose lists may be wrong.
struct World {
    server: Server,
    lies: Lies,
    client: Client,
    informer: Informer<Thing>,
    restores: RestoreSignal,
    outcomes: Outcomes,
    /// Changes other than the initial list.
    events: Log,
    tasks: JoinSet<()>,
}

fn name(thing: usize) -> String {
    format!("thing-{thing:03}")
}

fn object(thing: usize, ready: bool) -> Value {
    let shown = if thing < 40 { "true" } else { "false" };
    let half = if thing.is_multiple_of(2) { "even" } else { "odd" };
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": {"ready": ready.to_string()},
        "metadata": {"name": name(thing), "namespace": NAMESPACE, "labels": {"shown": shown, "half": half}},
    })
}

fn config_map(thing: usize, ready: bool) -> ConfigMap {
    serde_json::from_value(object(thing, ready)).expect("a ConfigMap")
}

fn watches() -> On {
    On::any().verb("watch").resource("configmaps")
}

impl World {
    async fn start() -> Self {
        Self::start_with(Lies::default(), THINGS).await
    }

    /// Starts a server with this number of things, and an informer, which has synced.
    async fn start_with(lies: Lies, things: usize) -> Self {
        let server = Server::in_process(kube_dev_apiserver::Config::default()).expect("a server");
        server.load((0..things).map(|thing| object(thing, true))).expect("things");
        let options = || ClientOptions { qps: 0.0, ..ClientOptions::default() };
        let client = Client::new(&Config::from_service(server.service()), options()).expect("a client");
        let reader = Client::new(&Config::from_service(lies.service(server.service())), options()).expect("a client");
        let guard = Guard::counting(|thing: &Thing| thing.data.get("ready").is_some_and(|it| it == "true"));
        let (outcomes, restores) = (Outcomes::default(), RestoreSignal::default());
        let informer = Informer::<Thing>::builder(reader)
            .namespace(NAMESPACE)
            .guard(guard)
            .restores(restores.clone())
            .metrics(outcomes.clone())
            .build();
        let (events, handler) = record(&informer);
        let mut tasks = JoinSet::new();
        tasks.spawn(informer.run(CancellationToken::new()));
        wait_for_sync([&handler], seconds(30)).await.expect("the informer syncs");
        events.take();
        Self { server, lies, client, informer, restores, outcomes, events, tasks }
    }

    fn stored(&self) -> usize {
        self.informer.lister().len()
    }

    fn held(&self) -> Option<HeldList> {
        *self.informer.held_list().borrow()
    }

    /// Ends the watch so that the informer relists.
    fn relist(&self) {
        self.server.faults().inject(Fault::expired().on(watches()).times(1));
        self.server.faults().cut_watches(&watches());
    }

    async fn until_held(&self) -> HeldList {
        until("held list", async || self.held(), Option::is_some).await.expect("held")
    }

    /// Runs `change` while the informer has no watch, and makes it relist afterwards.
    async fn while_away(&self, change: impl AsyncFnOnce()) {
        let away = self.server.faults().inject(Fault::unavailable().on(watches().verb("list")));
        self.server.faults().cut_watches(&watches());
        change().await;
        self.server.faults().remove(away);
        self.server.restart(History::Lost);
    }

    async fn delete(&self, things: std::ops::Range<usize>) {
        for thing in things {
            self.client.delete::<ConfigMap>(NAMESPACE, &name(thing), None).await.expect("deleted");
        }
    }

    fn reads(&self) -> usize {
        self.server.requests().count(&On::any().verb("get").resource("configmaps"))
    }

    /// Returns the number of deletions that the handler got since the last call.
    fn deletions(&self) -> usize {
        self.events.take().matches("Deleted").count()
    }
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
