//! The objects that have been read.

use std::{collections::BTreeSet, sync::Arc};

use kube_endpoint_model::{EndpointSlice, Endpoints, Node, ObjectKey, Pod, Service};
use kube_endpoints_explain::{Kind, LastWrite, ObjectRef, Settings, World};
use kube_wire::{Object, ResourceVersion};

use super::Listed;
use crate::output::warn;

/// Objects, and what could not be read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Objects {
    pub(crate) services: Vec<Arc<Service>>,
    pub(crate) pods: Vec<Arc<Pod>>,
    pub(crate) nodes: Vec<Arc<Node>>,
    pub(crate) slices: Vec<Arc<EndpointSlice>>,
    pub(crate) endpoints: Vec<Arc<Endpoints>>,
    pub(crate) last_writes: Vec<(ObjectRef, LastWrite)>,
    /// Kinds that could not be read.
    pub(crate) unknown: BTreeSet<Kind>,
    /// Why they could not be read, and messages about objects that could not be decoded.
    pub(crate) warnings: Vec<String>,
}

impl Objects {
    /// Takes over what belongs to all kinds, and returns the objects.
    pub(super) fn take<T>(&mut self, kind: Kind, listed: Listed<T>) -> Vec<Arc<T>> {
        let Listed { objects, last_writes, warnings, unreadable } = listed;
        self.last_writes.extend(last_writes);
        self.warnings.extend(warnings);
        if unreadable {
            self.unknown.insert(kind);
        }
        objects
    }

    pub(crate) fn warn(&self) {
        self.warnings.iter().for_each(warn);
    }

    pub(crate) fn pod_version(&self, key: &ObjectKey) -> Option<ResourceVersion> {
        find(&self.pods, key).map(|pod| pod.resource_version())
    }

    /// Returns the objects in the form that is explained.
    pub(crate) fn world(&self, settings: Settings) -> World {
        let mut world = World::new(settings);
        world.add_services(self.services.iter().cloned());
        world.add_pods(self.pods.iter().cloned());
        world.add_nodes(self.nodes.iter().cloned());
        world.add_slices(self.slices.iter().cloned());
        world.add_endpoints(self.endpoints.iter().cloned());
        for kind in &self.unknown {
            world.set_unknown(*kind);
        }
        for (object, write) in &self.last_writes {
            world.add_last_write(object.clone(), write.clone());
        }
        world
    }
}

pub(crate) fn find<'a, T: Object>(objects: &'a [Arc<T>], key: &ObjectKey) -> Option<&'a Arc<T>> {
    objects.iter().find(|object| object.name() == key.name && object.namespace() == key.namespace)
}
