//! The type that the tests follow: a `ConfigMap`, as far as they are interested.

use std::collections::BTreeMap;

use kube_wire::{Decode, DecodeError, Object, ObjectKey, ObjectMeta, Resource};
use serde::Deserialize;

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Thing {
    pub(crate) metadata: ObjectMeta,
    #[serde(default)]
    pub(crate) data: BTreeMap<String, String>,
}

impl Thing {
    /// A thing of a group, to be found by index.
    pub(crate) fn new(name: &str, version: u64, group: &str) -> Self {
        let metadata = ObjectMeta {
            name: name.to_owned(),
            namespace: "shop".to_owned(),
            uid: format!("uid-{name}"),
            resource_version: version.to_string(),
        };
        Self { metadata, data: BTreeMap::from([("group".to_owned(), group.to_owned())]) }
    }

    /// By which the tests index.
    pub(crate) fn group(&self) -> Vec<String> {
        self.data.get("group").cloned().into_iter().collect()
    }

    /// `name@version`
    pub(crate) fn text(&self) -> String {
        format!("{}@{}", self.metadata.name, self.metadata.resource_version)
    }
}

impl Object for Thing {
    fn key(&self) -> ObjectKey {
        self.metadata.key()
    }

    fn uid(&self) -> &str {
        &self.metadata.uid
    }

    fn resource_version(&self) -> &str {
        &self.metadata.resource_version
    }
}

impl Decode for Thing {
    const RESOURCE: Resource = Resource::namespaced("", "v1", "configmaps", "ConfigMap");

    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
        kube_wire::json::from_slice(Self::RESOURCE.kind, bytes)
    }
}
