//! Object metadata without loss, except for `managedFields`.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use serde::{Deserialize, Serialize};

use crate::{Labels, ResourceVersion, Text, Uid, intern, json, time, written};

/// The metadata of an object that is written back: everything but `managedFields`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectMeta {
    /// Annotations.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub annotations: Labels,
    /// When the object was created; `None` also for a time that [`Timestamp`] cannot represent.
    #[serde(
        deserialize_with = "time::value",
        skip_serializing_if = "Option::is_none",
        serialize_with = "written::time"
    )]
    pub creation_timestamp: Option<Timestamp>,
    /// Seconds a graceful deletion may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_grace_period_seconds: Option<i64>,
    /// When the object is to be gone; its presence means it is being deleted. [`Timestamp::MAX`] for a time that cannot be represented.
    #[serde(
        deserialize_with = "time::pointer",
        skip_serializing_if = "Option::is_none",
        serialize_with = "written::time"
    )]
    pub deletion_timestamp: Option<Timestamp>,
    /// Finalizers.
    #[serde(deserialize_with = "json::texts", skip_serializing_if = "Vec::is_empty")]
    pub finalizers: Vec<Text>,
    /// The prefix the server makes a name from.
    #[serde(deserialize_with = "json::non_empty_text", skip_serializing_if = "Option::is_none")]
    pub generate_name: Option<Text>,
    /// Counts the changes of the specification; 0 where the server sent none.
    #[serde(deserialize_with = "json::nullable", skip_serializing_if = "written::is_zero")]
    pub generation: i64,
    /// Labels.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// Name; empty for an object whose name the server is to make.
    #[serde(deserialize_with = "json::text", skip_serializing_if = "Text::is_empty")]
    pub name: Text,
    /// Namespace; empty for an object of the cluster.
    #[serde(deserialize_with = "json::text", skip_serializing_if = "Text::is_empty")]
    pub namespace: Text,
    /// Owners.
    #[serde(deserialize_with = "json::list", skip_serializing_if = "Vec::is_empty")]
    pub owner_references: Vec<OwnerReference>,
    /// The version to write back with; empty for an unconditional write.
    #[serde(deserialize_with = "json::from_str", skip_serializing_if = "ResourceVersion::is_empty")]
    pub resource_version: ResourceVersion,
    /// Historical; kept because it is sent back.
    #[serde(deserialize_with = "json::non_empty_text", skip_serializing_if = "Option::is_none")]
    pub self_link: Option<Text>,
    /// The identity of the object.
    #[serde(deserialize_with = "json::from_str", skip_serializing_if = "Uid::is_empty")]
    pub uid: Uid,
}

/// An owner in an object's metadata.
#[derive(Clone, Debug, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    /// API version of the owner.
    #[serde(deserialize_with = "json::text")]
    pub api_version: Text,
    /// Whether the owner's deletion in the foreground waits for this object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
    /// Whether this owner is the managing controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    /// Kind of the owner.
    #[serde(deserialize_with = "json::text")]
    pub kind: Text,
    /// Name of the owner.
    #[serde(deserialize_with = "json::text")]
    pub name: Text,
    /// Identity of the owner.
    #[serde(deserialize_with = "json::from_str")]
    pub uid: Uid,
}

/// `None` for an empty text, as Go's `omitempty` does.
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
