//! Slices that mirror custom Endpoints objects: one slice for each address family and set of ports. Endpoints of
//! Services with a selector are left to Kubernetes.
//!
//!     cargo run -p kube-endpointslice --example slice_controllers -- mirroring

use std::sync::Arc;

use kube_controller_program::{CancellationToken, Client, Controller, Lister, Object as _};
use kube_endpoint_model::subsets::repack;
use kube_endpoint_model::{AddressType, Endpoint, EndpointConditions, EndpointPort, Endpoints, ObjectKey, Service};
use kube_endpointslice::{DesiredGroup, Input, Options, Owner, Packing, Reconciled, Reconciler, SliceLabels};

use super::Result;

const FAMILIES: [AddressType; 2] = [AddressType::IPv4, AddressType::IPv6];

struct Context {
    endpoints: Lister<Endpoints>,
    services: Lister<Service>,
    reconciler: Reconciler,
}

pub(crate) const NAME: &str = "mirroring.example.com";

pub(crate) async fn run(client: Client, stop: CancellationToken) -> Result<()> {
    let controller = Controller::new(NAME, client);
    let (endpoints, services) = (controller.informer().build(), controller.informer().build());
    // As the mirroring controller of Kubernetes, with another managed-by value.
    let options = Options::for_services(NAME).placeholder(false).enforce_ownership(false).packing(Packing::Single);
    let slices = controller.informer().index(options.slice_index()).build();
    let reconciler = Reconciler::builder(controller.client().clone(), options).slices(&slices).build();
    let controller = controller
        .primary(&endpoints)
        .watches(&services, |service: &Service, ()| [service.key()])
        .owns_slices(&reconciler);
    let context = Context { endpoints: endpoints.lister(), services: services.lister(), reconciler };
    Ok(controller.run(stop, context, sync).await?)
}

async fn sync(context: Arc<Context>, key: ObjectKey) -> Result<Reconciled> {
    let Context { endpoints, services, reconciler } = &*context;
    let service = services.get(&key.namespace, &key.name);
    let is_custom = service.is_some_and(|service| service.selector.is_none());
    let Some(endpoints) = endpoints.get(&key.namespace, &key.name).filter(|_| is_custom) else {
        reconciler.forget(&key);
        let existing = reconciler.existing_slices(&key).await?;
        return Ok(reconciler.delete(&"Endpoints".into(), &key, existing).await?);
    };
    let owner = Owner::new("v1", "Endpoints", &endpoints.metadata);
    let (labels, existing) = (SliceLabels::carry(&endpoints.metadata.labels), reconciler.existing_slices(&key).await?);
    let input = Input::new(&owner, &FAMILIES, desired(&endpoints), &existing).labels(&labels);
    Ok(reconciler.reconcile(input, None).await?)
}

/// Returns one group for each subset and address family, with the addresses of that family.
fn desired(endpoints: &Endpoints) -> Vec<DesiredGroup> {
    let of_subset = |subset: &kube_endpoint_model::EndpointSubset| {
        let ports = subset.ports.iter().map(|port| EndpointPort {
            name: Some(port.name.clone()),
            protocol: Some(port.protocol.clone()),
            port: Some(port.port),
            app_protocol: port.app_protocol.clone(),
        });
        let ports: Vec<EndpointPort> = ports.collect();
        let ready = subset.addresses.iter().map(|address| (address, true));
        let all: Vec<_> = ready.chain(subset.not_ready_addresses.iter().map(|address| (address, false))).collect();
        FAMILIES.map(|address_type| {
            let of_family =
                all.iter().filter(|(it, _)| it.ip.family().map(AddressType::from) == Some(address_type.clone()));
            let endpoints = of_family.map(|(address, ready)| Endpoint {
                addresses: address.ip.clone().into(),
                conditions: EndpointConditions { ready: Some(*ready), ..EndpointConditions::default() },
                node_name: address.node_name.clone(),
                target_ref: address.target_ref.clone(),
                ..Endpoint::default()
            });
            DesiredGroup { endpoints: endpoints.collect(), ports: ports.clone(), address_type: address_type.clone() }
        })
    };
    repack(&endpoints.subsets).iter().flat_map(of_subset).collect()
}
