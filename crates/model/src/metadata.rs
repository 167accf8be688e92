//! The lossless metadata type.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use serde::{Deserialize, Serialize};

use crate::{Labels, ObjectKey, ResourceVersion, Text, Uid, encode, intern, json, time};

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

/// Returns `None` for empty text, as Go's `omitempty` does.
pub(crate) fn non_empty(text: &impl ToString) -> Option<String> {
    Some(text.to_string()).filter(|text| !text.is_empty())
}

pub(crate) fn text(value: Option<&String>) -> Text {
    intern::text(value.map_or("", |it| it))
}

pub(crate) fn uid(value: Option<&String>) -> Uid {
    value.map(|it| Uid::from(it.as_str())).unwrap_or_default()
}

pub(crate) fn version(value: Option<&String>) -> ResourceVersion {
    value.map(|it| ResourceVersion::from(it.as_str())).unwrap_or_default()
}

pub(crate) fn optional_text(value: Option<&String>) -> Option<Text> {
    value.map(|it| intern::text(it))
}

impl From<&meta::ObjectMeta> for ObjectMeta {
    fn from(it: &meta::ObjectMeta) -> Self {
        ObjectMeta {
            annotations: Labels::from(&it.annotations),
            creation_timestamp: it.creation_timestamp.as_ref().map(|time| time.0),
            deletion_grace_period_seconds: it.deletion_grace_period_seconds,
            deletion_timestamp: it.deletion_timestamp.as_ref().map(|time| time.0),
            finalizers: it.finalizers.iter().flatten().map(|name| intern::text(name)).collect(),
            generate_name: optional_text(it.generate_name.as_ref()),
            generation: it.generation.unwrap_or_default(),
            labels: Labels::from(&it.labels),
            name: text(it.name.as_ref()),
            namespace: text(it.namespace.as_ref()),
            owner_references: it.owner_references.iter().flatten().map(OwnerReference::from).collect(),
            resource_version: version(it.resource_version.as_ref()),
            self_link: optional_text(it.self_link.as_ref()),
            uid: uid(it.uid.as_ref()),
        }
    }
}

impl From<&ObjectMeta> for meta::ObjectMeta {
    fn from(it: &ObjectMeta) -> Self {
        meta::ObjectMeta {
            annotations: (&it.annotations).into(),
            creation_timestamp: it.creation_timestamp.map(meta::Time),
            deletion_grace_period_seconds: it.deletion_grace_period_seconds,
            deletion_timestamp: it.deletion_timestamp.map(meta::Time),
            finalizers: (!it.finalizers.is_empty()).then(|| it.finalizers.iter().map(ToString::to_string).collect()),
            generate_name: it.generate_name.as_ref().map(ToString::to_string),
            generation: (it.generation != 0).then_some(it.generation),
            labels: (&it.labels).into(),
            managed_fields: None,
            name: non_empty(&it.name),
            namespace: non_empty(&it.namespace),
            owner_references: (!it.owner_references.is_empty())
                .then(|| it.owner_references.iter().map(meta::OwnerReference::from).collect()),
            resource_version: non_empty(&it.resource_version),
            self_link: it.self_link.as_ref().map(ToString::to_string),
            uid: non_empty(&it.uid),
        }
    }
}

impl From<&meta::OwnerReference> for OwnerReference {
    fn from(it: &meta::OwnerReference) -> Self {
        OwnerReference {
            api_version: intern::text(&it.api_version),
            block_owner_deletion: it.block_owner_deletion,
            controller: it.controller,
            kind: intern::text(&it.kind),
            name: intern::text(&it.name),
            uid: Uid::from(it.uid.as_str()),
        }
    }
}

impl From<&OwnerReference> for meta::OwnerReference {
    fn from(it: &OwnerReference) -> Self {
        meta::OwnerReference {
            api_version: it.api_version.to_string(),
            block_owner_deletion: it.block_owner_deletion,
            controller: it.controller,
            kind: it.kind.to_string(),
            name: it.name.to_string(),
            uid: it.uid.to_string(),
        }
    }
}
