//! Slices for the Pods that a Service selects, like those of the slice controller of Kubernetes, with another
//! managed-by value.
//!
//!     cargo run -p kube-endpointslice --example slice_controllers -- service_pods

use std::sync::Arc;

use kube_controller_program::{CancellationToken, Client, Controller, Event, Lister};
use kube_endpoint_model::{Node, ObjectKey, Pod, PodIndex, Service, ServiceIndex};
use kube_endpointslice::{
    Input, Options, Owner, Reconciled, Reconciler, SliceLabels, desired_endpoints_from_service_pods,
};
use kube_topology::HintPolicy;

use super::Result;

struct Context {
    services: Lister<Service, ServiceIndex>,
    pods: Lister<Pod, PodIndex>,
    nodes: Lister<Node>,
    reconciler: Reconciler,
}

/// Another managed-by value than that of Kubernetes' controller, so that its slices are not changed.
pub(crate) const NAME: &str = "service-pods.example.com";

pub(crate) async fn run(client: Client, stop: CancellationToken) -> Result<()> {
    let controller = Controller::new(NAME, client);
    let services = controller.informer().index(ServiceIndex::default()).build();
    let pods = controller.informer().index(PodIndex::default()).build();
    let nodes = controller.informer().build();
    let options = Options::for_services(NAME);
    let slices = controller.informer().index(options.slice_index()).build();
    let reconciler = Reconciler::builder(controller.client().clone(), options).slices(&slices).build();
    let mut controller = controller
        .primary(&services)
        .watches(&pods, |pod: &Pod, services| services.keys(&pod.namespace, &pod.labels))
        .caches(&nodes)
        .owns_slices(&reconciler)
        .concurrency(5);
    // All Services, when a Node appears, disappears or changes its zone.
    let all = services.lister();
    controller.handlers().watch(&nodes, "nodes", move |event: &Event<Node>, keys| match event.states() {
        (Some(old), Some(new)) if old.zone == new.zone => {}
        _ => all
            .list()
            .iter()
            .for_each(|service: &Arc<Service>| keys.add(kube_controller_program::Object::key(&**service))),
    });
    let (services, pods, nodes) = (services.lister(), pods.lister(), nodes.lister());
    Ok(controller.run(stop, Context { services, pods, nodes, reconciler }, sync).await?)
}

async fn sync(context: Arc<Context>, key: ObjectKey) -> Result<Reconciled> {
    let Context { services, pods, nodes, reconciler } = &*context;
    let Some(service) = services.get(&key.namespace, &key.name) else {
        reconciler.forget(&key);
        return Ok(Reconciled::default());
    };
    let Some(selector) = &service.selector else { return Ok(Reconciled::default()) };
    let pods = pods.read(|_, index| index.select(&key.namespace, selector));
    let desired = desired_endpoints_from_service_pods(&service, &pods, |name| nodes.get("", name));
    let (owner, labels) = (Owner::service(&service), SliceLabels::for_service(&service));
    let (types, existing) = (service.address_types(), reconciler.existing_slices(&key).await?);
    let input = Input::new(&owner, &types, desired.groups, &existing).labels(&labels);
    Ok(reconciler.reconcile(input, Some(HintPolicy::of(&service))).await?)
}
