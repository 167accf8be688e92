//! Metadata of read-only objects.

use jiff::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::json;
use crate::{Labels, ResourceVersion, Text, Uid, time};

/// The metadata fields that Pods, Services and Nodes are built from. Annotations are skipped unless `A` decodes them.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Metadata<A: Default = IgnoredAny> {
    #[serde(deserialize_with = "json::text")]
    pub(crate) name: Text,
    #[serde(deserialize_with = "json::text")]
    pub(crate) namespace: Text,
    #[serde(deserialize_with = "json::from_str")]
    pub(crate) uid: Uid,
    #[serde(deserialize_with = "json::from_str")]
    pub(crate) resource_version: ResourceVersion,
    pub(crate) labels: Labels,
    pub(crate) annotations: A,
    #[serde(deserialize_with = "time::value")]
    pub(crate) creation_timestamp: Option<Timestamp>,
    #[serde(deserialize_with = "time::pointer")]
    pub(crate) deletion_timestamp: Option<Timestamp>,
}
