//! What is in the cluster right now: the part that the kubelet and the view look at.

mod follow;

use std::{collections::BTreeMap, net::IpAddr, sync::Arc};

use k8s_openapi::api::{
    core::v1::{Endpoints, Node, Pod, Service},
    discovery::v1::EndpointSlice,
};
use kube_wire::ObjectKey;

pub(crate) use follow::follow;

/// Objects of a type by name.
pub(crate) type Objects<K> = BTreeMap<ObjectKey, Arc<K>>;

/// The state of the cluster at some moment. Cheap to clone: the objects are shared.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    /// Nodes.
    pub(crate) nodes: Objects<Node>,
    /// Pods.
    pub(crate) pods: Objects<Pod>,
    /// Services.
    pub(crate) services: Objects<Service>,
    /// Endpoints.
    pub(crate) endpoints: Objects<Endpoints>,
    /// Slices.
    pub(crate) slices: Objects<EndpointSlice>,
}

/// Whether a node says that it is ready; `None` when it says nothing yet.
pub(crate) fn node_is_ready(node: &Node) -> Option<bool> {
    let conditions = node.status.as_ref()?.conditions.as_deref()?;
    conditions.iter().find(|condition| condition.type_ == "Ready").map(|condition| condition.status == "True")
}

/// The addresses of a pod, the first one first.
pub(crate) fn pod_addresses(pod: &Pod) -> Vec<IpAddr> {
    let Some(status) = &pod.status else { return Vec::new() };
    let listed = status.pod_ips.iter().flatten().map(|it| it.ip.as_str());
    let mut addresses: Vec<IpAddr> =
        status.pod_ip.as_deref().into_iter().chain(listed).filter_map(|it| it.parse().ok()).collect();
    addresses.dedup();
    addresses
}
