//! Preconditions of delete requests.

use kube_wire::{ResourceVersion, Uid};

/// Preconditions of a delete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preconditions {
    /// UID that the object must have, which excludes a later object of the same name.
    pub uid: Option<Uid>,
    /// Resource version that the object must have.
    pub resource_version: Option<ResourceVersion>,
}

impl Preconditions {
    /// Returns preconditions that the object has this UID and resource version, so that a delayed request does not
    /// delete a newer object or state. An empty value is not a precondition.
    pub fn unchanged(uid: &Uid, resource_version: &ResourceVersion) -> Self {
        Self {
            uid: (!uid.is_empty()).then(|| uid.clone()),
            resource_version: (!resource_version.is_empty()).then(|| resource_version.clone()),
        }
    }
}
