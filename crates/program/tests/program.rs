//! Programs against the embedded API server.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use k8s_openapi::api::{coordination::v1::Lease, core::v1::ConfigMap};
use kube_controller::Metrics;
use kube_controller_client::{Client, ClientOptions, Config};
use kube_controller_program::{Program, ProgramError};
use kube_dev_apiserver::Server;
use kube_informer::{Informer, Lister};
use kube_lease_election::{LeaseName, Timing};
use kube_wire::{Object as _, ObjectKey};
use serde_json::json;
use tokio::{sync::watch, task::JoinSet};
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

/// Copies data into an annotation.
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
    Client::new(config, ClientOptions { timeouts: Timing::default().timeouts(), ..<_>::default() }).unwrap()
}

#[tokio::test]
async fn objects_are_synced_and_failed_keys_are_retried() {
    let (server, config) = start().await;
    let client = client(&config);
    let config_maps = Informer::<ConfigMap>::builder(client.clone()).field_selector("metadata.name=a").build();
    let (context, mut synced) = context(&client, &config_maps, 2);
    let stop = CancellationToken::new();
    let program = Program::new("copy", client, Metrics::default()).primary(&config_maps).concurrency(2);
    let mut tasks = JoinSet::new();
    tasks.spawn(program.run(stop.clone(), context, sync));
    synced.wait_for(|count| *count > 0).await.unwrap();
    assert_eq!(copy(&server).as_deref(), Some("1"));
    server.typed::<ConfigMap>().patch("a", &json!({"data": {"x": "2"}})).unwrap();
    while copy(&server).as_deref() != Some("2") {
        synced.changed().await.unwrap();
    }
    stop.cancel();
    tasks.join_next().await.unwrap().unwrap().unwrap();
    server.shutdown().await;
}

#[tokio::test]
async fn keys_of_other_objects_are_synced() {
    let (server, config) = start().await;
    let client = client(&config);
    let config_maps = Informer::<ConfigMap>::builder(client.clone()).build();
    let (context, mut synced) = context(&client, &config_maps, 0);
    let stop = CancellationToken::new();
    // Every ConfigMap stands for `default/a`.
    let program = Program::new("copy", client, Metrics::default())
        .watches(&config_maps, "config maps", |object| [ObjectKey::new(&object.key().namespace, "a")]);
    let mut tasks = JoinSet::new();
    tasks.spawn(program.run(stop.clone(), context, sync));
    synced.wait_for(|count| *count > 0).await.unwrap();
    assert_eq!(copy(&server).as_deref(), Some("1"));
    stop.cancel();
    tasks.join_next().await.unwrap().unwrap().unwrap();
    server.shutdown().await;
}

#[tokio::test]
async fn only_the_leader_syncs_and_the_lease_is_released() {
    let (server, config) = start().await;
    let lease = || LeaseName { namespace: "default".to_owned(), name: "copy".to_owned() };
    let run = |stop: &CancellationToken| {
        let program = Program::new("copy", client(&config), Metrics::default());
        let program = program.with_leader_election(client(&config), lease());
        let config_maps = Informer::<ConfigMap>::builder(program.client().clone()).build();
        let (context, synced) = context(program.client(), &config_maps, 0);
        (program.primary(&config_maps).run(stop.clone(), context, sync), synced)
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
    // Somebody takes the Lease away.
    server.typed::<Lease>().patch("copy", &json!({"spec": {"holderIdentity": "intruder"}})).unwrap();
    let lost = tasks.join_next().await.unwrap().unwrap().unwrap_err();
    assert!(matches!(lost, ProgramError::LeaseLost), "{lost}");
    server.shutdown().await;
}
