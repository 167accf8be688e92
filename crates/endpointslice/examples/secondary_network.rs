//! Slices with the addresses of Pods on a secondary network, for a Service without a selector that names the network in
//! an annotation. The addresses are those that a CNI plugin writes into the annotation
//! `k8s.v1.cni.cncf.io/network-status` of a Pod.
//!
//!     cargo run -p kube-endpointslice --example secondary_network -- default storage

#[cfg(not(test))]
mod support;
#[cfg(test)]
use crate::support;

use k8s_openapi::api::core::v1 as core;
use kube_controller_client::Client;
use kube_endpoint_model::{
    Address, AddressType, Endpoint, EndpointConditions, IpFamily, Pod, Service, membership, parse_sloppy,
};
use kube_endpointslice::{DesiredGroup, Input, Options, Owner, Plan, Reconciler, SliceLabels};
use serde::Deserialize;
use support::Result;

/// Annotation of a Service: the network of its endpoints.
const NETWORK: &str = "example.com/network";
/// Annotation of a Service: the value of the label `app` of its Pods. With a selector, the slice controller of
/// Kubernetes would also create slices.
const APP: &str = "example.com/app";
/// Annotation of a Pod: its networks, as a JSON array.
const STATUS: &str = "k8s.v1.cni.cncf.io/network-status";

/// Element of the array in [`STATUS`].
#[derive(Deserialize)]
struct Network {
    name: String,
    #[serde(default)]
    ips: Vec<String>,
}

/// Reconciles the slices of a Service with the addresses of its Pods on its network, once.
pub(crate) async fn sync(client: &Client, reconciler: &Reconciler, namespace: &str, name: &str) -> Result<Plan> {
    let service: core::Service = client.get(namespace, name).await?;
    let annotation = |key| service.metadata.annotations.as_ref()?.get(key).cloned();
    let network = annotation(NETWORK).ok_or("the Service has no annotation example.com/network")?;
    let labels = [("app".to_owned(), annotation(APP).ok_or("the Service has no annotation example.com/app")?)].into();
    // Full objects, since the compact `Pod` has no annotations.
    let pods: Vec<core::Pod> = support::list(client, Some(namespace), &labels).await?;

    let service = Service::from(&service);
    let mut desired = Vec::new();
    for family in [IpFamily::V4, IpFamily::V6] {
        let mut endpoints = Vec::new();
        for pod in &pods {
            endpoints.extend(endpoint(pod, &network, family)?);
        }
        desired.push(DesiredGroup { address_type: family.into(), ports: support::numbered_ports(&service), endpoints });
    }
    let (owner, labels) = (Owner::service(&service), SliceLabels::for_service(&service));
    let existing = reconciler.live_slices(&owner.key()).await?;
    let address_types = [AddressType::IPv4, AddressType::IPv6];
    let input = Input::new(&owner, &address_types, desired, &existing).labels(&labels);
    Ok(reconciler.reconcile(input, None).await?.plan)
}

/// Returns the endpoint of a Pod; `None` if it has no address of the family on the network, or is finished.
fn endpoint(pod: &core::Pod, network: &str, family: IpFamily) -> Result<Option<Endpoint>> {
    let Some(status) = pod.metadata.annotations.as_ref().and_then(|it| it.get(STATUS)) else { return Ok(None) };
    let networks: Vec<Network> = serde_json::from_str(status)?;
    let addresses: Vec<Address> = networks
        .into_iter()
        .filter(|it| it.name == network)
        .flat_map(|it| it.ips)
        .filter_map(|ip| parse_sloppy(&ip).map(Address::from))
        .filter(|address| address.family() == Some(family))
        .collect();
    let pod = Pod::from(pod);
    Ok((!addresses.is_empty() && !pod.finished).then(|| Endpoint {
        addresses: addresses.into_iter().collect(),
        conditions: EndpointConditions {
            ready: Some(pod.ready && !pod.terminating),
            serving: Some(pod.ready),
            terminating: Some(pod.terminating),
        },
        node_name: Some(pod.node_name.clone()),
        target_ref: Some(membership::target(&pod)),
        ..Endpoint::default()
    }))
}

/// Returns options without placeholders, since consumers may read other slices of the same Service.
pub(crate) fn options() -> Options {
    Options::new("networks.example.com").placeholder(false)
}

#[cfg(not(test))]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let (client, arguments) = support::start().await?;
    let [namespace, name] = &arguments[..] else { return Err("usage: secondary_network <namespace> <name>".into()) };
    let reconciler = Reconciler::builder(client.clone(), options()).build();
    support::report(&sync(&client, &reconciler, namespace, name).await?);
    Ok(())
}
