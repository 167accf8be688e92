//! Slices with the addresses of network devices that Pods claim by `resource.k8s.io/v1` `ResourceClaim`s. Drivers write
//! the addresses into the status of a claim, which also names the Pod that it is reserved for.
//!
//!     cargo run -p kube-endpointslice --example resource_claims -- default storage

#[cfg(not(test))]
mod support;
#[cfg(test)]
use crate::support;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::resource::v1 as resource;
use kube_controller_client::Client;
use kube_endpoint_model::{
    Address, AddressType, Endpoint, EndpointConditions, IpFamily, Service, TargetRef, parse_sloppy,
};
use kube_endpointslice::{DesiredGroup, Input, Options, Owner, Plan, Reconciler, SliceLabels};
use support::Result;

/// Label of a claim: the Service that its devices serve.
const SERVICE: &str = "example.com/service";

/// Reconciles the slices of a Service with the devices of its claims, once.
pub(crate) async fn sync(client: &Client, reconciler: &Reconciler, namespace: &str, name: &str) -> Result<Plan> {
    let service = Service::from(&client.get::<core::Service>(namespace, name).await?);
    let labels = [(SERVICE.to_owned(), name.to_owned())].into();
    let claims: Vec<resource::ResourceClaim> = support::list(client, Some(namespace), &labels).await?;

    let desired = [IpFamily::V4, IpFamily::V6].map(|family| DesiredGroup {
        address_type: family.into(),
        ports: support::numbered_ports(&service),
        endpoints: claims.iter().filter_map(|claim| endpoint(claim, namespace, family)).collect(),
    });
    let (owner, labels) = (Owner::service(&service), SliceLabels::for_service(&service));
    let existing = reconciler.live_slices(&owner.key()).await?;
    let address_types = [AddressType::IPv4, AddressType::IPv6];
    let input = Input::new(&owner, &address_types, desired.into(), &existing).labels(&labels);
    Ok(reconciler.reconcile(input, None).await?.plan)
}

/// Returns the endpoint of a claim, with the addresses of all its devices. It is ready if every device is; `None`
/// without an address of the family or without a Pod.
fn endpoint(claim: &resource::ResourceClaim, namespace: &str, family: IpFamily) -> Option<Endpoint> {
    let status = claim.status.as_ref()?;
    let pod = status.reserved_for.iter().flatten().find(|consumer| consumer.resource == "pods")?;
    let devices = status.devices.as_deref().unwrap_or_default();
    let networks = devices.iter().filter_map(|device| device.network_data.as_ref());
    let addresses: Vec<Address> = networks
        .flat_map(|network| network.ips.iter().flatten())
        // Addresses are in CIDR notation, for instance `192.168.7.1/24`.
        .filter_map(|ip| parse_sloppy(ip.split('/').next().unwrap_or(ip)).map(Address::from))
        .filter(|address| address.family() == Some(family))
        .collect();
    (!addresses.is_empty()).then(|| Endpoint {
        addresses: addresses.into_iter().collect(),
        conditions: EndpointConditions { ready: Some(devices.iter().all(is_ready)), ..EndpointConditions::default() },
        target_ref: Some(TargetRef::pod(namespace.into(), pod.name.as_str().into(), pod.uid.as_str().into())),
        ..Endpoint::default()
    })
}

fn is_ready(device: &resource::AllocatedDeviceStatus) -> bool {
    device.conditions.iter().flatten().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// Returns options without placeholders: for a Service with a selector, the slice controller of Kubernetes creates one.
pub(crate) fn options() -> Options {
    Options::new("devices.example.com").placeholder(false)
}

#[cfg(not(test))]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let (client, arguments) = support::start().await?;
    let [namespace, name] = &arguments[..] else { return Err("usage: resource_claims <namespace> <name>".into()) };
    let reconciler = Reconciler::builder(client.clone(), options()).build();
    support::report(&sync(&client, &reconciler, namespace, name).await?);
    Ok(())
}
