//! Which objects are read.

use std::collections::HashMap;

use kube_endpoint_model::{Labels, ObjectKey, Text};

use crate::change::UnknownWrite;
use crate::group::GroupRef;
use crate::object::{Kind, Recorded};

/// Objects that are read. Changes of nothing but the version of a Node are read with [`All`](Self::All) only: kubelets cause them
/// every five minutes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Select {
    /// All.
    All,
    /// The objects of a namespace, and all Nodes.
    Namespace(Text),
    /// A Service, its Endpoints and slices, the Pods that it selected at any time of the segment, and all Nodes.
    Service(ObjectKey),
}

impl Select {
    /// Returns whether the object of a write is selected, or may be.
    pub(crate) fn wants_write(&self, write: &UnknownWrite, tracked: &HashMap<u64, Recorded>) -> bool {
        let UnknownWrite { kind, key, is_recorded, .. } = write;
        match (self, kind) {
            (Select::All, _) | (_, Kind::Node) => true,
            (Select::Namespace(namespace), _) => key.namespace == *namespace,
            (Select::Service(service), Kind::Service | Kind::Endpoints) => key == service,
            (Select::Service(service), Kind::Pod | Kind::EndpointSlice) => {
                let is_tracked = || tracked.values().any(|object| object.is(*kind, key));
                key.namespace == service.namespace && (!is_recorded || is_tracked())
            }
        }
    }

    /// Returns whether the objects of a group are selected, with the selectors of the selected Service; without these,
    /// whether they are with any selector.
    pub(crate) fn wants(&self, group: GroupRef<'_>, selectors: Option<&[Labels]>) -> bool {
        match (self, group) {
            (Select::All, _) | (_, GroupRef::Nodes | GroupRef::Gaps) => true,
            (Select::Namespace(namespace), GroupRef::Service(of, _) | GroupRef::Pods(of, _)) => {
                of == namespace.as_bytes()
            }
            (Select::Service(_), GroupRef::Service(..)) => self.is_service(group),
            (Select::Service(service), GroupRef::Pods(of, labels)) => {
                let selects = |selectors: &[Labels]| selectors.iter().any(|selector| labels.contain(selector));
                of == service.namespace.as_bytes() && selectors.is_none_or(selects)
            }
        }
    }

    /// Returns whether a group is that of the selected Service.
    pub(crate) fn is_service(&self, group: GroupRef<'_>) -> bool {
        let (Select::Service(service), GroupRef::Service(namespace, name)) = (self, group) else { return false };
        (namespace, name) == (service.namespace.as_bytes(), service.name.as_bytes())
    }

    /// Returns whether changes of nothing but the version of a Node are read. In a large cluster, each second has some, and they
    /// concern no Service.
    pub(crate) fn wants_heartbeats(&self) -> bool {
        *self == Select::All
    }
}
