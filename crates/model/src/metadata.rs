//! The lossless metadata type.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Labels, ObjectKey, ResourceVersion, Text, Uid, encode, json, time};

/// Metadata of an object: all fields except `managedFields`.
///
/// It is that of the types here that are written back, and of types of other controllers, which are implemented by
/// [`kube_wire::object!`].
#[derive(Clone, Debug, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectMeta {
    /// `metadata.annotations`.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub annotations: Labels,
    /// Creation time; `None` if it is absent, zero, or cannot be represented by [`Timestamp`].
    #[serde(
        deserialize_with = "time::value",
        skip_serializing_if = "Option::is_none",
        serialize_with = "encode::time"
    )]
    pub creation_timestamp: Option<Timestamp>,
    /// Grace period of a deletion in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_grace_period_seconds: Option<i64>,
    /// Time at which the object is to be removed; present if it is being deleted. [`Timestamp::MAX`] if it cannot be
    /// represented.
    #[serde(
        deserialize_with = "time::pointer",
        skip_serializing_if = "Option::is_none",
        serialize_with = "encode::time"
    )]
    pub deletion_timestamp: Option<Timestamp>,
    /// `metadata.finalizers`.
    #[serde(deserialize_with = "json::texts", skip_serializing_if = "Vec::is_empty")]
    pub finalizers: Vec<Text>,
    /// Prefix of the name that the API server generates.
    #[serde(deserialize_with = "json::non_empty_text", skip_serializing_if = "Option::is_none")]
    pub generate_name: Option<Text>,
    /// Generation of the specification; 0 if absent.
    #[serde(deserialize_with = "json::nullable", skip_serializing_if = "encode::is_zero")]
    pub generation: i64,
    /// `metadata.labels`.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// Object name; empty if the API server is to generate it.
    #[serde(deserialize_with = "json::text", skip_serializing_if = "Text::is_empty")]
    pub name: Text,
    /// Namespace; empty for a cluster-scoped object.
    #[serde(deserialize_with = "json::text", skip_serializing_if = "Text::is_empty")]
    pub namespace: Text,
    /// `metadata.ownerReferences`.
    #[serde(deserialize_with = "json::list", skip_serializing_if = "Vec::is_empty")]
    pub owner_references: Vec<OwnerReference>,
    /// Resource version; empty for an unconditional write.
    #[serde(deserialize_with = "json::from_str", skip_serializing_if = "ResourceVersion::is_empty")]
    pub resource_version: ResourceVersion,
    /// `metadata.selfLink`, deprecated by the API; kept so that an update does not change it.
    #[serde(deserialize_with = "json::non_empty_text", skip_serializing_if = "Option::is_none")]
    pub self_link: Option<Text>,
    /// `metadata.uid`.
    #[serde(deserialize_with = "json::from_str", skip_serializing_if = "Uid::is_empty")]
    pub uid: Uid,
}

impl kube_wire::Metadata for ObjectMeta {
    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn uid(&self) -> Uid {
        self.uid.clone()
    }

    fn resource_version(&self) -> ResourceVersion {
        self.resource_version.clone()
    }

    fn is_terminating(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    fn key(&self) -> ObjectKey {
        ObjectKey { namespace: self.namespace.clone(), name: self.name.clone() }
    }
}

/// An entry of `metadata.ownerReferences`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    /// API version of the owner.
    #[serde(deserialize_with = "json::text")]
    pub api_version: Text,
    /// Whether a foreground deletion of the owner waits for this object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
    /// Whether the owner is the managing controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    /// Kind of the owner.
    #[serde(deserialize_with = "json::text")]
    pub kind: Text,
    /// Name of the owner.
    #[serde(deserialize_with = "json::text")]
    pub name: Text,
    /// UID of the owner.
    #[serde(deserialize_with = "json::from_str")]
    pub uid: Uid,
}
