//! Kinds of the objects in recordings.

use kube_wire::Resource;
use serde::Deserialize;

/// Kind of the objects that recordings create, change or delete, or that snapshots contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub enum Kind {
    /// `v1` Pod.
    Pod,
    /// `v1` Service.
    Service,
    /// `v1` Endpoints.
    Endpoints,
    /// `discovery.k8s.io/v1` EndpointSlice.
    EndpointSlice,
    /// `v1` Node.
    Node,
    /// `v1` Event.
    Event,
}

impl Kind {
    /// Returns the resource of this kind.
    pub const fn resource(self) -> Resource {
        match self {
            Self::Pod => Resource::namespaced("", "v1", "pods", "Pod"),
            Self::Service => Resource::namespaced("", "v1", "services", "Service"),
            Self::Endpoints => Resource::namespaced("", "v1", "endpoints", "Endpoints"),
            Self::EndpointSlice => Resource::namespaced("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"),
            Self::Node => Resource::cluster("", "v1", "nodes", "Node"),
            Self::Event => Resource::namespaced("", "v1", "events", "Event"),
        }
    }

    /// Returns whether the API server ignores the status in a create, so that a second request must set it.
    pub const fn has_status_of_its_own(self) -> bool {
        matches!(self, Self::Pod | Self::Node)
    }

    /// Returns the path of the objects of this kind in a namespace, or in all namespaces (`""`).
    pub fn collection(self, namespace: &str) -> String {
        self.resource().path(Some(namespace))
    }

    /// Returns the path of one object. The name is not escaped, since names in recordings are DNS labels.
    pub fn object(self, namespace: &str, name: &str) -> String {
        format!("{}/{name}", self.collection(namespace))
    }
}
