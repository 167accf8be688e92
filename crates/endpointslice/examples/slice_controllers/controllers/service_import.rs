//! Slices for a Service in several clusters: the slices of all clusters are merged into slices of a
//! `multicluster.x-k8s.io/v1alpha1` `ServiceImport`, which consumers select by the label
//! `multicluster.kubernetes.io/service-name`.
//!
//!     cargo run -p kube-endpointslice --example slice_controllers -- service_import other-cluster.kubeconfig...

use std::sync::Arc;

use kube_controller_program::{CancellationToken, Client, Controller, Informer, Lister};
use kube_endpoint_model::well_known::{SLICE_CONTROLLER, SLICE_MANAGED_BY_LABEL};
use kube_endpoint_model::{AddressType, Endpoint, EndpointSlice, ObjectKey, ObjectMeta, Resource, SliceIndex};
use kube_endpointslice::{DesiredGroup, Input, Options, Owner, Reconciled, Reconciler};
use serde::Deserialize;

use super::Result;

#[derive(Deserialize)]
struct ServiceImport {
    metadata: ObjectMeta,
}

const IMPORTS: Resource = Resource::namespaced("multicluster.x-k8s.io", "v1alpha1", "serviceimports", "ServiceImport");
kube_controller_program::object!(ServiceImport, IMPORTS);

struct Context {
    imports: Lister<ServiceImport>,
    /// Slices of the Services of each cluster.
    exported: Vec<Lister<EndpointSlice, SliceIndex>>,
    reconciler: Reconciler,
}

pub(crate) const NAME: &str = "imports.example.com";
const FAMILIES: [AddressType; 2] = [AddressType::IPv4, AddressType::IPv6];

/// Runs the controller in the cluster of `client`, with the slices of this cluster and of `others`.
pub(crate) async fn run(client: Client, others: Vec<Client>, stop: CancellationToken) -> Result<()> {
    let controller = Controller::new(NAME, client);
    let imports = controller.informer().build();
    // An import without endpoints has no slices.
    let options = Options::new(NAME).owner_label("multicluster.kubernetes.io/service-name").placeholder(false);
    let slices = controller.informer().index(options.slice_index()).build();
    let reconciler = Reconciler::builder(controller.client().clone(), options).slices(&slices).build();
    let (this, mut exported) = (controller.client().clone(), Vec::new());
    let mut controller = controller.primary(&imports).owns_slices(&reconciler);
    for cluster in others.into_iter().chain([this]) {
        let exports = format!("{SLICE_MANAGED_BY_LABEL}={SLICE_CONTROLLER}");
        let slices = Informer::builder(cluster).label_selector(&exports).index(SliceIndex::default()).build();
        controller = controller.watches(&slices, |slice: &EndpointSlice, ()| {
            Some(ObjectKey::new(&*slice.metadata.namespace, slice.service_name()?))
        });
        exported.push(slices.lister());
    }
    Ok(controller.run(stop, Context { imports: imports.lister(), exported, reconciler }, sync).await?)
}

async fn sync(context: Arc<Context>, key: ObjectKey) -> Result<Reconciled> {
    let Context { imports, exported, reconciler } = &*context;
    let Some(import) = imports.get(&key.namespace, &key.name) else {
        reconciler.forget(&key);
        return Ok(Reconciled::default());
    };
    let slices = |of: &Lister<EndpointSlice, SliceIndex>| -> Vec<DesiredGroup> {
        of.read(|_, index| index.slices(&key.namespace, &key.name).map(|slice| imported(slice)).collect())
    };
    let desired = exported.iter().flat_map(slices).collect();
    let owner = Owner::of_resource(&IMPORTS, &import.metadata);
    let existing = reconciler.existing_slices(&key).await?;
    Ok(reconciler.reconcile(Input::new(&owner, &FAMILIES, desired, &existing), None).await?)
}

/// Returns the endpoints of a slice without Node, target and hints, which have no meaning in another cluster.
fn imported(slice: &EndpointSlice) -> DesiredGroup {
    let EndpointSlice { address_type, endpoints, ports, .. } = slice.clone();
    let abroad = |endpoint| Endpoint { node_name: None, target_ref: None, hints: None, ..endpoint };
    DesiredGroup { address_type, ports, endpoints: endpoints.into_iter().map(abroad).collect() }
}
