//! The metadata of objects that are only read.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::metadata::{text, uid, version};
use crate::{Labels, ResourceVersion, Text, Uid};

/// What is read of the metadata of a Pod, Service or Node; each keeps what it needs. Annotations are passed over unless
/// `A` takes them.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Metadata<A: Default = IgnoredAny> {
    pub(crate) name: Text,
    pub(crate) namespace: Text,
    pub(crate) uid: Uid,
    pub(crate) resource_version: ResourceVersion,
    pub(crate) labels: Labels,
    pub(crate) annotations: A,
    pub(crate) creation_timestamp: Option<Timestamp>,
    pub(crate) deletion_timestamp: Option<Timestamp>,
}

impl<A: Default> Metadata<A> {
    /// The same from a full object; annotations are up to the caller.
    pub(crate) fn of(it: &ObjectMeta, annotations: A) -> Self {
        Metadata {
            annotations,
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
