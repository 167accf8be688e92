//! Slices that mirror a custom Endpoints object: one slice for each address family and set of ports.
//!
//!     cargo run -p kube-endpointslice --example mirroring -- default database

#[cfg(not(test))]
mod support;
#[cfg(test)]
use crate::support;

use k8s_openapi::api::core::v1 as core;
use kube_controller_client::Client;
use kube_endpoint_model::subsets::repack;
use kube_endpoint_model::{AddressType, Endpoint, EndpointConditions, EndpointPort, Endpoints};
use kube_endpointslice::{DesiredGroup, Input, Options, Owner, Packing, Plan, Reconciler, SliceLabels};
use support::Result;

const FAMILIES: [AddressType; 2] = [AddressType::IPv4, AddressType::IPv6];

/// Mirrors an Endpoints object into slices, once.
pub(crate) async fn sync(client: &Client, reconciler: &Reconciler, namespace: &str, name: &str) -> Result<Plan> {
    let endpoints: core::Endpoints = client.get(namespace, name).await?;
    let owner = Owner::of(&endpoints);
    let endpoints = Endpoints::from(&endpoints);
    let labels = SliceLabels::carry(&endpoints.metadata.labels, name);
    let existing = reconciler.live_slices(&owner.key()).await?;
    let input = Input::new(&owner, &FAMILIES, desired(&endpoints), &existing).labels(&labels);
    Ok(reconciler.reconcile(input, None).await?.plan)
}

/// Returns one group for each subset and address family, with the addresses of that family.
fn desired(endpoints: &Endpoints) -> Vec<DesiredGroup> {
    let mut groups = Vec::new();
    for subset in repack(&endpoints.subsets) {
        for address_type in FAMILIES {
            let ready = subset.addresses.iter().map(|address| (address, true));
            let not_ready = subset.not_ready_addresses.iter().map(|address| (address, false));
            let of_family = ready
                .chain(not_ready)
                .filter(|(address, _)| address.ip.family().map(AddressType::from) == Some(address_type.clone()));
            let endpoints = of_family.map(|(address, ready)| Endpoint {
                addresses: address.ip.clone().into(),
                conditions: EndpointConditions { ready: Some(ready), ..EndpointConditions::default() },
                node_name: address.node_name.clone(),
                target_ref: address.target_ref.clone(),
                ..Endpoint::default()
            });
            let ports = subset.ports.iter().map(|port| EndpointPort {
                name: Some(port.name.clone()),
                protocol: Some(port.protocol.clone()),
                port: Some(port.port),
                app_protocol: port.app_protocol.clone(),
            });
            let (ports, endpoints) = (ports.collect(), endpoints.collect());
            groups.push(DesiredGroup { address_type: address_type.clone(), ports, endpoints });
        }
    }
    groups
}

/// Returns the options of the mirroring controller of Kubernetes, with another managed-by value.
pub(crate) fn options() -> Options {
    Options::new("mirroring.example.com").placeholder(false).enforce_ownership(false).packing(Packing::Single)
}

#[cfg(not(test))]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let (client, arguments) = support::start().await?;
    let [namespace, name] = &arguments[..] else { return Err("usage: mirroring <namespace> <name>".into()) };
    let reconciler = Reconciler::builder(client.clone(), options()).build();
    support::report(&sync(&client, &reconciler, namespace, name).await?);
    Ok(())
}
