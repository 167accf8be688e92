//! Which Services a change concerns.

use std::collections::{BTreeSet, HashMap, HashSet};

use kube_endpoint_model::{Cluster, EndpointSlice, Node, ObjectKey, Pod, Text};
use kube_endpoints_explain::World;
use kube_wire::Object as _;

use crate::{Change, Recorded, What};

/// The Pods of each Node.
#[derive(Default)]
pub(super) struct PodsOfNodes(HashMap<Text, HashSet<ObjectKey>>);

impl PodsOfNodes {
    /// Replaces a state of a Pod; `None` for a Pod that is not there.
    pub(super) fn update(&mut self, before: Option<&Pod>, after: Option<&Pod>) {
        let node = |pod: Option<&Pod>| pod.map(|pod| pod.node_name.clone());
        if node(before) == node(after) {
            return;
        }
        if let Some(before) = before
            && let Some(pods) = self.0.get_mut(&before.node_name)
        {
            pods.remove(&before.key());
            if pods.is_empty() {
                self.0.remove(&before.node_name);
            }
        }
        if let Some(after) = after {
            self.0.entry(after.node_name.clone()).or_default().insert(after.key());
        }
    }

    /// Returns the Services whose endpoints a change may change. `world` is the state before it.
    pub(super) fn services(&self, world: &World, change: &Change) -> BTreeSet<ObjectKey> {
        let (before, after) = match &change.what {
            What::Gap(_) | What::Unknown(_) => return BTreeSet::new(),
            What::Put { before, after } => (before.as_ref(), Some(after)),
            What::Removed(before) => (Some(before), None),
        };
        match (before, after) {
            (Some(Recorded::Pod(before)), Some(Recorded::Pod(after))) if !differ(before, after) => BTreeSet::new(),
            (Some(Recorded::Node(before)), Some(Recorded::Node(after))) if !nodes_differ(before, after) => {
                BTreeSet::new()
            }
            states => [states.0, states.1].into_iter().flatten().flat_map(|state| self.of(world, state)).collect(),
        }
    }

    fn of(&self, world: &World, object: &Recorded) -> Vec<ObjectKey> {
        match object {
            Recorded::Service(service) => vec![service.key()],
            // Slices are planned from Endpoints only if there is no selector.
            Recorded::Endpoints(endpoints) => {
                let service = Cluster::service(world, &endpoints.key());
                if service.is_some_and(|it| it.selector.is_some()) { Vec::new() } else { vec![endpoints.key()] }
            }
            Recorded::EndpointSlice(slice) => service_of(slice).into_iter().collect(),
            Recorded::Pod(pod) => world.services_of(pod),
            Recorded::Node(node) => {
                let pods = self.0.get(&node.name).into_iter().flatten().filter_map(|pod| world.find_pod(pod));
                // Hints by topology depend on all Nodes.
                let by_topology = world.services().filter(|service| service.requests_topology_hints());
                pods.flat_map(|pod| world.services_of(pod)).chain(by_topology.map(|service| service.key())).collect()
            }
        }
    }
}

pub(super) fn service_of(slice: &EndpointSlice) -> Option<ObjectKey> {
    Some(ObjectKey::new(slice.metadata.namespace.clone(), slice.service_name()?))
}

fn nodes_differ(before: &Node, after: &Node) -> bool {
    Node { resource_version: after.resource_version.clone(), ..before.clone() } != *after
}

/// Returns whether two states of a Pod differ in more than their version.
fn differ(before: &Pod, after: &Pod) -> bool {
    Pod { resource_version: after.resource_version.clone(), ..before.clone() } != *after
}
