//! The [`ObjectReference`] of an event.

use kube_wire::{Decode, ResourceVersion, Uid};

/// Reference to the object that an event is about (`involvedObject`). Empty fields are omitted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ObjectReference {
    /// API version, such as `v1` or `discovery.k8s.io/v1`.
    pub api_version: String,
    /// Kind, such as `Service`.
    pub kind: String,
    /// Namespace; empty for cluster-scoped objects, whose events are created in the namespace `default`.
    pub namespace: String,
    /// Name of the object.
    pub name: String,
    /// UID of the object.
    pub uid: Uid,
    /// Resource version of the object when the event was recorded.
    pub resource_version: ResourceVersion,
}

impl ObjectReference {
    /// Returns a reference with API version and kind only; the caller sets the other fields.
    pub fn of(api_version: &str, kind: &str) -> Self {
        Self { api_version: api_version.to_owned(), kind: kind.to_owned(), ..Self::default() }
    }

    /// Returns a complete reference to an object read from the API server.
    pub fn to<T: Decode>(object: &T) -> Self {
        Self {
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
            uid: object.uid(),
            resource_version: object.resource_version(),
            ..Self::of(&T::RESOURCE.api_version(), T::RESOURCE.kind)
        }
    }

    pub(super) fn event_namespace(&self) -> &str {
        if self.namespace.is_empty() { "default" } else { &self.namespace }
    }
}
