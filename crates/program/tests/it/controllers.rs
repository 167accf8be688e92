//! Controllers against the embedded API server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use k8s_openapi::api::{
    coordination::v1::Lease,
    core::v1::{ConfigMap, Node, Pod},
};
use kube_controller_client::{Client, ClientOptions, Config, Error};
use kube_controller_program::{Controller, ControllerError};
use kube_dev_apiserver::{Fault, On, Server, Transport, User};
use kube_informer::{Informer, Lister, NamedIndexes, OnUndecodable};
use kube_lease_election::LeaseName;
use kube_wire::{Decode as _, Dynamic, Object as _, ObjectKey};
use serde_json::json;
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{advance, pause, resume, timeout},
};
use tokio_util::sync::CancellationToken;

/// Annotation that the controller under test copies the data to.
const COPY: &str = "example.com/copy";

struct Context {
    client: Client,
    config_maps: Lister<ConfigMap>,
    fail: AtomicUsize,
    synced: watch::Sender<usize>,
}

#[derive(Debug)]
struct Refused;

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("refused")
    }
}

impl std::error::Error for Refused {}

async fn sync(context: Arc<Context>, key: ObjectKey) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    if context.fail.load(SeqCst) > 0 {
        context.fail.fetch_sub(1, SeqCst);
        return Err(Refused.into());
    }
    let Some(object) = context.config_maps.get(&key.namespace, &key.name) else { return Ok(()) };
    let data = object.data.as_ref().and_then(|data| data.get("x"));
    let copy = object.metadata.annotations.as_ref().and_then(|it| it.get(COPY));
    if data != copy {
        let patch = json!({"metadata": {"annotations": {COPY: data}}});
        context.client.merge_patch::<ConfigMap>(&key.namespace, &key.name, None, &patch).await?;
    }
    context.synced.send_modify(|count| *count += 1);
    Ok(())
}

async fn start() -> (Server, Config) {
    let server = Server::start(kube_dev_apiserver::Config::default()).await.unwrap();
    let config = Config::from_kubeconfig_text(&server.kubeconfig()).unwrap();
    let object = serde_json::from_value(json!({"metadata": {"name": "a"}, "data": {"x": "1"}})).unwrap();
    server.typed::<ConfigMap>().create(&object).unwrap();
    (server, config)
}

fn context(client: &Client, config_maps: &Informer<ConfigMap>, fail: usize) -> (Context, watch::Receiver<usize>) {
    let (synced, receiver) = watch::channel(0);
    let (client, config_maps) = (client.clone(), config_maps.lister());
    (Context { client, config_maps, fail: fail.into(), synced }, receiver)
}

fn copy(server: &Server) -> Option<String> {
    server.typed::<ConfigMap>().get("a").unwrap().metadata.annotations?.remove(COPY)
}

fn client(config: &Config) -> Client {
    Client::new(config, ClientOptions::default()).unwrap()
}

/// Stops the controller, which must succeed, and the server.
async fn end(server: Server, stop: &CancellationToken, mut tasks: JoinSet<Result<(), ControllerError>>) {
    stop.cancel();
    tasks.join_next().await.unwrap().unwrap().unwrap();
    server.shutdown().await;
}

#[tokio::test]
async fn objects_are_synced_and_failed_keys_are_retried() {
    let (server, config) = start().await;
    let client = client(&config);
    let controller = Controller::new("copy", client);
    let config_maps = controller.informer().field_selector("metadata.name=a").build();
    let (context, mut synced) = context(controller.client(), &config_maps, 2);
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    tasks.spawn(controller.primary(&config_maps).concurrency(2).run(stop.clone(), context, sync));
    synced.wait_for(|count| *count > 0).await.unwrap();
    assert_eq!(copy(&server).as_deref(), Some("1"));
    server.typed::<ConfigMap>().patch("a", &json!({"data": {"x": "2"}})).unwrap();
    while copy(&server).as_deref() != Some("2") {
        synced.changed().await.unwrap();
    }
    end(server, &stop, tasks).await;
}

#[tokio::test]
async fn keys_of_other_objects_are_synced() {
    let (server, config) = start().await;
    let client = client(&config);
    let controller = Controller::new("copy", client);
    let config_maps = controller.informer().build();
    let (context, mut synced) = context(controller.client(), &config_maps, 0);
    let stop = CancellationToken::new();
    // Every ConfigMap is mapped to `default/a`.
    let controller =
        controller.watches(&config_maps, |object: &ConfigMap, ()| [ObjectKey::new(&object.key().namespace, "a")]);
    let mut tasks = JoinSet::new();
    tasks.spawn(controller.run(stop.clone(), context, sync));
    synced.wait_for(|count| *count > 0).await.unwrap();
    assert_eq!(copy(&server).as_deref(), Some("1"));
    end(server, &stop, tasks).await;
}

#[tokio::test]
async fn only_the_leader_syncs_and_the_lease_is_released() {
    let (server, config) = start().await;
    let run = |stop: &CancellationToken| {
        let controller = Controller::new("copy", client(&config));
        let config_maps = controller.informer().build();
        let (context, synced) = context(controller.client(), &config_maps, 0);
        let controller = controller.primary(&config_maps).with_leader_election(LeaseName::new("default", "copy"));
        (controller.run(stop.clone(), context, sync), synced)
    };
    let (first, second) = (CancellationToken::new(), CancellationToken::new());
    let mut tasks = JoinSet::new();
    let (leader, mut synced) = run(&first);
    tasks.spawn(leader);
    synced.wait_for(|count| *count > 0).await.unwrap();
    assert_eq!(copy(&server).as_deref(), Some("1"));
    let (standby, mut synced) = run(&second);
    tasks.spawn(standby);
    first.cancel();
    tasks.join_next().await.unwrap().unwrap().unwrap();
    synced.wait_for(|count| *count > 0).await.unwrap();
    let holder = server.typed::<Lease>().get("copy").unwrap().spec.unwrap().holder_identity.unwrap_or_default();
    assert!(!holder.is_empty());
    // Another client takes the Lease away.
    server.typed::<Lease>().patch("copy", &json!({"spec": {"holderIdentity": "intruder"}})).unwrap();
    let lost = tasks.join_next().await.unwrap().unwrap().unwrap_err();
    assert!(matches!(lost, ControllerError::LeaseLost), "{lost}");
    server.shutdown().await;
}

/// Returns the keys of the `ConfigMaps` that name a Lease, by their index.
fn naming(lease: &Lease, config_maps: &NamedIndexes<ConfigMap>) -> Vec<ObjectKey> {
    config_maps.bucket("lease", lease.name()).map(|it| it.key()).collect()
}

fn config_map(name: &str, lease: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}, "data": {"lease": lease}})).unwrap()
}

fn lease(name: &str) -> Lease {
    serde_json::from_value(json!({"metadata": {"name": name, "namespace": "default"}})).unwrap()
}

#[tokio::test]
async fn other_objects_are_mapped_through_the_index_of_the_primary_ones() {
    let (server, config) = start().await;
    for (name, lease) in [("one", "s"), ("two", "s"), ("three", "t")] {
        server.typed::<ConfigMap>().create(&config_map(name, lease)).unwrap();
    }
    // Names may come from flags.
    let controller = Controller::new(format!("copy-{}", 1), client(&config));
    assert_eq!(controller.name(), "copy-1");
    let lease_of = |it: &ConfigMap| it.data.iter().filter_map(|data| data.get("lease").cloned()).collect();
    let config_maps = controller.informer().index(NamedIndexes::new().with("lease".to_owned(), lease_of)).build();
    let leases = controller.informer().build();
    let (synced, mut keys) = tokio::sync::mpsc::unbounded_channel();
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    let controller = controller.primary(&config_maps).watches(&leases, naming);
    tasks.spawn(controller.run(stop.clone(), synced, async |synced, key| synced.send(key.name)));
    let mut next = async |count: usize| {
        let mut names = Vec::new();
        while names.len() < count {
            names.push(keys.recv().await.unwrap().to_string());
        }
        names.sort();
        names
    };
    assert!(next(4).await.contains(&"three".to_owned()), "the initial contents");
    server.typed::<Lease>().create(&lease("s")).unwrap();
    assert_eq!(next(2).await, ["one", "two"]);
    end(server, &stop, tasks).await;
}

/// Its resource versions are lower than those of the cluster of the controller.
#[tokio::test]
async fn objects_of_another_cluster_are_mapped_while_leading() {
    let ((server, config), (other, config_of_other)) = (start().await, start().await);
    for name in ["b", "c", "d"] {
        server.typed::<ConfigMap>().create(&config_map(name, "")).unwrap();
    }
    let controller = Controller::new("copy", client(&config));
    let config_maps = Informer::<ConfigMap>::builder(client(&config_of_other)).build();
    let (synced, mut keys) = tokio::sync::mpsc::unbounded_channel();
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    let controller = controller.watches(&config_maps, |object: &ConfigMap, ()| [object.key()]);
    let controller = controller.with_leader_election(LeaseName::new("default", "copy"));
    tasks.spawn(controller.run(stop.clone(), synced, async |synced, key| synced.send(key.name)));
    let first = timeout(Duration::from_secs(300), keys.recv()).await.unwrap();
    assert_eq!(first.as_deref(), Some("a"));
    other.typed::<ConfigMap>().create(&config_map("z", "")).unwrap();
    assert_eq!(keys.recv().await.as_deref(), Some("z"));
    end(server, &stop, tasks).await;
    other.shutdown().await;
}

#[tokio::test]
async fn no_key_is_synced_before_all_caches_are_filled() {
    let (server, config) = start().await;
    server.typed::<Lease>().create(&lease("s")).unwrap();
    let late = Duration::from_millis(500);
    server.faults().inject(Fault::delay_request(late, late).on(On::any().resource("leases")));
    let controller = Controller::new("reads", client(&config));
    let (config_maps, leases) = (controller.informer::<ConfigMap>().build(), controller.informer().build());
    let (seen, mut counts) = tokio::sync::mpsc::unbounded_channel();
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    let context: (Lister<Lease>, _) = (leases.lister(), seen);
    let controller = controller.primary(&config_maps).caches(&leases);
    tasks.spawn(controller.run(stop.clone(), context, async |context, _| context.1.send(context.0.len())));
    assert_eq!(counts.recv().await, Some(1));
    end(server, &stop, tasks).await;
}

#[tokio::test]
async fn a_client_that_was_taken_before_the_election_was_set_writes_only_while_leading() {
    let (server, config) = start().await;
    let controller = Controller::new("copy", client(&config));
    let client = controller.client().clone();
    client.create(&lease("before")).await.unwrap();
    let controller = controller.with_leader_election(LeaseName::new("default", "copy"));
    assert!(matches!(client.create(&lease("between")).await, Err(Error::Gated { .. })));
    let config_maps = controller.informer().build();
    let (context, mut synced) = context(&client, &config_maps, 0);
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    tasks.spawn(controller.primary(&config_maps).run(stop.clone(), context, sync));
    synced.wait_for(|count| *count > 0).await.unwrap();
    client.create(&lease("leading")).await.unwrap();
    stop.cancel();
    tasks.join_next().await.unwrap().unwrap().unwrap();
    assert!(matches!(client.create(&lease("after")).await, Err(Error::Gated { .. })));
    server.shutdown().await;
}

#[tokio::test]
async fn an_informer_that_fails_ends_the_controller_with_the_name_of_the_object() {
    /// A `ConfigMap` whose data must be numbers.
    #[derive(serde::Deserialize)]
    struct Numbers {
        metadata: kube_wire::ObjectHead,
        #[serde(default, rename = "data")]
        _data: std::collections::BTreeMap<String, u32>,
    }
    kube_wire::object!(Numbers, kube_wire::Resource::namespaced("", "v1", "configmaps", "ConfigMap"));

    let (server, config) = start().await;
    let controller = Controller::new("numbers", client(&config));
    let numbers = controller.informer::<Numbers>().on_undecodable(|_| OnUndecodable::Fail).build();
    let controller = controller.primary(&numbers);
    let ended = controller.run(CancellationToken::new(), (), async |_, _| Ok::<(), Error>(())).await.unwrap_err();
    let chain = format!("{ended}: {}", std::error::Error::source(&ended).unwrap());
    assert!(chain.contains("configmaps default/a cannot be decoded"), "{chain}");
    server.shutdown().await;
}

#[tokio::test]
async fn new_credentials_in_the_kubeconfig_are_used() {
    let config = kube_dev_apiserver::Config { transport: Transport::Tls, ..kube_dev_apiserver::Config::default() };
    let server = Server::start(config).await.unwrap();
    server.typed::<ConfigMap>().create(&config_map("a", "")).unwrap();
    let (folder, kubeconfig_for) =
        (tempfile::tempdir().unwrap(), |user| server.kubeconfig_for(User::new(user).group("system:masters")));
    let path = folder.path().join("kubeconfig");
    std::fs::write(&path, kubeconfig_for("alice")).unwrap();
    let controller = Controller::new("copy", client(&Config::from_kubeconfig(&path).await.unwrap()));
    let config_maps = controller.informer().build();
    let (context, mut synced) = context(controller.client(), &config_maps, 0);
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    tasks.spawn(controller.primary(&config_maps).run(stop.clone(), context, sync));
    // Returns the user of the next write.
    let mut writer = async |x: &str| {
        server.typed::<ConfigMap>().patch("a", &json!({"data": {"x": x}})).unwrap();
        synced.wait_for(|_| copy(&server).as_deref() == Some(x)).await.unwrap();
        server.requests().matching(&On::any().verb("patch")).pop().unwrap().user
    };
    assert_eq!(writer("1").await, "alice");
    std::fs::write(&path, kubeconfig_for("bob")).unwrap();
    pause();
    advance(Duration::from_secs(30)).await;
    resume();
    let rotated = async {
        for x in 2.. {
            if writer(&x.to_string()).await == "bob" {
                break;
            }
        }
    };
    timeout(Duration::from_secs(60), rotated).await.expect("new credentials are not used");
    end(server, &stop, tasks).await;
}

/// A list of every resource is needed at the start of a term, since none of them changes. The requests of one must not wait
/// for those of another.
#[tokio::test]
async fn caches_catch_up_at_the_same_time() {
    let (server, config) = start().await;
    let controller = Controller::new("copy", client(&config));
    let config_maps = controller.informer().build();
    let others = [Node::RESOURCE, Pod::RESOURCE].map(|it| controller.informer::<Dynamic>().resource(it).build());
    let (context, mut synced) = context(controller.client(), &config_maps, 0);
    let controller = controller.primary(&config_maps).caches(&others[0]).caches(&others[1]);
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    tasks.spawn(controller.with_leader_election(LeaseName::new("default", "copy")).run(stop.clone(), context, sync));
    synced.wait_for(|count| *count > 0).await.unwrap();
    let requests = server.requests().all();
    let paths: Vec<&str> = requests.iter().map(|it| it.path.as_str()).collect();
    let versions: Vec<usize> =
        paths.iter().enumerate().filter(|(_, it)| it.ends_with("?limit=1")).map(|it| it.0).collect();
    assert_eq!(versions.len(), 3, "one of each resource: {paths:#?}");
    let meanwhile = &paths[versions[0]..versions[2]];
    assert!(meanwhile.iter().all(|it| !it.contains("sendInitialEvents")), "a new list before: {meanwhile:#?}");
    end(server, &stop, tasks).await;
}
