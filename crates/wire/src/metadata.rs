//! The part of `metadata` that the machinery reads.

use serde::Deserialize;

use crate::{ObjectKey, ResourceVersion, Text, Uid, json::nullable};

/// Just enough of an object's `metadata` to store the object; a building block for projections.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectMeta {
    /// Unique within the namespace.
    #[serde(deserialize_with = "nullable")]
    pub name: Text,
    /// Empty for cluster-scoped objects.
    #[serde(deserialize_with = "nullable")]
    pub namespace: Text,
    /// Identity across the object's life.
    #[serde(deserialize_with = "nullable")]
    pub uid: Uid,
    /// Opaque version of this state.
    #[serde(deserialize_with = "nullable")]
    pub resource_version: ResourceVersion,
}

impl ObjectMeta {
    /// Namespace and name.
    pub fn key(&self) -> ObjectKey {
        ObjectKey { namespace: self.namespace.clone(), name: self.name.clone() }
    }
}
