//! Slices with the addresses of network devices that Pods claim by `resource.k8s.io/v1` `ResourceClaim`s. Drivers write
//! the addresses into the status of a claim, which also names the Pod that it is reserved for.
//!
//!     cargo run -p kube-endpointslice --example slice_controllers -- resource_claims

use std::sync::Arc;

use k8s_openapi::api::resource::v1 as resource;
use kube_controller_program::{CancellationToken, Client, Controller, Lister, NamedIndexes, Object as _};
use kube_endpoint_model::{
    Address, AddressType, Endpoint, EndpointConditions, IpFamily, ObjectKey, Service, TargetRef, parse_sloppy,
};
use kube_endpointslice::{DesiredGroup, Input, Options, Owner, Reconciled, Reconciler, SliceLabels};

use super::{Result, numbered_ports};

/// Label of a claim: the Service that its devices serve.
const SERVICE: &str = "example.com/service";

struct Context {
    services: Lister<Service>,
    claims: Lister<resource::ResourceClaim, NamedIndexes<resource::ResourceClaim>>,
    reconciler: Reconciler,
}

pub(crate) const NAME: &str = "devices.example.com";

pub(crate) async fn run(client: Client, stop: CancellationToken) -> Result<()> {
    let controller = Controller::new(NAME, client);
    let services = controller.informer().build();
    let names = |claim: &resource::ResourceClaim| service_of(claim).iter().map(ToString::to_string).collect();
    let claims = controller.informer().index(NamedIndexes::new().with("service", names)).build();
    // Without placeholders: for a Service with a selector, the slice controller of Kubernetes creates one.
    let options = Options::for_services(NAME).placeholder(false);
    let slices = controller.informer().index(options.slice_index()).build();
    let reconciler = Reconciler::builder(controller.client().clone(), options).slices(&slices).build();
    let controller =
        controller.primary(&services).watches(&claims, |claim, ()| service_of(claim)).owns_slices(&reconciler);
    let context = Context { services: services.lister(), claims: claims.lister(), reconciler };
    Ok(controller.run(stop, context, sync).await?)
}

fn service_of(claim: &resource::ResourceClaim) -> Option<ObjectKey> {
    Some(ObjectKey::new(claim.namespace(), claim.metadata.labels.as_ref()?.get(SERVICE)?.as_str()))
}

async fn sync(context: Arc<Context>, key: ObjectKey) -> Result<Reconciled> {
    let Context { services, claims, reconciler } = &*context;
    let Some(service) = services.get(&key.namespace, &key.name) else {
        reconciler.forget(&key);
        return Ok(Reconciled::default());
    };
    let claims = claims.by_index("service", &key.to_string());
    let desired = [IpFamily::V4, IpFamily::V6].map(|family| DesiredGroup {
        address_type: family.into(),
        ports: numbered_ports(&service),
        endpoints: claims.iter().filter_map(|claim| endpoint(claim, family)).collect(),
    });
    let (owner, labels) = (Owner::service(&service), SliceLabels::for_service(&service));
    let (types, existing) = ([AddressType::IPv4, AddressType::IPv6], reconciler.existing_slices(&key).await?);
    let input = Input::new(&owner, &types, desired.into(), &existing).labels(&labels);
    Ok(reconciler.reconcile(input, None).await?)
}

/// Returns the endpoint of a claim, with the addresses of all its devices. It is ready if every device is; `None`
/// without an address of the family or without a Pod.
fn endpoint(claim: &resource::ResourceClaim, family: IpFamily) -> Option<Endpoint> {
    let status = claim.status.as_ref()?;
    let pod = status.reserved_for.iter().flatten().find(|consumer| consumer.resource == "pods")?;
    let devices = status.devices.as_deref().unwrap_or_default();
    let ips = devices.iter().filter_map(|device| device.network_data.as_ref()?.ips.as_ref()).flatten();
    // Addresses are in CIDR notation, for instance `192.168.7.1/24`.
    let addresses = ips.filter_map(|ip| parse_sloppy(ip.split('/').next().unwrap_or(ip)).map(Address::from));
    let addresses: Vec<Address> = addresses.filter(|address| address.family() == Some(family)).collect();
    let conditions = |device: &resource::AllocatedDeviceStatus| device.conditions.clone().unwrap_or_default();
    let is_ready = |device| conditions(device).iter().any(|it| it.type_ == "Ready" && it.status == "True");
    (!addresses.is_empty()).then(|| Endpoint {
        addresses: addresses.into_iter().collect(),
        conditions: EndpointConditions { ready: Some(devices.iter().all(is_ready)), ..EndpointConditions::default() },
        target_ref: Some(TargetRef::pod(claim.namespace().into(), pod.name.as_str().into(), pod.uid.as_str().into())),
        ..Endpoint::default()
    })
}
