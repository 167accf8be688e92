//! The metadata of objects.

use serde::{Deserialize, Deserializer, de::IgnoredAny};

use crate::{ObjectKey, ResourceVersion, Text, Uid, json::nullable};

/// Metadata of an object, which [`object!`](crate::object) reads.
///
/// Implemented by [`ObjectHead`], by the `ObjectMeta` of `kube-endpoint-model`, and with the feature `k8s-openapi` by
/// that of `k8s-openapi`.
pub trait Metadata {
    /// Returns the namespace; empty for a cluster-scoped object.
    fn namespace(&self) -> &str;
    /// Returns the name, which is unique per type and namespace.
    fn name(&self) -> &str;
    /// Returns the UID.
    fn uid(&self) -> Uid;
    /// Returns the resource version of this state of the object.
    fn resource_version(&self) -> ResourceVersion;
    /// Returns whether the object has a deletion timestamp.
    fn is_terminating(&self) -> bool;

    /// Returns namespace and name as a key. Types that store them as [`Text`] should override this to avoid a copy.
    fn key(&self) -> ObjectKey {
        ObjectKey::new(self.namespace(), self.name())
    }
}

/// The metadata that [`Object`](crate::Object) needs, for embedding in types that keep no other, or with
/// `#[serde(flatten)]` beside others.
///
/// JSON `null` is decoded as the empty value, as in Go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectHead {
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
    /// Whether the object has a deletion timestamp.
    #[serde(rename = "deletionTimestamp", deserialize_with = "is_present")]
    pub terminating: bool,
}

/// For `deserialize_with`: whether a value is not null.
fn is_present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Option::<IgnoredAny>::deserialize(deserializer).map(|value| value.is_some())
}

impl Metadata for ObjectHead {
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
        self.terminating
    }

    fn key(&self) -> ObjectKey {
        ObjectKey { namespace: self.namespace.clone(), name: self.name.clone() }
    }
}

#[cfg(feature = "k8s-openapi")]
impl Metadata for k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
    fn namespace(&self) -> &str {
        self.namespace.as_deref().unwrap_or_default()
    }

    fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    fn uid(&self) -> Uid {
        self.uid.as_deref().map(Uid::from).unwrap_or_default()
    }

    fn resource_version(&self) -> ResourceVersion {
        self.resource_version.as_deref().map(ResourceVersion::from).unwrap_or_default()
    }

    fn is_terminating(&self) -> bool {
        self.deletion_timestamp.is_some()
    }
}
