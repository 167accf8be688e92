//! A type of our own for the tests of this crate.

use serde::Deserialize;

use crate::{Decode, DecodeError, Object, ObjectKey, ObjectMeta, Resource, ResourceVersion, Uid, json};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Thing {
    pub(crate) metadata: ObjectMeta,
    #[serde(default)]
    pub(crate) size: u32,
}

impl Object for Thing {
    fn namespace(&self) -> &str {
        &self.metadata.namespace
    }

    fn name(&self) -> &str {
        &self.metadata.name
    }

    fn uid(&self) -> Uid {
        self.metadata.uid.clone()
    }

    fn resource_version(&self) -> ResourceVersion {
        self.metadata.resource_version.clone()
    }

    fn key(&self) -> ObjectKey {
        self.metadata.key()
    }
}

impl Decode for Thing {
    const RESOURCE: Resource = Resource::namespaced("", "v1", "things", "Thing");

    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
        json::from_slice("Thing", bytes)
    }
}
