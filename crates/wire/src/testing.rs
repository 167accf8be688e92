//! A type of our own for the tests of this crate.

use serde::Deserialize;

use crate::{Decode, DecodeError, Object, ObjectKey, ObjectMeta, Resource, json};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Thing {
    pub(crate) metadata: ObjectMeta,
    #[serde(default)]
    pub(crate) size: u32,
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
    const RESOURCE: Resource = Resource::namespaced("", "v1", "things", "Thing");

    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
        json::from_slice("Thing", bytes)
    }
}
