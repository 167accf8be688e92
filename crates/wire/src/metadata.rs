//! The part of `metadata` that the machinery reads.

use serde::Deserialize;

use crate::ObjectKey;

/// Just enough of an object's `metadata` to store the object; a building block for projections.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectMeta {
    /// Unique within the namespace.
    pub name: String,
    /// Empty for cluster-scoped objects.
    pub namespace: String,
    /// Identity across the object's life.
    pub uid: String,
    /// Opaque version of this state.
    pub resource_version: String,
}

impl ObjectMeta {
    /// Namespace and name.
    pub fn key(&self) -> ObjectKey {
        ObjectKey::new(self.namespace.as_str(), self.name.as_str())
    }
}
