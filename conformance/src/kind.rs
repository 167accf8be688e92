//! The kinds of objects the recordings speak of, and where they live in the API.

use kube_wire::Resource;
use serde::Deserialize;

/// A kind that recordings create, change or delete, or that snapshots are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
pub enum Kind {
    /// What endpoints are made of.
    Pod,
    /// What endpoints are made for.
    Service,
    /// The legacy list of endpoints, made by a controller or by a user.
    Endpoints,
    /// A slice of a service's endpoints.
    EndpointSlice,
    /// Where pods run.
    Node,
    /// What controllers tell users.
    Event,
}

impl Kind {
    /// Where objects of this kind live.
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

    /// Whether the API server keeps the status of a new object back, so that it has to be set in a second request.
    pub const fn has_status_of_its_own(self) -> bool {
        matches!(self, Self::Pod | Self::Node)
    }

    /// The path of all objects of this kind in `namespace`.
    pub fn collection(self, namespace: &str) -> String {
        self.resource().path(Some(namespace))
    }

    /// The path of one object. Names in recordings need no escaping: they are DNS labels.
    pub fn object(self, namespace: &str, name: &str) -> String {
        format!("{}/{name}", self.collection(namespace))
    }
}
