//! Slices for an `inference.networking.k8s.io/v1` `InferencePool`: the Pods of model servers that it selects, for a
//! gateway that reads slices. No Service gets their endpoints, and kube-proxy ignores the slices. The status gets the number
//! of ready endpoints, in a field that the definition of the Gateway API prunes: add it to a definition of your own. The
//! names of the controller and of its Lease, and the address of probes and metrics, come from the command line.
//!
//!     cargo run -p kube-endpointslice --example inference_pool -- pools.example.com default/pools 127.0.0.1:8090

use std::sync::Arc;

use kube_controller_program::{CancellationToken, Client, Controller, LeaseName, Lister, OnUndecodable};
use kube_endpoint_model::well_known::SERVICE_PROXY_NAME_LABEL;
use kube_endpoint_model::{
    AddressType, EndpointPort, Labels, Node, ObjectKey, ObjectMeta, Pod, PodIndex, Resource, Selecting, SelectorIndex,
};
use kube_endpointslice::{
    DesiredGroup, Input, Options, Owner, Reconciled, Reconciler, SliceLabels, desired_endpoints_from_pods,
};
use serde::Deserialize;
use serde_json::json;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Fields of the custom resource that the controller reads.
#[derive(Deserialize)]
struct InferencePool {
    metadata: ObjectMeta,
    spec: Spec,
    #[serde(default)]
    status: Status,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    ready_endpoints: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    selector: Selector,
    target_ports: Vec<Port>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Selector {
    match_labels: Labels,
}

#[derive(Deserialize)]
struct Port {
    number: i32,
}

const POOLS: Resource = Resource::namespaced("inference.networking.k8s.io", "v1", "inferencepools", "InferencePool");
kube_controller_program::object!(InferencePool, POOLS);

impl Selecting for InferencePool {
    fn selector(&self) -> Option<&Labels> {
        Some(&self.spec.selector.match_labels)
    }
}

struct Context {
    client: Client,
    pools: Lister<InferencePool, SelectorIndex<InferencePool>>,
    pods: Lister<Pod, PodIndex>,
    nodes: Lister<Node>,
    reconciler: Reconciler,
}

pub(crate) async fn run(controller: Controller, lease: LeaseName, stop: CancellationToken) -> Result<()> {
    // A pool that cannot be decoded has no endpoints.
    let pools = controller.informer().index(SelectorIndex::default()).on_undecodable(|_| OnUndecodable::Skip).build();
    let (pods, nodes) = (controller.informer().index(PodIndex::default()).build(), controller.informer().build());
    let options = Options::new(controller.name()).owner_label("inference.networking.k8s.io/pool").placeholder(false);
    let slices = controller.informer().index(options.slice_index()).build();
    let reconciler = Reconciler::builder(controller.client().clone(), options).slices(&slices).build();
    let (client, pools_lister) = (controller.client().clone(), pools.lister());
    let context = Context { client, pools: pools_lister, pods: pods.lister(), nodes: nodes.lister(), reconciler };
    let controller = controller
        .primary(&pools)
        .watches(&pods, |pod: &Pod, pools| pools.keys(&pod.namespace, &pod.labels))
        .caches(&nodes)
        .owns_slices(&context.reconciler)
        .with_leader_election(lease);
    Ok(controller.run(stop, context, sync).await?)
}

async fn sync(context: Arc<Context>, key: ObjectKey) -> Result<Reconciled> {
    let Context { client, pools, pods, nodes, reconciler } = &*context;
    let Some(pool) = pools.get(&key.namespace, &key.name) else {
        reconciler.forget(&key);
        return Ok(Reconciled::default());
    };
    let pods = pods.read(|_, index| index.select(&key.namespace, &pool.spec.selector.match_labels));
    let named = |number| Some(format!("http-{number}").into());
    let port = |it: &Port| EndpointPort { name: named(it.number), port: Some(it.number), ..EndpointPort::default() };
    let ports: Vec<EndpointPort> = pool.spec.target_ports.iter().map(port).collect();
    let desired = desired_endpoints_from_pods(&pods, &ports, |name| nodes.get("", name));
    let ready = desired.iter().map(DesiredGroup::ready_count).max();
    let owner = Owner::of_resource(&POOLS, &pool.metadata);
    let ignored = (SERVICE_PROXY_NAME_LABEL, &*reconciler.options().controller);
    let labels = pool.metadata.labels.with([ignored]);
    let (labels, existing) = (SliceLabels::carry(&labels), reconciler.existing_slices(&key).await?);
    let types = [AddressType::IPv4, AddressType::IPv6];
    let done = reconciler.reconcile(Input::new(&owner, &types, desired, &existing).labels(&labels), None).await?;
    if pool.status.ready_endpoints != ready {
        // A sync with an old cache fails, and is retried.
        let version = &pool.metadata.resource_version;
        let patch = json!({"metadata": {"resourceVersion": version}, "status": {"readyEndpoints": ready}});
        client.merge_patch::<InferencePool>(&key.namespace, &key.name, Some("status"), &patch).await?;
    }
    Ok(done)
}

#[cfg(not(test))]
#[tokio::main]
async fn main() -> Result<()> {
    use kube_controller_program::{ClientOptions, Config, PrometheusMetrics, stop_on_signals};
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, lease, address] = &arguments[..] else {
        return Err("usage: inference_pool <name> <namespace>/<lease> <address of probes and metrics>".into());
    };
    let ObjectKey { namespace, name: lease } = lease.parse()?;
    let metrics = PrometheusMetrics::register(prometheus::default_registry())?;
    let client = Client::with_metrics(&Config::infer().await?, ClientOptions::default(), &metrics)?;
    let controller =
        Controller::with_metrics(name.as_str(), client, &metrics).serve(tokio::net::TcpListener::bind(address).await?);
    run(controller, LeaseName::new(&*namespace, &*lease), stop_on_signals()?).await
}
