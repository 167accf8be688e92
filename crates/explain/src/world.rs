//! The objects that are explained.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::sync::Arc;

use jiff::Timestamp;
use kube_endpoint_model::{
    Cluster, EndpointSlice, Endpoints, Index as _, Labels, Node, ObjectKey, Pod, PodIndex, Service, ServiceIndex,
    SliceIndex, Text,
};
use kube_topology::ZoneRatios;
use kube_wire::Object as _;

use crate::pod_details::PodDetails;
use crate::report::{Kind, LastWrite, ObjectRef};
use crate::time;

/// Limits that flags of the controllers set, and the time of the explanation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// Flag `--max-endpoints-per-slice` of the slice controller; 100 by default.
    pub max_endpoints_per_slice: NonZeroUsize,
    /// Flag `--mirroring-max-endpoints-per-subset` of the mirroring controller; 1,000 by default.
    pub max_endpoints_per_subset: NonZeroUsize,
    /// Whether the cluster has retired Endpoints: the controller of them is off, and objects that it would create are not
    /// missed. `false` by default.
    pub endpoints_retired: bool,
    /// Time of the explanation: times of its UTC day are shown without the date. `None` shows the date of all times.
    pub now: Option<Timestamp>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            max_endpoints_per_slice: NonZeroUsize::new(100).expect("not zero"),
            max_endpoints_per_subset: NonZeroUsize::new(1_000).expect("not zero"),
            endpoints_retired: false,
            now: None,
        }
    }
}

/// The objects that are explained, and those that explain them.
///
/// Explanations are as complete as the world: a Service needs its Pods, their Nodes, its slices and its Endpoints
/// object. Near misses need all Pods and Services of the namespace. Kinds that could not be read are recorded with
/// [`set_unknown`](World::set_unknown).
#[derive(Debug, Default)]
pub struct World {
    pub(crate) settings: Settings,
    pub(crate) services: BTreeMap<ObjectKey, Arc<Service>>,
    pub(crate) selectors: ServiceIndex,
    pub(crate) pods: BTreeMap<ObjectKey, Arc<Pod>>,
    pod_index: PodIndex,
    pub(crate) nodes: HashMap<Text, Arc<Node>>,
    pub(crate) endpoints: BTreeMap<ObjectKey, Arc<Endpoints>>,
    pub(crate) slices: BTreeMap<ObjectKey, Arc<EndpointSlice>>,
    slice_index: SliceIndex,
    details: HashMap<ObjectKey, PodDetails>,
    pub(crate) writes: BTreeMap<ObjectRef, LastWrite>,
    unknown: BTreeSet<Kind>,
}

impl World {
    /// Returns a world without objects.
    pub fn new(settings: Settings) -> World {
        World { settings, ..World::default() }
    }

    /// Adds Services, or replaces those of the same name.
    pub fn add_services(&mut self, objects: impl IntoIterator<Item = Arc<Service>>) {
        for new in objects {
            let old = self.services.insert(new.key(), new.clone());
            self.selectors.update(old.as_ref(), Some(&new));
        }
    }

    /// Adds Pods, or replaces those of the same name.
    pub fn add_pods(&mut self, objects: impl IntoIterator<Item = Arc<Pod>>) {
        for new in objects {
            let old = self.pods.insert(new.key(), new.clone());
            self.pod_index.update(old.as_ref(), Some(&new));
        }
    }

    /// Adds Nodes, or replaces those of the same name.
    pub fn add_nodes(&mut self, objects: impl IntoIterator<Item = Arc<Node>>) {
        self.nodes.extend(objects.into_iter().map(|node| (node.name.clone(), node)));
    }

    /// Adds Endpoints objects, or replaces those of the same name.
    pub fn add_endpoints(&mut self, objects: impl IntoIterator<Item = Arc<Endpoints>>) {
        self.endpoints.extend(objects.into_iter().map(|it| (it.key(), it)));
    }

    /// Adds slices, or replaces those of the same name.
    pub fn add_slices(&mut self, objects: impl IntoIterator<Item = Arc<EndpointSlice>>) {
        for new in objects {
            let old = self.slices.insert(new.key(), new.clone());
            self.slice_index.update(old.as_ref(), Some(&new));
        }
    }

    /// Removes an object, if it is there.
    pub fn remove(&mut self, kind: Kind, key: &ObjectKey) {
        match kind {
            Kind::Service => {
                let old = self.services.remove(key);
                self.selectors.update(old.as_ref(), None);
            }
            Kind::Pod => {
                let old = self.pods.remove(key);
                self.pod_index.update(old.as_ref(), None);
            }
            Kind::Node => {
                self.nodes.remove(&key.name);
            }
            Kind::Endpoints => {
                self.endpoints.remove(key);
            }
            Kind::EndpointSlice => {
                let old = self.slices.remove(key);
                self.slice_index.update(old.as_ref(), None);
            }
        }
    }

    /// Records that objects of a kind could not be read. Explanations then leave out what depends on them.
    pub fn set_unknown(&mut self, kind: Kind) {
        self.unknown.insert(kind);
    }

    /// Records that objects of a kind can be read again.
    pub fn set_known(&mut self, kind: Kind) {
        self.unknown.remove(&kind);
    }

    /// Adds the state of a Pod that only explanations need.
    pub fn add_pod_details(&mut self, pod: ObjectKey, details: PodDetails) {
        self.details.insert(pod, details);
    }

    /// Adds who wrote an object last.
    pub fn add_last_write(&mut self, object: ObjectRef, write: LastWrite) {
        self.writes.insert(object, write);
    }

    /// Returns all Services, by namespace and name.
    pub fn services(&self) -> impl Iterator<Item = &Arc<Service>> {
        self.services.values()
    }

    /// Returns the keys of the Services that select a Pod, by name. The Pod need not be in the world.
    pub fn services_of(&self, pod: &Pod) -> Vec<ObjectKey> {
        self.selectors.keys(&pod.namespace, &pod.labels)
    }

    /// Returns a Pod; `None` if the world has none of that name.
    pub fn find_pod(&self, key: &ObjectKey) -> Option<&Arc<Pod>> {
        self.pods.get(key)
    }

    /// Returns the Pods of a namespace, by name.
    pub(crate) fn pods_in(&self, namespace: &Text) -> impl Iterator<Item = &Arc<Pod>> {
        let first = ObjectKey { namespace: namespace.clone(), name: Text::default() };
        self.pods.range(first..).map(|(_, pod)| pod).take_while(move |pod| pod.namespace == *namespace)
    }

    pub(crate) fn ratios(&self) -> ZoneRatios {
        if self.nodes.is_empty() {
            return ZoneRatios::default();
        }
        ZoneRatios::from_nodes(self.nodes.values().map(|node| &**node))
    }

    /// Returns the zones of the Nodes that count for topology hints, sorted.
    pub(crate) fn zones(&self) -> BTreeSet<&Text> {
        let counted = self.nodes.values().filter(|node| node.ready && !node.control_plane && !node.zone.is_empty());
        counted.map(|node| &node.zone).collect()
    }

    /// Returns the first ready Node that lacks what topology hints need, and what that is.
    pub(crate) fn node_without_information(&self) -> Option<(&Text, &'static str)> {
        let counted = self.nodes.values().filter(|node| node.ready && !node.control_plane);
        let lack = |node: &'_ Node| match (node.zone.is_empty(), node.cpu_milli) {
            (true, _) => Some("has no zone label"),
            (false, ..=0) => Some("has no allocatable CPU"),
            _ => None,
        };
        counted.filter_map(|node| Some((&node.name, lack(node)?))).min()
    }

    /// Returns the slices of a Service, of all managers, by name.
    pub fn slices_of(&self, service: &ObjectKey) -> impl Iterator<Item = &Arc<EndpointSlice>> {
        self.slice_index.slices(&service.namespace, &service.name)
    }

    pub(crate) fn details(&self, pod: &Pod) -> Option<&PodDetails> {
        self.details.get(&pod.key())
    }

    pub(crate) fn is_unknown(&self, kind: Kind) -> bool {
        self.unknown.contains(&kind)
    }

    pub(crate) fn unknown(&self) -> Vec<Kind> {
        self.unknown.iter().copied().collect()
    }

    /// Formats a time: without the date if it is on the day of [`Settings::now`].
    pub(crate) fn shown(&self, time: Timestamp) -> String {
        time::shown(time, self.settings.now)
    }
}

/// The objects that plans read.
impl Cluster for World {
    fn service(&self, key: &ObjectKey) -> Option<Arc<Service>> {
        self.services.get(key).cloned()
    }

    fn pods(&self, namespace: &str, selector: &Labels) -> Vec<Arc<Pod>> {
        self.pod_index.select(namespace, selector)
    }

    /// While Nodes are unknown, every Node exists and has no zone.
    fn node(&self, name: &str) -> Option<Arc<Node>> {
        if self.is_unknown(Kind::Node) {
            return Some(Arc::new(Node { name: name.into(), ..Node::default() }));
        }
        self.nodes.get(name).cloned()
    }

    fn knows_nodes(&self) -> bool {
        !self.is_unknown(Kind::Node)
    }

    fn endpoints(&self, key: &ObjectKey) -> Option<Arc<Endpoints>> {
        self.endpoints.get(key).cloned()
    }

    fn slices(&self, key: &ObjectKey, manager: &str) -> Vec<Arc<EndpointSlice>> {
        self.slice_index.managed_slices(&key.namespace, &key.name, manager)
    }
}
