//! Kinds of the objects of this crate.

use std::fmt;

use kube_wire::{Decode as _, Resource};
use serde::Serialize;

use crate::{EndpointSlice, Endpoints, Node, Pod, Service};

/// Kinds of the objects that the endpoint controllers read and write. Displayed and serialized as in the field `kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Kind {
    /// core/v1 Service.
    Service,
    /// core/v1 Pod.
    Pod,
    /// core/v1 Node.
    Node,
    /// core/v1 Endpoints.
    Endpoints,
    /// discovery.k8s.io/v1 EndpointSlice.
    EndpointSlice,
}

impl Kind {
    /// All kinds, in their order.
    pub const ALL: [Kind; 5] = [Kind::Service, Kind::Pod, Kind::Node, Kind::Endpoints, Kind::EndpointSlice];

    /// Returns the API resource of the objects.
    pub const fn resource(self) -> Resource {
        match self {
            Kind::Service => Service::RESOURCE,
            Kind::Pod => Pod::RESOURCE,
            Kind::Node => Node::RESOURCE,
            Kind::Endpoints => Endpoints::RESOURCE,
            Kind::EndpointSlice => EndpointSlice::RESOURCE,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.resource().kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_the_names_of_their_resources() {
        for kind in Kind::ALL {
            assert_eq!(format!("{kind}"), format!("{kind:?}"));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.resource().kind);
        }
        assert!(Kind::ALL.is_sorted());
    }
}
