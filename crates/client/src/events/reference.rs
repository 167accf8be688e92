//! The object a note is about.

use kube_wire::Decode;

/// Names an object in an event. What is unknown stays empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ObjectReference {
    /// Such as `v1` or `discovery.k8s.io/v1`.
    pub api_version: String,
    /// Such as `Service`.
    pub kind: String,
    /// Empty for cluster-scoped objects; their events go to the namespace `default`.
    pub namespace: String,
    /// Name of the object.
    pub name: String,
    /// Identity of the object.
    pub uid: String,
    /// The state that the note is about.
    pub resource_version: String,
}

impl ObjectReference {
    /// A reference to some object of a type, its name still to be filled in.
    pub fn of(api_version: &str, kind: &str) -> Self {
        Self { api_version: api_version.to_owned(), kind: kind.to_owned(), ..Self::default() }
    }

    /// A reference to an object as the API server knows it.
    pub fn to<T: Decode>(object: &T) -> Self {
        Self {
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
            uid: object.uid().to_string(),
            resource_version: object.resource_version().to_string(),
            ..Self::of(&T::RESOURCE.api_version(), T::RESOURCE.kind)
        }
    }

    /// The namespace in which events about the object are kept.
    pub(super) fn event_namespace(&self) -> &str {
        if self.namespace.is_empty() { "default" } else { &self.namespace }
    }
}
