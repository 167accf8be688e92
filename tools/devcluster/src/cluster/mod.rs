//! Snapshot of the cluster, for the simulated kubelets and the view.

mod informers;

use std::{collections::BTreeMap, net::IpAddr, sync::Arc};

use kube_endpoint_model::{EndpointSlice, Endpoints};
use kube_wire::{Dynamic, ObjectKey};
use serde_json::Value;

pub(crate) use informers::start_informers;

pub(crate) type Objects<K> = BTreeMap<ObjectKey, Arc<K>>;

/// State of the cluster at one time. Clones share the objects.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    pub(crate) nodes: Objects<Dynamic>,
    pub(crate) pods: Objects<Dynamic>,
    pub(crate) services: Objects<Dynamic>,
    pub(crate) endpoints: Objects<Endpoints>,
    pub(crate) slices: Objects<EndpointSlice>,
}

/// Returns the elements of a list; none if it is absent.
pub(crate) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns a text; empty if it is absent.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the status of a condition of a Node or Pod; `None` if there is no such condition.
pub(crate) fn condition<'a>(status: &'a Value, condition_type: &str) -> Option<&'a str> {
    let found = list(&status["conditions"]).find(|condition| condition["type"] == condition_type)?;
    Some(text(&found["status"]))
}

/// Returns whether the condition `Ready` of a Node is true; `None` if there is no such condition.
pub(crate) fn node_is_ready(node: &Dynamic) -> Option<bool> {
    condition(&node.value["status"], "Ready").map(|status| status == "True")
}

/// Returns whether all containers of a Pod with this status have ended for good.
pub(crate) fn has_ended(status: &Value) -> bool {
    matches!(text(&status["phase"]), "Succeeded" | "Failed")
}

/// Returns the addresses of a Pod, primary address first.
pub(crate) fn pod_addresses(pod: &Dynamic) -> Vec<IpAddr> {
    let status = &pod.value["status"];
    let listed = list(&status["podIPs"]).map(|it| &it["ip"]);
    let texts = [&status["podIP"]].into_iter().chain(listed).map(text);
    let mut addresses: Vec<IpAddr> = texts.filter_map(|it| it.parse().ok()).collect();
    addresses.dedup();
    addresses
}

#[cfg(test)]
#[expect(clippy::needless_pass_by_value, reason = "objects are literals in the argument list")]
pub(crate) fn put<K: kube_wire::Decode>(objects: &mut Objects<K>, object: Value) {
    let object = K::from_json(object.to_string().as_bytes()).unwrap();
    objects.insert(object.key(), Arc::new(object));
}
