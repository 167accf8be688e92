//! The object of unit tests.

use kube_wire::{ObjectHead, Resource};

#[derive(Debug, serde::Deserialize)]
pub(crate) struct Item {
    metadata: ObjectHead,
}

kube_wire::object!(Item, Resource::namespaced("", "v1", "items", "Item"));

impl Item {
    /// Returns an item of namespace `shop` with a uid.
    pub(crate) fn new(name: &str, uid: &str, version: u64) -> Self {
        let (name, namespace) = (name.into(), "shop".into());
        let (uid, resource_version) = (uid.into(), version.into());
        Self { metadata: ObjectHead { name, namespace, uid, resource_version, terminating: false } }
    }
}
