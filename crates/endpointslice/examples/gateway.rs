//! Slices for a custom resource that selects Pods itself, without a Service. They are owned by the custom resource and
//! deleted with it.
//!
//!     apiVersion: example.com/v1
//!     kind: EndpointSelector
//!     metadata: {name: edge}
//!     spec: {selector: {app: edge}, port: 8443}
//!
//!     cargo run -p kube-endpointslice --example gateway -- default edge

#[cfg(not(test))]
mod support;
#[cfg(test)]
use crate::support;

use std::collections::BTreeMap;

use kube_controller_client::Client;
use kube_endpoint_model::{
    AddressType, Endpoint, EndpointConditions, EndpointPort, IpFamily, ObjectMeta, Pod, membership,
};
use kube_endpointslice::{DesiredGroup, Input, Options, Owner, Plan, Reconciler, SliceLabels};
use serde::Deserialize;
use support::Result;

/// Fields of the custom resource that the controller reads.
#[derive(Deserialize)]
struct EndpointSelector {
    metadata: ObjectMeta,
    spec: Spec,
}

#[derive(Deserialize)]
struct Spec {
    selector: BTreeMap<String, String>,
    port: i32,
}

const FAMILIES: [IpFamily; 2] = [IpFamily::V4, IpFamily::V6];

/// Reconciles the slices of an `EndpointSelector` with its Pods, once.
pub(crate) async fn sync(client: &Client, reconciler: &Reconciler, namespace: &str, name: &str) -> Result<Plan> {
    let path = format!("/apis/example.com/v1/namespaces/{namespace}/endpointselectors/{name}");
    let EndpointSelector { metadata, spec } = serde_json::from_value(client.get_json(&path).await?)?;
    let pods: Vec<Pod> = support::list(client, Some(namespace), &spec.selector).await?;

    let owner = Owner::new("example.com/v1", "EndpointSelector", &metadata);
    let labels = SliceLabels::carry(&metadata.labels, name);
    let desired = FAMILIES.map(|family| DesiredGroup {
        address_type: family.into(),
        ports: vec![EndpointPort { name: Some("https".into()), port: Some(spec.port), ..tcp() }],
        endpoints: pods.iter().filter_map(|pod| endpoint(pod, family)).collect(),
    });
    let existing = reconciler.live_slices(&owner.key()).await?;
    let address_types = FAMILIES.map(AddressType::from);
    let input = Input::new(&owner, &address_types, desired.into(), &existing).labels(&labels);
    Ok(reconciler.reconcile(input, None).await?.plan)
}

fn tcp() -> EndpointPort {
    EndpointPort { protocol: Some("TCP".into()), ..EndpointPort::default() }
}

fn endpoint(pod: &Pod, family: IpFamily) -> Option<Endpoint> {
    let addresses = membership::addresses(pod, family).ok()?;
    membership::exclusion(pod, false).is_none().then(|| Endpoint {
        addresses: addresses.into_owned(),
        conditions: EndpointConditions { ready: Some(pod.ready), ..EndpointConditions::default() },
        node_name: Some(pod.node_name.clone()),
        target_ref: Some(membership::target(pod)),
        ..Endpoint::default()
    })
}

/// Returns options without placeholders, which no consumer of these slices needs.
pub(crate) fn options() -> Options {
    Options::new("endpointselectors.example.com").placeholder(false)
}

#[cfg(not(test))]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let (client, arguments) = support::start().await?;
    let [namespace, name] = &arguments[..] else { return Err("usage: gateway <namespace> <name>".into()) };
    let reconciler = Reconciler::builder(client.clone(), options()).build();
    support::report(&sync(&client, &reconciler, namespace, name).await?);
    Ok(())
}
