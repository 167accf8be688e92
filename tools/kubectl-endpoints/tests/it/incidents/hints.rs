//! Incidents in clusters with zones.

use kube_endpoint_model::Code;
use kube_endpoints_explain::Kind;
use serde_json::{Value, json};

use super::cases::{Effect, Incident, incident, not_ready, spec};
use super::objects::{node, pod_on, running, service, with};
use super::write::{create, merge, status};

/// Three Nodes, each in a zone, and one that is not ready and has none.
pub(super) fn zones() -> Vec<Value> {
    let zones = ["a", "b", "c"].map(|zone| node(zone, Some(zone), true));
    zones.into_iter().chain([node("edge", None, false)]).collect()
}

/// A Service that requests hints by topology, with Pods in each of three zones.
pub(super) fn hinted(pods: usize) -> Vec<Value> {
    let annotations = json!({"annotations": {"service.kubernetes.io/topology-mode": "Auto"}});
    let pods = (1..=pods).map(|number| pod_on(["a", "b", "c"][number % 3], number));
    pods.chain([with(service(), "/metadata", &annotations)]).collect()
}

/// Returns the incidents of a cluster with zones.
pub(super) fn of_hints() -> Vec<Incident> {
    use Code::{HintsEndpointZone, HintsOverload, HintsTooFewEndpoints, HintsUnknownPolicy};
    let hints = |incident| Incident { effect: Effect::Hints, ..incident };
    let starting = |node, number| {
        with(pod_on(node, number), "/status", &json!({"podIP": null, "podIPs": null, "conditions": null}))
    };
    let distributed = |policy: &str| json!({"trafficDistribution": policy});
    let misspelt = json!({"metadata": {"annotations": {"service.kubernetes.io/topology-mode": "Atuo"}}});
    let mut all = vec![
        incident(
            "fewer Pods are ready than there are zones",
            hinted(3),
            vec![status("kubelet", "web-1", &not_ready())],
            (HintsTooFewEndpoints, Kind::Pod, "web-1", "kubelet"),
        ),
        incident(
            "a fourth Pod in three zones",
            [hinted(3), vec![starting("a", 4)]].concat(),
            vec![status("kubelet", "web-4", &running("10.1.0.4"))],
            (HintsOverload, Kind::Pod, "web-4", "kubelet"),
        ),
        incident(
            "a Pod on a Node without a zone",
            [hinted(6), vec![starting("edge", 7)]].concat(),
            vec![status("kubelet", "web-7", &running("10.1.0.7"))],
            (HintsEndpointZone, Kind::Pod, "web-7", "kubelet"),
        ),
        incident(
            "the topology mode is misspelt",
            hinted(3),
            vec![merge("helm", "services/web", misspelt)],
            (HintsUnknownPolicy, Kind::Service, "web", "helm"),
        ),
    ];
    let distribution = vec![with(service(), "/spec", &distributed("PreferSameZone")), pod_on("a", 1), pod_on("b", 2)];
    let node = merge("kubectl-patch", "services/web", spec(distributed("PreferSameNode")));
    let cause = (None, Kind::Service, "web", Some("kubectl-patch"));
    let title = "another traffic distribution";
    all.push(Incident { title, before: distribution, writes: vec![node], cause, effect: Effect::Hints });
    all.into_iter().map(hints).collect()
}

/// A Node without a zone appears.
pub(super) fn new_node() -> Incident {
    let (code, new) = (Code::HintsNodeInformation, node("new", None, true));
    let title = "a Node without a zone registers";
    Incident {
        effect: Effect::Hints,
        ..incident(title, hinted(3), vec![create("kubelet", "nodes", new)], (code, Kind::Node, "new", "kubelet"))
    }
}
