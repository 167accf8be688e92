//! Snapshot of the cluster, for the simulated kubelets and the view.

mod informers;

use std::{collections::BTreeMap, net::IpAddr, sync::Arc};

use k8s_openapi::api::{
    core::v1::{Endpoints, Node, Pod, Service},
    discovery::v1::EndpointSlice,
};
use kube_wire::ObjectKey;

pub(crate) use informers::start_informers;

pub(crate) type Objects<K> = BTreeMap<ObjectKey, Arc<K>>;

/// State of the cluster at one time. Clones share the objects.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    pub(crate) nodes: Objects<Node>,
    pub(crate) pods: Objects<Pod>,
    pub(crate) services: Objects<Service>,
    pub(crate) endpoints: Objects<Endpoints>,
    pub(crate) slices: Objects<EndpointSlice>,
}

/// Returns whether the condition `Ready` of a Node is true; `None` if there is no such condition.
pub(crate) fn node_is_ready(node: &Node) -> Option<bool> {
    let conditions = node.status.as_ref()?.conditions.as_deref()?;
    conditions.iter().find(|condition| condition.type_ == "Ready").map(|condition| condition.status == "True")
}

/// Returns whether a Pod has a condition of this type with status `True`.
pub(crate) fn has_condition(pod: &Pod, condition_type: &str) -> bool {
    let mut conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.any(|condition| condition.type_ == condition_type && condition.status == "True")
}

/// Returns whether all containers of a Pod have ended for good.
pub(crate) fn has_ended(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Succeeded" | "Failed"))
}

/// Returns the addresses of a Pod, primary address first.
pub(crate) fn pod_addresses(pod: &Pod) -> Vec<IpAddr> {
    let Some(status) = &pod.status else { return Vec::new() };
    let listed = status.pod_ips.iter().flatten().map(|it| it.ip.as_str());
    let mut addresses: Vec<IpAddr> =
        status.pod_ip.as_deref().into_iter().chain(listed).filter_map(|it| it.parse().ok()).collect();
    addresses.dedup();
    addresses
}

#[cfg(test)]
pub(crate) fn put<K>(objects: &mut Objects<K>, object: serde_json::Value)
where
    K: serde::de::DeserializeOwned + kube_wire::Object,
{
    let object = serde_json::from_value::<K>(object).unwrap();
    objects.insert(object.key(), Arc::new(object));
}
