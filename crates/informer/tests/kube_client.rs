//! Informers over a client of `kube`, on the embedded API server with TLS.

#[expect(dead_code, reason = "shared with the other tests")]
#[path = "it/thing.rs"]
mod thing;

use std::{collections::BTreeMap, time::Duration};

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    Api,
    api::{DeleteParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use kube_dev_apiserver::{Fault, On, Server, Transport, User};
use kube_endpoints_testing::{LIMIT, eventually, until};
use kube_informer::{BackoffPolicy, Builder, Event, Guard, HandlerHandle, Informer, WriteError as _, wait_for_sync};
use kube_wire::{Decode, DecodeError, DecodeProblem, Object, Resource, ResourceVersion, Uid};
use tokio::{sync::mpsc, task::JoinSet};
use tokio_util::sync::CancellationToken;

use thing::Thing;

/// A thing that cannot be decoded from JSON.
#[derive(Debug, Clone, PartialEq)]
struct Packed(Thing);

impl Object for Packed {
    fn namespace(&self) -> &str {
        self.0.namespace()
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn uid(&self) -> Uid {
        self.0.uid()
    }

    fn resource_version(&self) -> ResourceVersion {
        self.0.resource_version()
    }
}

impl Decode for Packed {
    const RESOURCE: Resource = Thing::RESOURCE;
    const PROTOBUF: bool = true;

    fn from_json(_: &[u8]) -> Result<Self, DecodeError> {
        Err(DecodeError::new("ConfigMap", DecodeProblem::Encoding("JSON")))
    }

    fn from_protobuf(bytes: &[u8]) -> Result<Self, DecodeError> {
        Thing::from_protobuf(bytes).map(Self)
    }
}

/// A server, and a client of `kube` for user alice, with its configuration.
struct World {
    server: Server,
    client: kube::Client,
    config_maps: Api<ConfigMap>,
    tasks: JoinSet<()>,
    stop: CancellationToken,
}

impl World {
    async fn new() -> Self {
        let config = kube_dev_apiserver::Config { transport: Transport::Tls, ..Default::default() };
        let server = Server::start(config).await.expect("starts");
        let kubeconfig = Kubeconfig::from_yaml(&server.kubeconfig_for(User::new("alice"))).expect("a kubeconfig");
        let config =
            kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.expect("a context");
        let client = kube::Client::try_from(config).expect("a client");
        let config_maps = Api::namespaced(client.clone(), "shop");
        server.typed::<k8s_openapi::api::core::v1::Namespace>().create(&named("shop")).expect("created");
        Self { server, client, config_maps, tasks: JoinSet::new(), stop: CancellationToken::new() }
    }

    /// Returns the builder of an informer that retries fast.
    fn builder<T: Decode>(&self) -> Builder<T> {
        let fast = Duration::from_millis(10);
        let backoff = BackoffPolicy { initial: fast, max: fast, ..BackoffPolicy::default() };
        Informer::builder(self.client.clone()).namespace("shop").backoff(backoff)
    }

    /// Runs an informer until its first list is stored; returns its events.
    async fn run<T: Decode>(&mut self, informer: &Informer<T>) -> (HandlerHandle, Events) {
        let (sender, events) = mpsc::unbounded_channel();
        let handler = informer.add_handler(move |event: Event<T>| drop(sender.send(format!("{event:?}"))));
        self.tasks.spawn(informer.run(self.stop.clone()));
        wait_for_sync([&handler], LIMIT).await.expect("synced");
        (handler, Events(events))
    }

    async fn create(&self, name: &str) -> ConfigMap {
        self.config_maps.create(&PostParams::default(), &config_map(name)).await.expect("created")
    }

    /// Returns the lists and watches that the server received.
    fn reads(&self) -> Vec<String> {
        let requests = self.server.requests().matching(&On::any().user("alice").resource("configmaps"));
        let reads = requests.iter().filter(|it| ["list", "watch"].contains(&it.verb.as_str()));
        reads
            .map(|it| {
                let kind = if it.path.contains("sendInitialEvents=true") { "stream" } else { it.verb.as_str() };
                format!("{kind} {}", it.status.map_or("open".to_owned(), |status| status.to_string()))
            })
            .collect()
    }

    /// Cuts the watches and resets the following ones. Returns the fault.
    fn break_watches(&self) -> u64 {
        let faults = self.server.faults();
        let fault = faults.inject(Fault::reset().on(On::any().verb("watch")));
        faults.cut_watches(&On::any());
        fault
    }

    /// Ends the fault of [`break_watches`](Self::break_watches); the version of the next watch has expired, so that the
    /// informer relists.
    fn expire_watch(&self, broken: u64) {
        let faults = self.server.faults();
        faults.inject(Fault::expired().on(On::any().verb("watch")).times(1));
        faults.remove(broken);
    }

    async fn end(self) {
        self.stop.cancel();
        self.tasks.join_all().await;
        self.server.shutdown().await;
    }
}

struct Events(mpsc::UnboundedReceiver<String>);

impl Events {
    /// Waits for an event, and returns it without the version.
    async fn next(&mut self) -> String {
        let event = tokio::time::timeout(LIMIT, self.0.recv()).await.expect("in time");
        let event = event.expect("the informer runs");
        event.split('@').next().unwrap_or_default().to_owned()
    }
}

fn config_map(name: &str) -> ConfigMap {
    let data = Some(BTreeMap::from([("group".to_owned(), name.to_owned())]));
    ConfigMap { metadata: metadata(name), data, ..ConfigMap::default() }
}

fn metadata(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }
}

fn named(name: &str) -> k8s_openapi::api::core::v1::Namespace {
    k8s_openapi::api::core::v1::Namespace { metadata: metadata(name), ..Default::default() }
}

#[tokio::test]
async fn informer_lists_watches_and_resumes() {
    let mut world = World::new().await;
    world.create("a").await;
    let informer = world.builder::<ConfigMap>().build();
    let (_, mut events) = world.run(&informer).await;
    assert_eq!(events.next().await, "Added(initial) shop/a");
    world.create("b").await;
    assert_eq!(events.next().await, "Added shop/b");

    assert_eq!(world.server.faults().cut_watches(&On::any()), 1);
    world.create("c").await;
    assert_eq!(events.next().await, "Added shop/c");
    // The watch ended early: the version of the server is compared before the watch is resumed.
    let reads = async || world.reads();
    eventually("requests", &["stream 200", "list 200", "watch 200"].map(str::to_owned).to_vec(), reads).await;
    let data = informer.lister().get("shop", "c").expect("stored").data.clone().unwrap_or_default();
    assert_eq!(data["group"], "c");
    world.end().await;
}

#[tokio::test]
async fn expired_watch_causes_a_relist() {
    let mut world = World::new().await;
    world.create("a").await;
    let informer = world.builder::<Thing>().build();
    let (_, mut events) = world.run(&informer).await;
    assert_eq!(events.next().await, "Added(initial) shop/a");
    let broken = world.break_watches();
    world.config_maps.delete("a", &DeleteParams::default()).await.expect("deleted");
    world.create("b").await;
    world.expire_watch(broken);
    let mut relisted = [events.next().await, events.next().await];
    relisted.sort();
    assert_eq!(relisted, ["Added shop/b", "Deleted(tombstone) shop/a"]);
    assert!(world.reads().join(", ").ends_with("watch 200, stream 200"), "{:?}", world.reads());
    world.end().await;
}

#[tokio::test]
async fn server_without_streaming_lists_is_listed_in_pages() {
    let mut world = World::new().await;
    world.create("a").await;
    world.server.faults().inject(Fault::reject(422).on(On::any().verb("watch")).times(1));
    let informer = world.builder::<Thing>().build();
    let (_, mut events) = world.run(&informer).await;
    assert_eq!(events.next().await, "Added(initial) shop/a");
    world.create("b").await;
    assert_eq!(events.next().await, "Added shop/b");
    assert_eq!(world.reads(), ["stream 422", "list 200", "watch 200"]);
    world.end().await;
}

#[tokio::test]
async fn protobuf_is_requested_and_decoded() {
    let mut world = World::new().await;
    world.create("a").await;
    let informer = world.builder::<Packed>().build();
    let (_, mut events) = world.run(&informer).await;
    world.create("b").await;
    assert_eq!([events.next().await, events.next().await], ["Added(initial) shop/a", "Added shop/b"]);
    let stored = informer.lister().get("shop", "b").expect("stored");
    assert_eq!(stored.0.data["group"], "b");
    world.end().await;
}

#[tokio::test]
async fn broken_response_and_busy_server_are_retried() {
    let mut world = World::new().await;
    world.create("a").await;
    let faults = world.server.faults();
    faults.inject(Fault::reset().on(On::any().verb("watch")).times(2));
    faults.inject(Fault::too_many_requests(Duration::from_secs(1)).on(On::any().verb("watch")).times(1));
    let informer = world.builder::<Thing>().build();
    let (_, mut events) = world.run(&informer).await;
    assert_eq!(events.next().await, "Added(initial) shop/a");
    world.server.faults().assert_spent();
    world.end().await;
}

#[tokio::test]
async fn own_writes_are_stored_ahead_of_the_watch() {
    let mut world = World::new().await;
    let informer = world.builder::<ConfigMap>().build();
    let (handler, mut events) = world.run(&informer).await;
    world.server.faults().inject(Fault::delay_events(Duration::from_secs(1), Duration::from_secs(1)));
    let writes = informer.write_through(&handler);

    let write = writes.begin("shop", "own");
    write.written(world.create("own").await);
    assert!(informer.lister().get("shop", "own").is_some(), "before the event");
    let write = writes.begin("shop", "own");
    let error = world.config_maps.create(&PostParams::default(), &config_map("own")).await.expect_err("exists");
    assert!(!error.may_have_been_applied(), "{error}");
    write.failed(&error);

    world.server.faults().inject(Fault::apply_then_reset().on(On::writes()).times(1));
    let error = world.config_maps.create(&PostParams::default(), &config_map("lost")).await.expect_err("no response");
    assert!(error.may_have_been_applied(), "{error}");
    assert_eq!(events.next().await, "Added shop/lost", "no event of the own write");
    world.end().await;
}

#[tokio::test]
async fn guard_reads_objects_before_it_confirms_a_list() {
    let mut world = World::new().await;
    for name in ["a", "b", "c"] {
        world.create(name).await;
    }
    let guard = Guard { free: 1 };
    let informer = world.builder::<Thing>().guard(guard).build();
    world.run(&informer).await;
    let broken = world.break_watches();
    for name in ["a", "b", "c"] {
        world.config_maps.delete(name, &DeleteParams::default()).await.expect("deleted");
    }
    world.expire_watch(broken);
    until("the confirmed list", async || informer.lister().len(), |len| *len == 0).await;
    let reads = world.server.requests().matching(&On::any().verb("get").resource("configmaps").user("alice"));
    assert!(!reads.is_empty() && reads.iter().all(|it| it.status == Some(404)), "{reads:?}");
    world.end().await;
}

#[tokio::test]
async fn store_catches_up_with_the_server() {
    let mut world = World::new().await;
    let informer = world.builder::<Thing>().build();
    world.run(&informer).await;
    world.server.faults().inject(Fault::delay_events(Duration::from_millis(200), Duration::from_millis(200)));
    for name in ["a", "b"] {
        world.create(name).await;
    }
    informer.catch_up(Duration::from_secs(30)).await;
    assert_eq!(informer.lister().len(), 2);
    world.end().await;
}
