//! Slices for a custom resource that selects Pods itself, without a Service. They are owned by the custom resource and
//! deleted with it; a Service of the same name does not get their endpoints.
//!
//!     apiVersion: example.com/v1
//!     kind: EndpointSelector
//!     metadata: {name: edge}
//!     spec: {selector: {app: edge}, port: 8443}
//!
//!     cargo run -p kube-endpointslice --example slice_controllers -- gateway

use std::sync::Arc;

use kube_controller_program::{CancellationToken, Client, Controller, Decode as _, Lister};
use kube_endpoint_model::{
    AddressType, EndpointPort, Labels, ObjectKey, ObjectMeta, Pod, PodIndex, Resource, Selecting, SelectorIndex,
};
use kube_endpointslice::{Input, Options, Owner, Reconciled, Reconciler, SliceLabels, desired_endpoints_from_pods};
use serde::Deserialize;

use super::Result;

/// Fields of the custom resource that the controller reads.
#[derive(Deserialize)]
struct EndpointSelector {
    metadata: ObjectMeta,
    spec: Spec,
}

#[derive(Deserialize)]
struct Spec {
    selector: Labels,
    port: i32,
}

const RESOURCE: Resource = Resource::namespaced("example.com", "v1", "endpointselectors", "EndpointSelector");
kube_controller_program::object!(EndpointSelector, RESOURCE);

impl Selecting for EndpointSelector {
    fn selector(&self) -> Option<&Labels> {
        Some(&self.spec.selector)
    }
}

struct Context {
    selectors: Lister<EndpointSelector, SelectorIndex<EndpointSelector>>,
    pods: Lister<Pod, PodIndex>,
    reconciler: Reconciler,
}

pub(crate) const NAME: &str = "endpointselectors.example.com";

pub(crate) async fn run(client: Client, stop: CancellationToken) -> Result<()> {
    let controller = Controller::new(NAME, client);
    let selectors = controller.informer().index(SelectorIndex::default()).build();
    let pods = controller.informer().index(PodIndex::default()).build();
    // No consumer of these slices needs placeholders.
    let options = Options::new(NAME).placeholder(false);
    let slices = controller.informer().index(options.slice_index()).build();
    let reconciler = Reconciler::builder(controller.client().clone(), options).slices(&slices).build();
    let controller = controller
        .primary(&selectors)
        .watches(&pods, |pod: &Pod, selectors| selectors.keys(&pod.namespace, &pod.labels))
        .owns_slices(&reconciler);
    let context = Context { selectors: selectors.lister(), pods: pods.lister(), reconciler };
    Ok(controller.run(stop, context, sync).await?)
}

async fn sync(context: Arc<Context>, key: ObjectKey) -> Result<Reconciled> {
    let Context { selectors, pods, reconciler } = &*context;
    let Some(selector) = selectors.get(&key.namespace, &key.name) else {
        reconciler.forget(&key);
        return Ok(Reconciled::default());
    };
    let EndpointSelector { metadata, spec } = &*selector;
    let pods = pods.read(|_, index| index.select(&key.namespace, &spec.selector));
    let ports = [EndpointPort { name: Some("https".into()), port: Some(spec.port), ..EndpointPort::default() }];
    let desired = desired_endpoints_from_pods(&pods, &ports, |_| None);
    let owner = Owner::of_resource(&EndpointSelector::RESOURCE, metadata);
    let (labels, existing) = (SliceLabels::carry(&metadata.labels), reconciler.existing_slices(&key).await?);
    let types = [AddressType::IPv4, AddressType::IPv6];
    let input = Input::new(&owner, &types, desired, &existing).labels(&labels);
    Ok(reconciler.reconcile(input, None).await?)
}
