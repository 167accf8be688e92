//! Slices with the addresses of Pods on a secondary network, as Multus attaches it and writes them into an annotation of
//! the Pod. The network is named by an annotation of the Service, which has no selector.
//!
//!     cargo run -p kube-endpointslice --example secondary_network

#[cfg(not(test))]
mod support;
#[cfg(test)]
use crate::support;

use std::sync::Arc;

use kube_controller_client::Client;
use kube_controller_program::Controller;
use kube_endpoint_model::{
    Address, AddressType, Addresses, AnnotationKeys, Annotations, Endpoint, IpFamily, LabelIndex, ObjectKey, Pod,
    Service, With, membership, parse_sloppy,
};
use kube_endpointslice::{DesiredGroup, Input, Options, Owner, Reconciled, Reconciler, SliceLabels, endpoint_at};
use kube_informer::{Lister, NamedIndexes};
use serde_json::Value;
use support::Result;
use tokio_util::sync::CancellationToken;

/// Annotation of a Service: the network of its endpoints.
const NETWORK: &str = "example.com/network";
/// Annotation of a Service: the label `app` of its Pods. For a selector, Kubernetes would also create slices.
const APP: &str = "example.com/app";
/// Annotation of a Pod: a JSON array of its networks, with their `name` and `ips`.
const STATUS: &str = "k8s.v1.cni.cncf.io/network-status";

struct Keys;

impl AnnotationKeys for Keys {
    fn keeps(key: &str) -> bool {
        [NETWORK, APP, STATUS].contains(&key)
    }
}

type Annotated<T> = With<T, Annotations<Keys>>;

struct Context {
    services: Lister<Annotated<Service>, NamedIndexes<Annotated<Service>>>,
    pods: Lister<Annotated<Pod>, LabelIndex<Annotated<Pod>>>,
    reconciler: Reconciler,
}

pub(crate) const NAME: &str = "networks.example.com";

pub(crate) async fn run(client: Client, stop: CancellationToken) -> Result<()> {
    let controller = Controller::new(NAME, client);
    let app = |it: &Annotated<Service>| Vec::from_iter(it.part.get(APP).map(|app| format!("{}/{app}", it.namespace)));
    let services = controller.informer().index(NamedIndexes::new().with("app", app)).build();
    let pods = controller.informer().index(LabelIndex::default()).build();
    // Without placeholders, since consumers may read other slices of the same Service.
    let options = Options::for_services(NAME).placeholder(false);
    let slices = controller.informer().index(options.slice_index()).build();
    let reconciler = Reconciler::builder(controller.client().clone(), options).slices(&slices).build();
    let controller = controller.primary(&services).owns_slices(&reconciler);
    let controller = controller.watches(&pods, |pod: &Annotated<Pod>, services| {
        let app = format!("{}/{}", pod.namespace, pod.labels.get("app").unwrap_or_default());
        services.bucket("app", &app).map(|it| ObjectKey::new(&*it.namespace, &*it.name)).collect::<Vec<_>>()
    });
    Ok(controller.run(stop, Context { services: services.lister(), pods: pods.lister(), reconciler }, sync).await?)
}

async fn sync(context: Arc<Context>, key: ObjectKey) -> Result<Reconciled> {
    let Context { services, pods, reconciler } = &*context;
    let Some(service) = services.get(&key.namespace, &key.name) else {
        reconciler.forget(&key);
        return Ok(Reconciled::default());
    };
    let annotation = |name| service.part.get(name).unwrap_or_default();
    let selector = [("app", annotation(APP))].into_iter().collect();
    let pods = pods.read(|_, index| index.select(&key.namespace, &selector));
    let desired = [IpFamily::V4, IpFamily::V6].map(|family| {
        let endpoints = pods.iter().filter_map(|pod| endpoint(pod, annotation(NETWORK), family)).collect();
        DesiredGroup { address_type: family.into(), ports: support::numbered_ports(&service), endpoints }
    });
    let (owner, labels) = (Owner::service(&service), SliceLabels::for_service(&service));
    let (types, existing) = ([AddressType::IPv4, AddressType::IPv6], reconciler.existing_slices(&key).await?);
    Ok(reconciler.reconcile(Input::new(&owner, &types, desired.into(), &existing).labels(&labels), None).await?)
}

/// Returns the endpoint of a Pod; `None` if it is finished or has no address of the family on the network.
fn endpoint(pod: &Annotated<Pod>, network: &str, family: IpFamily) -> Option<Endpoint> {
    let status: Value = serde_json::from_str(pod.part.get(STATUS)?).ok()?;
    let networks = status.as_array()?.iter().filter(|it| it["name"] == network);
    let ips = networks.filter_map(|it| it["ips"].as_array()).flatten().filter_map(Value::as_str);
    let addresses = ips.filter_map(|ip| parse_sloppy(ip).map(Address::from));
    let addresses: Addresses = addresses.filter(|address| address.family() == Some(family)).collect();
    (!addresses.is_empty() && membership::exclusion(pod, true).is_none()).then(|| endpoint_at(pod, addresses))
}

#[cfg(not(test))]
#[tokio::main]
async fn main() -> Result<()> {
    support::until_ctrl_c(async |stop| run(support::client().await?, stop).await).await
}
