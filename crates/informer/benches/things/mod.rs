//! Objects for the benchmarks.

use kube_wire::{Object, ResourceVersion, Text, Uid};

/// A minimal object, so that the informer dominates the measurement.
#[derive(Clone)]
pub(crate) struct Thing {
    namespace: Text,
    name: Text,
    pub(crate) version: u64,
    node: u32,
}

impl Object for Thing {
    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn uid(&self) -> Uid {
        Uid::default()
    }

    fn resource_version(&self) -> ResourceVersion {
        self.version.into()
    }
}

impl Thing {
    pub(crate) fn at(&self, version: u64) -> Self {
        Self { version, ..self.clone() }
    }

    /// Index function: the node of the object.
    pub(crate) fn nodes(&self) -> Vec<String> {
        vec![self.node.to_string()]
    }
}

/// Returns objects in namespaces of 1,000 each, ten per node.
pub(crate) fn things(count: u32, version: u64) -> Vec<Thing> {
    let thing = |n: u32| Thing {
        namespace: format!("namespace-{:04}", n / 1000).into(),
        name: format!("thing-{n:07}").into(),
        version,
        node: n / 10,
    };
    (0..count).map(thing).collect()
}
