//! A controller of a custom resource that `kube` derives, and its test.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::{CustomResource, CustomResourceExt as _, Resource as _};
use kube_controller_program::{
    CancellationToken, Client, ClientOptions, Config, Controller, LeaseName, Lister, ObjectKey, Resource,
};
use kube_dev_apiserver::{Config as ServerConfig, Server};
use kube_endpoint_model::well_known::SERVICE_PROXY_NAME_LABEL;
use kube_endpoint_model::{AddressType, EndpointPort, Labels, Pod, PodIndex, Selecting, SelectorIndex};
use kube_endpointslice::{
    DesiredGroup, Input, Options, Owner, Reconciled, Reconciler, SliceLabels, desired_endpoints_from_pods,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, CustomResource, Debug, Deserialize, JsonSchema, Serialize)]
#[kube(group = "example.com", version = "v1", kind = "Pool", namespaced, status = "PoolStatus")]
struct PoolSpec {
    #[schemars(with = "BTreeMap<String, String>")]
    selector: Labels,
    port: i32,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
struct PoolStatus {
    ready: usize,
}

const POOLS: Resource = Resource::namespaced("example.com", "v1", "pools", "Pool");
kube_controller_program::object!(Pool, POOLS, write);

impl Selecting for Pool {
    fn selector(&self) -> Option<&Labels> {
        Some(&self.spec.selector)
    }
}

struct Context {
    client: Client,
    pools: Lister<Pool, SelectorIndex<Pool>>,
    pods: Lister<Pod, PodIndex>,
    reconciler: Reconciler,
}

async fn run(controller: Controller, stop: CancellationToken) -> Result<()> {
    let pools = controller.informer().index(SelectorIndex::default()).build();
    let pods = controller.informer().index(PodIndex::default()).build();
    let options = Options::new(controller.name()).placeholder(false);
    let slices = controller.informer().index(options.slice_index()).build();
    let client = controller.client().clone();
    let reconciler = Reconciler::builder(client.clone(), options).slices(&slices).build();
    let controller = controller
        .primary(&pools)
        .watches(&pods, |pod: &Pod, pools| pools.keys(&pod.namespace, &pod.labels))
        .owns_slices(&reconciler);
    let context = Context { client, pools: pools.lister(), pods: pods.lister(), reconciler };
    Ok(controller.run(stop, context, sync).await?)
}

async fn sync(context: Arc<Context>, key: ObjectKey) -> Result<Reconciled> {
    let Context { client, pools, pods, reconciler } = &*context;
    let existing = reconciler.existing_slices(&key).await?;
    let Some(pool) = pools.get(&key.namespace, &key.name) else {
        let deleted = reconciler.delete(&"Pool".into(), &key, existing).await?;
        reconciler.forget(&key);
        return Ok(deleted);
    };
    let pods = pods.read(|_, index| index.select(&key.namespace, &pool.spec.selector));
    let ports = [EndpointPort { port: Some(pool.spec.port), ..EndpointPort::default() }];
    let desired = desired_endpoints_from_pods(&pods, &ports, |_| None);
    let ready = desired.iter().map(DesiredGroup::ready_count).max().unwrap_or(0);
    let owner = Owner::of_resource(&POOLS, &pool.metadata);
    // The second label keeps kube-proxy away: see "Who reads EndpointSlices".
    let labels: Labels = pool.metadata.labels.iter().flatten().collect();
    let labels = labels.with([(SERVICE_PROXY_NAME_LABEL, "pools.example.com")]);
    let (labels, types) = (SliceLabels::carry(&labels), [AddressType::IPv4, AddressType::IPv6]);
    let done = reconciler.reconcile(Input::new(&owner, &types, desired, &existing).labels(&labels), None).await?;
    let status = Some(PoolStatus { ready });
    if pool.status != status {
        let version = &pool.metadata.resource_version;
        let patch = json!({ "metadata": { "resourceVersion": version }, "status": status });
        client.merge_patch::<Pool>(&key.namespace, &key.name, Some("status"), &patch).await?;
    }
    Ok(done)
}

/// Time limit of a wait. Time is paused, so that it costs nothing.
const LIMIT: Duration = Duration::from_secs(600);

fn pod(name: &str, ip: &str, ready: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": "edge"}},
        "spec": {"nodeName": "n1", "containers": [{"name": "main", "image": "edge"}]},
        "status": {
            "phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}],
            "conditions": [{"type": "Ready", "status": ready}],
        },
    })
}

#[tokio::test(start_paused = true)]
async fn slices_follow_pods() -> Result<()> {
    assert_eq!((Pool::url_path(&(), Some("a")), &*Pool::kind(&())), (POOLS.path(Some("a")), POOLS.kind));
    let server = Server::in_process(ServerConfig::default())?;
    server.load([serde_json::to_value(Pool::crd())?, pod("a", "10.0.0.1", "True"), pod("b", "10.0.0.2", "False")])?;
    let client = Client::new(&Config::from_service(server.service()), ClientOptions::default())?;
    let controller = Controller::new("pools.example.com", client);
    let controller = controller.with_leader_election(LeaseName::new("default", "pools"));
    let stop = CancellationToken::new();
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(run(controller, stop.clone()));

    let (pools, slices) = (server.typed_as::<Pool>("example.com", "pools"), server.typed::<EndpointSlice>());
    let selector = [("app", "edge")].into_iter().collect();
    pools.create(&Pool::new("edge", PoolSpec { selector, port: 8443 }))?;
    let status = server.wait_until(LIMIT, || pools.get("edge").ok()?.status).await?;
    assert_eq!(status, PoolStatus { ready: 1 });
    assert_eq!(slices.list()?[0].endpoints.as_ref().map(Vec::len), Some(2));

    pools.delete("edge")?;
    server.wait_until(LIMIT, || slices.list().ok()?.is_empty().then_some(())).await?;
    stop.cancel();
    tasks.join_next().await.expect("the controller")?
}
