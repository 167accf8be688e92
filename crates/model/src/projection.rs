//! Metadata of read-only objects.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::json;
use crate::metadata::{text, uid, version};
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

/// Converts from the full type; annotations are set by the caller.
impl<A: Default> From<&ObjectMeta> for Metadata<A> {
    fn from(it: &ObjectMeta) -> Self {
        Metadata {
            annotations: A::default(),
            name: text(it.name.as_ref()),
            namespace: text(it.namespace.as_ref()),
            uid: uid(it.uid.as_ref()),
            resource_version: version(it.resource_version.as_ref()),
            labels: Labels::from(&it.labels),
            creation_timestamp: it.creation_timestamp.as_ref().map(|time| time.0),
            deletion_timestamp: it.deletion_timestamp.as_ref().map(|time| time.0),
        }
    }
}
