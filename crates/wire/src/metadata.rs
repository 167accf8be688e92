//! The fields of `metadata` that every cached object needs.

use serde::Deserialize;

use crate::{ObjectKey, ResourceVersion, Text, Uid, json::nullable};

/// Subset of `metav1.ObjectMeta` that [`Object`](crate::Object) needs, for embedding in types that keep only some
/// fields.
///
/// JSON `null` is decoded as the empty value, as in Go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectMeta {
    /// Name, unique per type and namespace.
    #[serde(deserialize_with = "nullable")]
    pub name: Text,
    /// Namespace; empty for a cluster-scoped object.
    #[serde(deserialize_with = "nullable")]
    pub namespace: Text,
    /// UID of the object.
    #[serde(deserialize_with = "nullable")]
    pub uid: Uid,
    /// Resource version of this state of the object.
    #[serde(deserialize_with = "nullable")]
    pub resource_version: ResourceVersion,
}

impl ObjectMeta {
    /// Returns namespace and name.
    pub fn key(&self) -> ObjectKey {
        ObjectKey { namespace: self.namespace.clone(), name: self.name.clone() }
    }
}
