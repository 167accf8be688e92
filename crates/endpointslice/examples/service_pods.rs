//! Slices for the Pods that a Service selects, like those of the slice controller of Kubernetes, with another
//! managed-by value.
//!
//!     cargo run -p kube-endpointslice --example service_pods -- default web

#[cfg(not(test))]
mod support;
#[cfg(test)]
use crate::support;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use kube_controller_client::Client;
use kube_endpoint_model::{Node, Pod, Service};
use kube_endpointslice::{Input, Options, Owner, Plan, Reconciler, SliceLabels, desired_endpoints_from_service_pods};
use kube_topology::HintPolicy;
use support::Result;

/// Reconciles the slices of a Service with its Pods, once.
pub(crate) async fn sync(client: &Client, reconciler: &Reconciler, namespace: &str, name: &str) -> Result<Plan> {
    let service: core::Service = client.get(namespace, name).await?;
    let selector = service.spec.as_ref().and_then(|spec| spec.selector.clone());
    let selector = selector.ok_or("the Service has no selector")?;
    let service = Service::from(&service);
    let pods: Vec<Pod> = support::list(client, Some(namespace), &selector).await?;
    let pods: Vec<Arc<Pod>> = pods.into_iter().map(Arc::new).collect();
    let nodes: Vec<Node> = support::list(client, None, &BTreeMap::new()).await?;
    let nodes: HashMap<_, _> = nodes.into_iter().map(|node| (node.name.clone(), Arc::new(node))).collect();

    let desired = desired_endpoints_from_service_pods(&service, &pods, |name| nodes.get(name).cloned());
    let (owner, labels) = (Owner::service(&service), SliceLabels::for_service(&service));
    let address_types = service.address_types();
    let existing = reconciler.live_slices(&owner.key()).await?;
    let input = Input::new(&owner, &address_types, desired.groups, &existing).labels(&labels);
    Ok(reconciler.reconcile(input, Some(HintPolicy::of(&service))).await?.plan)
}

/// Returns the default options with a managed-by value of its own, so that the slices of Kubernetes' controller are not
/// changed.
pub(crate) fn options() -> Options {
    Options::new("service-pods.example.com")
}

#[cfg(not(test))]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let (client, arguments) = support::start().await?;
    let [namespace, name] = &arguments[..] else { return Err("usage: service_pods <namespace> <name>".into()) };
    let reconciler = Reconciler::builder(client.clone(), options()).build();
    support::report(&sync(&client, &reconciler, namespace, name).await?);
    Ok(())
}
