//! The inputs of a plan in the caches, and whether they explain it.

use kube_controller_client::PlannedWrite;
use kube_endpoint_model::well_known::{MIRRORING_CONTROLLER, SLICE_CONTROLLER};
use kube_endpoint_model::{
    EndpointSlice, Endpoints, Node, ObjectKey, Pod, PodIndex, ResourceVersion, Service, ServiceIndex, SliceIndex,
    TopologyMode,
};
use kube_informer::Lister;

use super::changes::{Input, RecentChanges};
use super::written::{WrittenObject, replaced};
use crate::caches::Caches;
use crate::controllers::{ENDPOINTS, MIRRORING};

/// What decides whether a change of an input explains a plan. Versions are comparable, since all resources are in one
/// etcd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// Version up to which the previous writer has acted: that of the oldest object that the plan replaces; for creates
    /// that of the newest object of the Service, or of all Services. `None` if nothing was written yet, or if versions
    /// are not numbers.
    pub(super) acted: Option<u64>,
    /// Newest version of the Service and its Pods, or of the Service and its Endpoints.
    pub(super) newest_input: Option<u64>,
    /// Newest version of the Nodes, if they can have caused the plan. Nodes change every few minutes (heartbeats), so
    /// they explain only plans that change nothing but zones and hints.
    pub(super) newest_node: Option<u64>,
    /// Whether a watch has delivered a change of an input.
    pub(super) has_changed: bool,
    /// Whether an input that the stored objects refer to is missing in the cache, and no watch has delivered its
    /// deletion. The cache may be wrong.
    pub(super) has_vanished: bool,
}

impl Facts {
    /// Returns whether a change of an input explains the plan.
    pub(super) fn explain(&self) -> bool {
        let Facts { acted, newest_input, newest_node, has_changed, has_vanished } = self;
        let newest = newest_input.max(newest_node);
        !has_vanished && (*has_changed || acted.is_none() || newest > acted)
    }
}

/// Objects to which stored slices and Endpoints refer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Vanished {
    /// Number of those that are missing in the caches.
    missing: usize,
    all: usize,
}

/// Number of missing inputs that may have been deleted while no instance ran, whatever their fraction: the default of
/// `--guard-minimum`.
const FEW: usize = 50;
/// Fraction of the inputs that may have been deleted while no instance ran, as a divisor: a tenth.
const PART: usize = 10;

impl Vanished {
    /// Returns whether so many inputs are missing that the caches may be wrong.
    pub(super) fn are_many(self) -> bool {
        self.missing > FEW && self.missing > self.all / PART
    }
}

/// The caches that the controllers read.
pub(super) struct Inputs {
    services: Lister<Service, ServiceIndex>,
    pods: Lister<Pod, PodIndex>,
    nodes: Lister<Node>,
    endpoints: Lister<Endpoints>,
    slices: Lister<EndpointSlice, SliceIndex>,
}

impl Inputs {
    pub(super) fn new(caches: &Caches) -> Inputs {
        Inputs {
            services: caches.services.lister(),
            pods: caches.pods.lister(),
            nodes: caches.nodes.lister(),
            endpoints: caches.endpoints.lister(),
            slices: caches.slices.lister(),
        }
    }

    /// Returns the number of slices, or of Endpoints if there are more, as without slices.
    pub(super) fn objects(&self) -> usize {
        self.slices.len().max(self.endpoints.len())
    }

    /// Counts the Pods to which the slices of the slice controller refer, and the Services of Endpoints, whichever are
    /// missing more often.
    pub(super) fn vanished(&self) -> Vanished {
        let mut pods = Vanished::default();
        let slices = self.slices.read(|slices, _| {
            slices.iter().filter(|slice| slice.is_managed_by(SLICE_CONTROLLER)).cloned().collect::<Vec<_>>()
        });
        for target in slices.iter().flat_map(|slice| slice.targets()).filter(|it| it.is_of_pod()) {
            let is_missing = self.pods.get(target.namespace(), target.name()).is_none();
            pods = Vanished { missing: pods.missing + usize::from(is_missing), all: pods.all + 1 };
        }
        let endpoints = self.endpoints.list();
        let has_service = |it: &&Endpoints| self.services.get(&it.metadata.namespace, &it.metadata.name).is_some();
        let found = endpoints.iter().map(|it| &**it).filter(has_service).count();
        let services = Vanished { missing: endpoints.len() - found, all: endpoints.len() };
        if services.are_many() { services } else { pods }
    }

    /// Returns the newest version of all slices that the controllers manage; `None` without slices.
    pub(super) fn newest_slice(&self) -> Option<u64> {
        let is_managed =
            |it: &EndpointSlice| it.is_managed_by(SLICE_CONTROLLER) || it.is_managed_by(MIRRORING_CONTROLLER);
        self.slices.read(|slices, _| {
            let managed = slices.iter().filter(|slice| is_managed(slice));
            managed.filter_map(|slice| slice.metadata.resource_version.number()).max()
        })
    }

    /// Returns the newest version of all Endpoints of Services with a selector; others have other writers.
    pub(super) fn newest_endpoints(&self) -> Option<u64> {
        let selects = |it: &Endpoints| {
            let service = self.services.get(&it.metadata.namespace, &it.metadata.name);
            service.is_some_and(|service| service.selector.is_some())
        };
        let endpoints = self.endpoints.list();
        let managed = endpoints.iter().filter(|it| selects(it));
        managed.filter_map(|it| it.metadata.resource_version.number()).max()
    }

    /// Collects the facts about a plan of a controller that is not empty. `acted` is the version up to which the previous
    /// writer has acted on Services without objects.
    pub(super) fn facts<T: WrittenObject>(
        &self,
        controller: &str,
        key: &ObjectKey,
        writes: &[PlannedWrite<'_, T>],
        changes: &RecentChanges,
        acted: Option<u64>,
    ) -> Facts {
        let service = self.services.get(&key.namespace, &key.name);
        let others = acted.filter(|acted| controller == MIRRORING || self.had_writer(key, *acted));
        let mut facts = Facts { acted: self.acted(controller, key, writes).or(others), ..Facts::default() };
        facts.input(service.as_deref().map(|it| &it.resource_version), Input::Service, key, changes);
        if controller == MIRRORING {
            let endpoints = self.endpoints.get(&key.namespace, &key.name);
            facts.input(endpoints.as_deref().map(|it| &it.metadata.resource_version), Input::Endpoints, key, changes);
            return facts;
        }
        let Some(service) = service else { return facts };
        let selected =
            service.selector.as_ref().map(|selector| self.pods.read(|_, index| index.select(&key.namespace, selector)));
        for pod in selected.into_iter().flatten() {
            let key = ObjectKey::new(pod.namespace.clone(), pod.name.clone());
            facts.input(Some(&pod.resource_version), Input::Pod, &key, changes);
        }
        // Pods that the Service no longer selects, or that are gone.
        for target in writes.iter().filter_map(replaced).flat_map(WrittenObject::targets).filter(|it| it.is_of_pod()) {
            let pod = self.pods.get(target.namespace(), target.name());
            let key = ObjectKey::new(target.namespace().clone(), target.name().clone());
            facts.input(pod.as_deref().map(|it| &it.resource_version), Input::Pod, &key, changes);
        }
        let by_nodes = |write: &PlannedWrite<'_, T>| match write {
            PlannedWrite::Update { stored, desired } => stored.differs_by_nodes_only(desired),
            PlannedWrite::Create(_) | PlannedWrite::Delete(_) => false,
        };
        if writes.iter().all(by_nodes) {
            facts.newest_node = self.newest_node(&service, writes);
        }
        facts
    }

    /// Returns whether the previous writer, which has acted up to this version, has written an object of a Service. Without
    /// one, a new Service is the explanation of its first objects, which replace nothing.
    fn had_writer(&self, key: &ObjectKey, acted: u64) -> bool {
        let is_older = |version: &ResourceVersion| version.number().is_none_or(|version| version <= acted);
        let slices = self.slices.read(|_, index| index.managed_slices(&key.namespace, &key.name, SLICE_CONTROLLER));
        let endpoints = self.endpoints.get(&key.namespace, &key.name);
        endpoints.is_some_and(|it| is_older(&it.metadata.resource_version))
            || slices.iter().any(|slice| is_older(&slice.metadata.resource_version))
    }

    /// Returns the version of the oldest object that the plan replaces; for a plan of creates, that of the newest object
    /// of the Service.
    fn acted<T: WrittenObject>(
        &self,
        controller: &str,
        key: &ObjectKey,
        writes: &[PlannedWrite<'_, T>],
    ) -> Option<u64> {
        let replaced =
            writes.iter().filter_map(replaced).filter_map(|it| it.metadata().resource_version.number()).min();
        let manager = match controller {
            ENDPOINTS => return replaced,
            MIRRORING => MIRRORING_CONTROLLER,
            _ => SLICE_CONTROLLER,
        };
        replaced.or_else(|| {
            let slices = self.slices.read(|_, index| index.managed_slices(&key.namespace, &key.name, manager));
            slices.iter().filter_map(|slice| slice.metadata.resource_version.number()).max()
        })
    }

    /// Returns the newest version of the Nodes of the endpoints; of all Nodes if the zones' CPU decides about hints.
    fn newest_node<T: WrittenObject>(&self, service: &Service, writes: &[PlannedWrite<'_, T>]) -> Option<u64> {
        let version = |node: &Node| node.resource_version.number();
        if service.topology_mode() == TopologyMode::Auto {
            return self.nodes.read(|nodes, ()| nodes.iter().filter_map(|node| version(node)).max());
        }
        let targets = writes.iter().filter_map(replaced).flat_map(WrittenObject::targets);
        let pods = targets.filter_map(|target| self.pods.get(target.namespace(), target.name()));
        pods.filter_map(|pod| self.nodes.get("", &pod.node_name)).filter_map(|node| version(&node)).max()
    }
}

impl Facts {
    /// Adds an input, given its version in the cache.
    fn input(&mut self, version: Option<&ResourceVersion>, input: Input, key: &ObjectKey, changes: &RecentChanges) {
        self.has_changed |= changes.has_changed(input, key);
        match version {
            Some(version) => self.newest_input = self.newest_input.max(version.number()),
            None => self.has_vanished |= !changes.was_deleted(input, key),
        }
    }
}

#[cfg(test)]
mod tests;
