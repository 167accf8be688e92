//! Slices for a Service in several clusters: the slices of all clusters are merged into slices of a
//! `multicluster.x-k8s.io/v1alpha1` `ServiceImport`.
//!
//!     cargo run -p kube-endpointslice --example service_import -- default web other-cluster.kubeconfig...

#[cfg(not(test))]
mod support;
#[cfg(test)]
use crate::support;

use std::collections::BTreeMap;
#[cfg(not(test))]
use std::path::Path;

use kube_controller_client::Client;
#[cfg(not(test))]
use kube_controller_client::{ClientOptions, Config};
use kube_endpoint_model::well_known::{SERVICE_NAME_LABEL, SLICE_CONTROLLER, SLICE_MANAGED_BY_LABEL};
use kube_endpoint_model::{AddressType, Endpoint, EndpointSlice, Labels, ObjectKey, ObjectMeta};
use kube_endpointslice::{DesiredGroup, Input, Options, Owner, Plan, Reconciler, SliceLabels};
use support::Result;

const API_VERSION: &str = "multicluster.x-k8s.io/v1alpha1";
const FAMILIES: [AddressType; 2] = [AddressType::IPv4, AddressType::IPv6];

/// Reconciles the slices of a `ServiceImport` in the cluster of `client` with those of the Service in `sources`, once.
pub(crate) async fn sync(
    client: &Client,
    sources: &[Client],
    reconciler: &Reconciler,
    namespace: &str,
    name: &str,
) -> Result<Plan> {
    let path = format!("/apis/{API_VERSION}/namespaces/{namespace}/serviceimports/{name}");
    let import: ObjectMeta = serde_json::from_value(client.get_json(&path).await?["metadata"].take())?;
    let exported = [(SERVICE_NAME_LABEL, name), (SLICE_MANAGED_BY_LABEL, SLICE_CONTROLLER)];
    let exported: BTreeMap<String, String> =
        exported.map(|(key, value)| (key.to_owned(), value.to_owned())).into_iter().collect();
    let mut desired = Vec::new();
    for source in sources {
        let slices: Vec<EndpointSlice> = support::list(source, Some(namespace), &exported).await?;
        desired.extend(slices.into_iter().map(imported));
    }

    let owner = Owner::new(API_VERSION, "ServiceImport", &import);
    let labels: Labels = [("multicluster.kubernetes.io/service-name", name)].into_iter().collect();
    // Consumers select imported slices by the label above. A Service of this name does not exist.
    let service = ObjectKey::new(namespace, format!("imported-{name}"));
    let labels = SliceLabels::carry(&labels, &service.name);
    let existing = reconciler.live_slices(&service).await?;
    let input = Input::new(&owner, &FAMILIES, desired, &existing).labels(&labels);
    Ok(reconciler.reconcile(input, None).await?.plan)
}

/// Returns the endpoints of a slice without Node, target and hints, which have no meaning in another cluster.
fn imported(slice: EndpointSlice) -> DesiredGroup {
    let EndpointSlice { address_type, endpoints, ports, .. } = slice;
    let abroad = |endpoint| Endpoint { node_name: None, target_ref: None, hints: None, ..endpoint };
    DesiredGroup { address_type, ports, endpoints: endpoints.into_iter().map(abroad).collect() }
}

/// Returns options without placeholders: an import without endpoints has no slices.
pub(crate) fn options() -> Options {
    Options::new("imports.example.com").placeholder(false)
}

#[cfg(not(test))]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let (client, arguments) = support::start().await?;
    let [namespace, name, kubeconfigs @ ..] = &arguments[..] else {
        return Err("usage: service_import <namespace> <name> <kubeconfig>...".into());
    };
    let mut sources = vec![client.clone()];
    for path in kubeconfigs {
        sources.push(Client::new(&Config::from_kubeconfig(Path::new(path)).await?, ClientOptions::default())?);
    }
    let reconciler = Reconciler::builder(client.clone(), options()).build();
    support::report(&sync(&client, &sources, &reconciler, namespace, name).await?);
    Ok(())
}
