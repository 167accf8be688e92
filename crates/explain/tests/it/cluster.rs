//! Objects of a cluster, and controllers that write what [`World::changes`] returns.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_endpoint_model::{EndpointSlice, Endpoints, Node, ObjectKey, Pod, Service};
use kube_endpoints_explain::{Change, Kind, PodDetails, Settings, World};
use kube_wire::Object as _;

/// Objects by namespace and name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cluster {
    pub(crate) settings: Settings,
    pub(crate) services: BTreeMap<ObjectKey, Service>,
    pub(crate) pods: BTreeMap<ObjectKey, Pod>,
    pub(crate) details: BTreeMap<ObjectKey, PodDetails>,
    pub(crate) nodes: BTreeMap<ObjectKey, Node>,
    pub(crate) endpoints: BTreeMap<ObjectKey, Endpoints>,
    pub(crate) slices: BTreeMap<ObjectKey, EndpointSlice>,
    pub(crate) created: usize,
}

/// Returns the writes of controllers that have run for a while: they delete Endpoints without a Service only when they
/// start (EP-H6).
fn running(changes: Vec<Change>) -> impl Iterator<Item = Change> {
    changes.into_iter().filter(|change| change.object.kind != Kind::Endpoints || change.after.is_some())
}

/// Requires that no changes are left after the controllers have written.
pub(crate) fn expect_rest(changes: Vec<Change>) {
    assert_eq!(running(changes).collect::<Vec<_>>(), [], "the controllers never come to rest");
}

impl Cluster {
    pub(crate) fn world(&self) -> World {
        let mut world = World::new(self.settings.clone());
        world.add_services(self.services.values().cloned().map(Arc::new));
        world.add_pods(self.pods.values().cloned().map(Arc::new));
        world.add_nodes(self.nodes.values().cloned().map(Arc::new));
        world.add_endpoints(self.endpoints.values().cloned().map(Arc::new));
        world.add_slices(self.slices.values().cloned().map(Arc::new));
        for (key, details) in &self.details {
            world.add_pod_details(key.clone(), details.clone());
        }
        world
    }

    /// Writes what the controllers would write. One round must be enough: planning again changes nothing.
    pub(crate) fn settle(&mut self) {
        self.write_all(self.world().changes());
        expect_rest(self.world().changes());
    }

    pub(crate) fn write_all(&mut self, changes: Vec<Change>) {
        running(changes).for_each(|change| self.write(change));
    }

    fn write(&mut self, change: Change) {
        let Change { object, before, after, classes, reasons } = change;
        assert!(!classes.is_empty(), "no class for the change of {object}");
        assert!(!reasons.is_empty(), "no reason for the change of {object}");
        let key = ObjectKey::new(object.namespace, object.name);
        match (object.kind, after) {
            (Kind::EndpointSlice, Some(after)) => {
                let mut slice: EndpointSlice = serde_json::from_value(after).expect("a slice");
                if before.is_none() {
                    self.created += 1;
                    let prefix = slice.metadata.generate_name.as_deref().expect("a prefix");
                    slice.metadata.name = format!("{prefix}{:05}", self.created).into();
                }
                self.slices.insert(slice.key(), slice);
            }
            (Kind::EndpointSlice, None) => drop(self.slices.remove(&key).expect("the deleted slice")),
            (Kind::Endpoints, Some(after)) => {
                let endpoints: Endpoints = serde_json::from_value(after).expect("Endpoints");
                self.endpoints.insert(endpoints.key(), endpoints);
            }
            (kind, after) => panic!("unexpected change of a {kind}: {after:?}"),
        }
    }
}
