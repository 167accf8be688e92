//! References from endpoints to the objects behind them.

use k8s_openapi::api::core::v1 as core;
use serde::Deserialize;

use crate::metadata::{non_empty, text, uid, version};
use crate::{ResourceVersion, Text, Uid};

/// A reference to an object, mostly the Pod behind an endpoint. Absent fields are empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectReference {
    /// API version.
    pub api_version: Text,
    /// A part of the object.
    pub field_path: Text,
    /// Kind.
    pub kind: Text,
    /// Name.
    pub name: Text,
    /// Namespace.
    pub namespace: Text,
    /// The version that was meant; ignored where endpoints are compared.
    pub resource_version: ResourceVersion,
    /// Identity.
    pub uid: Uid,
}

impl ObjectReference {
    /// Whether both name the same object, whatever its version.
    pub fn same_object(&self, other: &ObjectReference) -> bool {
        let ObjectReference { api_version, field_path, kind, name, namespace, resource_version: _, uid } = self;
        *api_version == other.api_version
            && *field_path == other.field_path
            && *kind == other.kind
            && *name == other.name
            && *namespace == other.namespace
            && *uid == other.uid
    }
}

impl From<&core::ObjectReference> for ObjectReference {
    fn from(it: &core::ObjectReference) -> Self {
        ObjectReference {
            api_version: text(it.api_version.as_ref()),
            field_path: text(it.field_path.as_ref()),
            kind: text(it.kind.as_ref()),
            name: text(it.name.as_ref()),
            namespace: text(it.namespace.as_ref()),
            resource_version: version(it.resource_version.as_ref()),
            uid: uid(it.uid.as_ref()),
        }
    }
}

impl From<&ObjectReference> for core::ObjectReference {
    fn from(it: &ObjectReference) -> Self {
        core::ObjectReference {
            api_version: non_empty(&it.api_version),
            field_path: non_empty(&it.field_path),
            kind: non_empty(&it.kind),
            name: non_empty(&it.name),
            namespace: non_empty(&it.namespace),
            resource_version: (!it.resource_version.is_empty()).then(|| it.resource_version.to_string()),
            uid: (!it.uid.is_empty()).then(|| it.uid.to_string()),
        }
    }
}

/// Whether two optional references name the same object, whatever its version.
pub fn same_target(a: Option<&ObjectReference>, b: Option<&ObjectReference>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.same_object(b),
        (None, None) => true,
        _ => false,
    }
}
