//! The caches that the comparison reads.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use kube_endpoint_model::well_known::{
    ENDPOINTS_CONTROLLER_NAME as ENDPOINTS, MIRRORING_CONTROLLER, MIRRORING_CONTROLLER_NAME as MIRRORING,
    SLICE_CONTROLLER, SLICE_CONTROLLER_NAME as ENDPOINTSLICE, SLICE_MANAGED_BY_LABEL,
};
use kube_endpoint_model::{
    Cluster as _, EndpointSlice, Endpoints, Listers, Node, ObjectKey, Pod, Service, ServiceIndex,
};
use kube_endpoints_explain::{Change, Kind, Settings, World};
use kube_informer::Lister;
use kube_wire::Object as _;

use crate::ledger::Fingerprint;
use crate::options::Informers;

/// All caches, and the limits of the controllers.
#[derive(Debug)]
pub(crate) struct Sources {
    services: Lister<Service, ServiceIndex>,
    nodes: Lister<Node>,
    endpoints: Lister<Endpoints>,
    caches: Listers,
    limits: Settings,
}

impl Sources {
    pub(crate) fn new(caches: &Informers, limits: Settings) -> Sources {
        Sources {
            services: caches.services.lister(),
            nodes: caches.nodes.lister(),
            endpoints: caches.endpoints.lister(),
            caches: Listers {
                services: Some(caches.services.lister()),
                pods: Some(caches.pods.lister()),
                nodes: Some(caches.nodes.lister()),
                endpoints: Some(caches.endpoints.lister()),
                slices: Some(caches.slices.lister()),
            },
            limits,
        }
    }

    pub(crate) fn service(&self, key: &ObjectKey) -> Option<Arc<Service>> {
        self.caches.service(key)
    }

    /// Returns the keys that the controllers compare: those of Services, and of Endpoints objects except locks of old
    /// leader election clients.
    pub(crate) fn keys(&self) -> BTreeSet<ObjectKey> {
        let endpoints = self.endpoints.list();
        let endpoints = endpoints.iter().filter(|it| !it.is_leader_lock()).map(|it| it.key());
        self.services.list().iter().map(|service| service.key()).chain(endpoints).collect()
    }

    pub(crate) fn is_compared(&self, controller: &str, key: &ObjectKey) -> bool {
        let service = self.service(key);
        let has_endpoints = || self.caches.endpoints(key).is_some_and(|it| !it.is_leader_lock());
        match service {
            Some(service) => controller == MIRRORING || has_selector(&service),
            None if controller == MIRRORING => !self.stored_slices(controller, key).is_empty(),
            None => controller == ENDPOINTS && has_endpoints(),
        }
    }

    /// Returns the digest of the objects that the plan of a controller for one Service depends on.
    pub(crate) fn fingerprint(&self, controller: &str, key: &ObjectKey) -> Fingerprint {
        let (mut inputs, mut outputs) = (DefaultHasher::new(), DefaultHasher::new());
        let service = self.service(key);
        service.as_ref().map(|it| (&it.uid, &it.resource_version)).hash(&mut inputs);
        let endpoints = self.caches.endpoints(key);
        let endpoints = endpoints.as_ref().map(|it| (&it.metadata.uid, &it.metadata.resource_version));
        match controller {
            ENDPOINTS => endpoints.hash(&mut outputs),
            MIRRORING => endpoints.hash(&mut inputs),
            _ => {}
        }
        if controller != MIRRORING
            && let Some(service) = &service
        {
            let pods = self.caches.selected_pods(service);
            for pod in &pods {
                (&pod.uid, &pod.resource_version).hash(&mut inputs);
            }
            if controller == ENDPOINTSLICE {
                self.hash_nodes(service, &pods, &mut inputs);
            }
        }
        for slice in self.stored_slices(controller, key) {
            (&slice.metadata.uid, &slice.metadata.resource_version).hash(&mut outputs);
        }
        Fingerprint { inputs: inputs.finish(), outputs: outputs.finish() }
    }

    /// Adds what plans read of Nodes. Not their versions: kubelets update the status of each Node every few minutes.
    fn hash_nodes(&self, service: &Service, pods: &[Arc<Pod>], hasher: &mut DefaultHasher) {
        let state = |node: &Node| (node.zone.clone(), node.control_plane, node.ready, node.cpu_milli);
        self.nodes.read(|nodes, ()| {
            // Hints by the CPU of the zones depend on all Nodes.
            if service.topology_annotation.is_some() {
                for node in nodes.iter() {
                    (&node.name, state(node)).hash(hasher);
                }
            } else {
                for pod in pods {
                    nodes.get("", &pod.node_name).map(|node| state(node)).hash(hasher);
                }
            }
        });
    }

    /// Returns the slices of a Service that a controller reads; none for the Endpoints controller.
    pub(crate) fn stored_slices(&self, controller: &str, key: &ObjectKey) -> Vec<Arc<EndpointSlice>> {
        let Some(manager) = manager_of(controller) else { return Vec::new() };
        let mut slices = self.caches.slices(key, manager);
        // The slice controller ignores slices that are being deleted (ES-5).
        slices.retain(|slice| controller == MIRRORING || slice.metadata.deletion_timestamp.is_none());
        slices
    }

    /// Returns the writes of a controller for one Service, with reasons, as `kubectl endpoints diff` shows them.
    pub(crate) fn changes(&self, controller: &str, key: &ObjectKey) -> Vec<Change> {
        let mut world = World::new(self.limits.clone());
        if let Some(service) = self.service(key) {
            world.add_pods(self.caches.selected_pods(&service));
            world.add_services([service]);
        }
        world.add_nodes(self.nodes.list());
        world.add_endpoints(self.caches.endpoints(key));
        let slices = [ENDPOINTSLICE, MIRRORING].into_iter().flat_map(|controller| self.stored_slices(controller, key));
        world.add_slices(slices);
        let manager = |change: &Change| {
            let object =
                change.before.as_ref().or(change.after.as_ref()).filter(|_| change.object.kind == Kind::EndpointSlice);
            object?["metadata"]["labels"][SLICE_MANAGED_BY_LABEL].as_str().map(str::to_owned)
        };
        let mut changes = world.changes();
        changes.retain(|change| manager(change).as_deref() == manager_of(controller));
        changes
    }
}

/// Returns the value of the managed-by label of a controller's slices; `None` for the Endpoints controller.
fn manager_of(controller: &str) -> Option<&'static str> {
    match controller {
        ENDPOINTSLICE => Some(SLICE_CONTROLLER),
        MIRRORING => Some(MIRRORING_CONTROLLER),
        _ => None,
    }
}

pub(crate) fn has_selector(service: &Service) -> bool {
    service.selector.is_some() && !service.external_name
}
