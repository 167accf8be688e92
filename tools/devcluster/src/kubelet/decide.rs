//! Decisions of the simulated kubelets, as a function of the cluster, earlier actions and the time.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
};

use kube_wire::{Dynamic, Object as _, ObjectKey, Uid};
use serde_json::Value;
use tokio::time::Instant;

use super::{
    Delays, Order, READY, Stopping,
    addresses::Addresses,
    placement::{must_leave, place},
};
use crate::cluster::{Snapshot, condition, has_ended, list, node_is_ready, pod_addresses, text};

/// State of the simulated kubelets of all Nodes. An order is recorded as executed when it is returned, so that a stale
/// snapshot does not cause it again.
#[derive(Debug, Default)]
pub(crate) struct Kubelet {
    delays: Delays,
    addresses: Addresses,
    /// Recorded state of each Pod, by UID.
    pods: BTreeMap<Uid, PodState>,
    /// Nodes to which Pods were bound, by UID of the Pod.
    bound: BTreeMap<Uid, String>,
    /// UIDs of the Nodes that were registered.
    nodes: BTreeSet<Uid>,
    /// Names of all Nodes that ever existed.
    known: BTreeSet<ObjectKey>,
}

#[derive(Debug, Default)]
struct PodState {
    reported: Reported,
    started: Option<Instant>,
    stop_requested: Option<Instant>,
    evicted: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Reported {
    #[default]
    Nothing,
    Started,
    /// The containers are ready; a readiness gate is pending.
    ContainersReady,
    Ready,
    Lost,
    Removed,
}

/// Result of [`Kubelet::decide`].
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Decision {
    /// Orders to execute in this order.
    pub(crate) orders: Vec<Order>,
    /// Time of the next call of `decide` if the cluster does not change before; `None` if nothing is due.
    pub(crate) wake: Option<Instant>,
}

impl Decision {
    /// Returns whether `at` is reached. If not, `wake` is set to `at`, unless it is earlier already.
    fn is_due(&mut self, at: Instant, now: Instant) -> bool {
        if at > now {
            self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
        }
        at <= now
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NodeState {
    Up,
    Lost,
    Missing,
}

impl Kubelet {
    /// Returns a kubelet without recorded state.
    pub(crate) fn new(delays: Delays) -> Self {
        Self { delays, ..Self::default() }
    }

    /// Returns the orders for the current state of the cluster.
    pub(crate) fn decide(&mut self, cluster: &Snapshot, stopping: Stopping, now: Instant) -> Decision {
        let mut decision = Decision::default();
        for node in cluster.nodes.values() {
            if node_is_ready(node).is_none() && self.nodes.insert(node.uid()) {
                decision.orders.push(Order::RegisterNode { node: node.key().name.to_string() });
            }
        }
        self.known.extend(cluster.nodes.keys().cloned());
        let uids: BTreeSet<Uid> = cluster.pods.values().map(|pod| pod.uid()).collect();
        self.pods.retain(|uid, _| uids.contains(uid));
        self.bound.retain(|uid, _| uids.contains(uid));
        for (key, node) in place(cluster, &self.bound) {
            let Some(uid) = cluster.pods.get(&key).map(|pod| pod.uid()) else { continue };
            self.bound.insert(uid.clone(), node.clone());
            decision.orders.push(Order::Bind { pod: key, uid, node });
        }
        for (key, pod) in &cluster.pods {
            let Some(node) = pod.value["spec"]["nodeName"].as_str() else { continue };
            let mut state = self.pods.remove(&pod.uid()).unwrap_or_default();
            let node = ObjectKey::new("", node);
            let was_deleted = self.known.contains(&node) && !cluster.nodes.contains_key(&node);
            let node = cluster.nodes.get(&node).map(|node| &**node);
            let order = if was_deleted {
                remove(&mut state, pod)
            } else if pod.value["metadata"]["deletionTimestamp"].is_string() {
                self.stop(&mut state, pod, node_state(node), stopping, now, &mut decision)
            } else if node.is_some_and(|node| must_leave(pod, node)) {
                evict(&mut state, pod)
            } else {
                self.keep_running(&mut state, cluster, key, node, now, &mut decision)
            };
            decision.orders.extend(order);
            self.pods.insert(pod.uid(), state);
        }
        decision
    }

    fn stop(
        &self,
        state: &mut PodState,
        pod: &Dynamic,
        node_state: NodeState,
        stopping: Stopping,
        now: Instant,
        decision: &mut Decision,
    ) -> Option<Order> {
        let stopped = match node_state {
            NodeState::Up => {
                let requested = *state.stop_requested.get_or_insert(now);
                stopping == Stopping::Proceeds && decision.is_due(requested + self.delays.stop_after, now)
            }
            NodeState::Lost => return mark_lost(state, pod),
            // No kubelet will confirm it.
            NodeState::Missing => true,
        };
        if stopped { remove(state, pod) } else { None }
    }

    fn keep_running(
        &mut self,
        state: &mut PodState,
        cluster: &Snapshot,
        key: &ObjectKey,
        node: Option<&Dynamic>,
        now: Instant,
        decision: &mut Decision,
    ) -> Option<Order> {
        let (pod, node) = (cluster.pods.get(key)?, node?);
        if node_state(Some(node)) != NodeState::Up {
            return mark_lost(state, pod);
        }
        match state.reported {
            // A Pod that was created with an address has its status from a manifest and is not managed here.
            Reported::Nothing if pod_addresses(pod).is_empty() && !has_ended(&pod.value["status"]) => {
                let addresses = self.addresses_for(cluster, pod, node)?;
                (state.reported, state.started) = (Reported::Started, Some(now));
                decision.is_due(now + self.delays.ready_after, now);
                Some(Order::Start { pod: key.clone(), addresses })
            }
            Reported::Started if probe_fails(pod) => None,
            Reported::ContainersReady | Reported::Ready | Reported::Lost if probe_fails(pod) => {
                state.reported = Reported::Started;
                Some(Order::Report { pod: key.clone(), containers: false, ready: false })
            }
            Reported::Started if decision.is_due(state.started? + self.delays.ready_after, now) => {
                Some(mark_ready(state, pod))
            }
            Reported::Lost => Some(mark_ready(state, pod)),
            Reported::ContainersReady if gates_are_true(pod) => Some(mark_ready(state, pod)),
            Reported::Ready if !gates_are_true(pod) => Some(mark_ready(state, pod)),
            Reported::Nothing | Reported::Started | Reported::ContainersReady | Reported::Ready | Reported::Removed => {
                None
            }
        }
    }

    fn addresses_for(&mut self, cluster: &Snapshot, pod: &Dynamic, node: &Dynamic) -> Option<Vec<IpAddr>> {
        if pod.value["spec"]["hostNetwork"] == true {
            return Some(node_addresses(node)).filter(|addresses| !addresses.is_empty());
        }
        let used = cluster.pods.values().flat_map(|pod| pod_addresses(pod)).collect();
        self.addresses.assign(&used).map(Vec::from)
    }
}

/// Returns whether the readiness probe of a Pod fails: its annotation [`READY`] is `false`.
fn probe_fails(pod: &Dynamic) -> bool {
    pod.value["metadata"]["annotations"][READY] == "false"
}

fn node_state(node: Option<&Dynamic>) -> NodeState {
    match node.map(node_is_ready) {
        Some(Some(true)) => NodeState::Up,
        Some(_) => NodeState::Lost,
        None => NodeState::Missing,
    }
}

/// Returns the order to delete a Pod that has stopped, or whose Node is deleted, as upstream's pod garbage collector does,
/// which waits for 40 s. The order is returned once.
fn remove(state: &mut PodState, pod: &Dynamic) -> Option<Order> {
    if state.reported == Reported::Removed {
        return None;
    }
    state.reported = Reported::Removed;
    Some(Order::Remove { pod: pod.key(), uid: pod.uid() })
}

/// Returns the order to evict a Pod, once.
fn evict(state: &mut PodState, pod: &Dynamic) -> Option<Order> {
    let evicted = std::mem::replace(&mut state.evicted, true);
    (!evicted).then(|| Order::Evict { pod: pod.key(), uid: pod.uid() })
}

/// Returns the order to mark the containers of a Pod ready, and the Pod too unless a readiness gate is pending.
fn mark_ready(state: &mut PodState, pod: &Dynamic) -> Order {
    let ready = gates_are_true(pod);
    state.reported = if ready { Reported::Ready } else { Reported::ContainersReady };
    Order::Report { pod: pod.key(), containers: true, ready }
}

/// Returns whether the conditions of all readiness gates of a Pod are `True` (Go: `status.GeneratePodReadyCondition`).
fn gates_are_true(pod: &Dynamic) -> bool {
    let is_true = |gate: &Value| condition(&pod.value["status"], text(&gate["conditionType"])) == Some("True");
    list(&pod.value["spec"]["readinessGates"]).all(is_true)
}

/// Returns the order to mark a ready Pod as lost, unless it was returned before.
fn mark_lost(state: &mut PodState, pod: &Dynamic) -> Option<Order> {
    if state.reported == Reported::Lost || condition(&pod.value["status"], "Ready") != Some("True") {
        return None;
    }
    state.reported = Reported::Lost;
    Some(Order::Lost { pod: pod.key() })
}

pub(super) fn node_addresses(node: &Dynamic) -> Vec<IpAddr> {
    let internal = list(&node.value["status"]["addresses"]).filter(|address| address["type"] == "InternalIP");
    internal.filter_map(|address| text(&address["address"]).parse().ok()).collect()
}
