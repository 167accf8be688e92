//! The incidents, and their true causes.

use kube_endpoint_model::Code;
use kube_endpoints_explain::Kind;
use serde_json::{Value, json};

use super::objects::{custom_service, endpoints, node, pod, pod_on, ready, running, service, slice, subsets, with};
use super::write::{Write, create, delete, merge, status};

/// What happens to the Service `web` of a namespace.
pub(super) struct Incident {
    pub(super) title: &'static str,
    /// Objects of the namespace before it.
    pub(super) before: Vec<Value>,
    /// The last write is the cause.
    pub(super) writes: Vec<Write>,
    /// Why, which object, and the client that has written it, if the API tells.
    pub(super) cause: (Option<Code>, Kind, &'static str, Option<&'static str>),
    pub(super) effect: Effect,
}

/// What an incident changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// An address, which a slice then shows.
    Address,
    /// An address, which a slice shows when the Service is written the next time.
    Later,
    /// An address, and no controller writes it.
    Unwritten,
    /// Hints.
    Hints,
    /// Nothing yet.
    None,
}

pub(super) type Cause = (Code, Kind, &'static str, &'static str);

/// Client whose name the API does not tell: a deletion, or a write that only removes fields, leaves no field manager.
const UNKNOWN: &str = "";

pub(super) fn incident(
    title: &'static str,
    before: Vec<Value>,
    writes: Vec<Write>,
    (code, kind, name, actor): Cause,
) -> Incident {
    let cause = (Some(code), kind, name, Some(actor).filter(|actor| *actor != UNKNOWN));
    Incident { title, before, writes, cause, effect: Effect::Address }
}

fn unwritten(incident: Incident) -> Incident {
    Incident { effect: Effect::Unwritten, ..incident }
}

/// No sync follows from the deletion of a Node (RC-11).
fn later(incident: Incident) -> Incident {
    Incident { effect: Effect::Later, ..incident }
}

fn without_effect(incident: Incident) -> Incident {
    Incident { effect: Effect::None, ..incident }
}

fn web() -> Vec<Value> {
    vec![service(), pod(1), pod(2)]
}

fn custom() -> Vec<Value> {
    vec![custom_service(), endpoints(&["192.0.2.1", "192.0.2.2"])]
}

pub(super) fn not_ready() -> Value {
    json!({"conditions": [ready(false)]})
}

pub(super) fn spec(fields: Value) -> Value {
    let mut patch = json!({});
    patch["spec"] = fields;
    patch
}

fn ports(name: &str, protocol: &str, target: &str) -> Value {
    spec(json!({"ports": [{"name": name, "port": 80, "protocol": protocol, "targetPort": target}]}))
}

/// Returns the incidents of a cluster whose Nodes matter only to their own Pods.
pub(super) fn of_objects() -> Vec<Incident> {
    let mut all = of_pods();
    all.extend(of_services());
    all.extend(of_slices());
    all.extend(of_custom_endpoints());
    all
}

fn of_pods() -> Vec<Incident> {
    use Code::{
        NoAddressOfFamily, NodeMissing, PodFinished, PodNotReady, PodNotSelected, PodTerminating, PodWithoutAddress,
        TargetPortUnknown, UnusableAddress,
    };
    let gate = |status: &str| json!({"type": "lb/attached", "status": status});
    let gated =
        |is_ready| if is_ready { json!([ready(true), gate("True")]) } else { json!([ready(false), gate("False")]) };
    let has_gate = |pod| {
        with(
            with(pod, "/spec", &json!({"readinessGates": [{"conditionType": "lb/attached"}]})),
            "/status",
            &json!({"conditions": gated(true)}),
        )
    };
    let address = |text: &str| json!({"podIP": text, "podIPs": [{"ip": text}]});
    let both = json!({"podIPs": [{"ip": "10.1.0.1"}, {"ip": "2001:db8::1"}]});
    let dual = json!({"clusterIP": "None", "ipFamilyPolicy": "RequireDualStack", "ipFamilies": ["IPv4", "IPv6"]});
    let one = json!({"podIPs": [{"ip": "10.1.0.1"}], "conditions": [with(ready(true), "", &json!({"message": "restarted"}))]});
    let other_port = json!([{"name": "web", "containerPort": 8080}]);
    let renamed = with(with(pod(3), "/spec/containers/0", &json!({"ports": other_port})), "", &json!({"status": null}));
    vec![
        incident(
            "a readiness probe fails",
            web(),
            vec![status("kubelet", "web-1", &not_ready())],
            (PodNotReady, Kind::Pod, "web-1", "kubelet"),
        ),
        incident(
            "a readiness gate is withdrawn",
            vec![service(), has_gate(pod(1)), pod(2)],
            vec![status("kubelet", "web-1", &json!({"conditions": gated(false)}))],
            (PodNotReady, Kind::Pod, "web-1", "kubelet"),
        ),
        incident(
            "the Node of a Pod no longer answers",
            web(),
            vec![status("kube-controller-manager", "web-1", &not_ready())],
            (PodNotReady, Kind::Pod, "web-1", "kube-controller-manager"),
        ),
        incident(
            "a Pod is evicted",
            web(),
            vec![status("kubelet", "web-1", &json!({"phase": "Failed", "conditions": [ready(false)]}))],
            (PodFinished, Kind::Pod, "web-1", "kubelet"),
        ),
        incident(
            "a Pod is deleted, and drains",
            web(),
            vec![delete("kubectl", "pods/web-1")],
            (PodTerminating, Kind::Pod, "web-1", UNKNOWN),
        ),
        incident(
            "a Pod loses its address",
            web(),
            vec![status("kubelet", "web-1", &json!({"podIP": null, "podIPs": null, "conditions": [ready(false)]}))],
            (PodWithoutAddress, Kind::Pod, "web-1", "kubelet"),
        ),
        incident(
            "the label of a Pod is changed",
            web(),
            vec![merge("kubectl-label", "pods/web-1", json!({"metadata": {"labels": {"app": "debug"}}}))],
            (PodNotSelected, Kind::Pod, "web-1", "kubectl-label"),
        ),
        incident(
            "the label of a Pod is removed",
            web(),
            vec![merge("kubectl-label", "pods/web-1", json!({"metadata": {"labels": {"app": null}}}))],
            (PodNotSelected, Kind::Pod, "web-1", UNKNOWN),
        ),
        incident(
            "a new version lacks the named port",
            web(),
            vec![create("kube-controller-manager", "pods", renamed), status("kubelet", "web-3", &running("10.1.0.3"))],
            (TargetPortUnknown, Kind::Pod, "web-3", "kubelet"),
        ),
        incident(
            "a Pod loses its IPv6 address, headless",
            vec![with(service(), "/spec", &dual), with(pod(1), "/status", &both)],
            vec![status("kubelet", "web-1", &one)],
            (NoAddressOfFamily, Kind::Pod, "web-1", "kubelet"),
        ),
        incident(
            "a Pod gets a loopback address",
            web(),
            vec![status("kubelet", "web-1", &address("127.0.0.1"))],
            (UnusableAddress, Kind::Pod, "web-1", "kubelet"),
        ),
        later(incident(
            "a Node is deleted",
            vec![node("gone", None, true), service(), pod_on("gone", 1), pod(2)],
            vec![delete("kubectl", "nodes/gone")],
            (NodeMissing, Kind::Node, "gone", UNKNOWN),
        )),
    ]
}

fn of_services() -> Vec<Incident> {
    use Code::{
        ExternalName, NoSelector, PodNotReady, PodNotSelected, ServiceTerminating, TargetPortProtocol,
        TargetPortUnknown,
    };
    let published = with(service(), "/spec", &json!({"publishNotReadyAddresses": true}));
    let failing = with(pod(1), "/status", &not_ready());
    vec![
        incident(
            "the selector is misspelt",
            web(),
            vec![merge("helm", "services/web", spec(json!({"selector": {"app": "wbe"}})))],
            (PodNotSelected, Kind::Service, "web", "helm"),
        ),
        without_effect(incident(
            "the selector is removed",
            web(),
            vec![merge("kubectl-edit", "services/web", spec(json!({"selector": null})))],
            (NoSelector, Kind::Service, "web", UNKNOWN),
        )),
        unwritten(incident(
            "the Service becomes an alias",
            web(),
            vec![merge(
                "kubectl-edit",
                "services/web",
                spec(json!({
                "type": "ExternalName", "externalName": "web.example.com", "clusterIP": null, "clusterIPs": null})),
            )],
            (ExternalName, Kind::Service, "web", "kubectl-edit"),
        )),
        incident(
            "the Service is deleted",
            web(),
            vec![delete("kubectl", "services/web")],
            (ServiceTerminating, Kind::Service, "web", UNKNOWN),
        ),
        incident(
            "the targetPort is misspelt",
            web(),
            vec![merge("kubectl-patch", "services/web", ports("http", "TCP", "htpp"))],
            (TargetPortUnknown, Kind::Service, "web", "kubectl-patch"),
        ),
        incident(
            "the port becomes UDP",
            web(),
            vec![merge("kubectl-patch", "services/web", ports("http", "UDP", "http"))],
            (TargetPortProtocol, Kind::Service, "web", "kubectl-patch"),
        ),
        incident(
            "addresses that are not ready are no longer published",
            vec![published, failing],
            vec![merge("kubectl-patch", "services/web", spec(json!({"publishNotReadyAddresses": null})))],
            (PodNotReady, Kind::Service, "web", UNKNOWN),
        ),
    ]
}

fn of_slices() -> Vec<Incident> {
    use Code::{
        DuplicateAddress, EndpointsDiffer, NoUsableEndpoint, PortWithoutRecord, SliceForeign, SliceWithoutService,
        SlicesDiffer,
    };
    let headless = || with(custom_service(), "/spec", &json!({"clusterIP": "None"}));
    let unlabelled = json!({"metadata": {"labels": {"kubernetes.io/service-name": null}}});
    vec![
        incident(
            "a slice is edited by hand",
            web(),
            vec![merge("kubectl-edit", "endpointslices/*", json!({"endpoints": []}))],
            (SlicesDiffer, Kind::EndpointSlice, "", "kubectl-edit"),
        ),
        incident(
            "a slice is deleted by hand",
            web(),
            vec![delete("kubectl", "endpointslices/*")],
            (SlicesDiffer, Kind::EndpointSlice, "", UNKNOWN),
        ),
        incident(
            "the label of a slice is removed",
            web(),
            vec![merge("kubectl-label", "endpointslices/*", unlabelled)],
            (SliceWithoutService, Kind::EndpointSlice, "", UNKNOWN),
        ),
        incident(
            "a second controller adds an address",
            web(),
            vec![create("mesh", "endpointslices", slice("web-mesh", "192.0.2.1", None))],
            (SliceForeign, Kind::EndpointSlice, "web-mesh", "mesh"),
        ),
        without_effect(incident(
            "a second controller repeats an address",
            web(),
            vec![create("mesh", "endpointslices", slice("web-mesh", "10.1.0.1", Some("web-1")))],
            (DuplicateAddress, Kind::EndpointSlice, "web-mesh", "mesh"),
        )),
        incident(
            "the only slice of a Service without a selector is deleted",
            vec![custom_service(), slice("own", "192.0.2.1", None)],
            vec![delete("kubectl", "endpointslices/own")],
            (NoUsableEndpoint, Kind::EndpointSlice, "own", UNKNOWN),
        ),
        incident(
            "the port of such a slice is renamed, headless",
            vec![headless(), slice("own", "192.0.2.1", None)],
            vec![merge(
                "kubectl-edit",
                "endpointslices/own",
                json!({"ports": [{"name": "web", "port": 8080, "protocol": "TCP"}]}),
            )],
            (PortWithoutRecord, Kind::EndpointSlice, "own", "kubectl-edit"),
        ),
        without_effect(incident(
            "Endpoints of Pods are edited by hand",
            web(),
            vec![merge("kubectl-edit", "endpoints/web", json!({"subsets": subsets(&[json!({"ip": "192.0.2.1"})])}))],
            (EndpointsDiffer, Kind::Endpoints, "web", "kubectl-edit"),
        )),
    ]
}

fn of_custom_endpoints() -> Vec<Incident> {
    use Code::{MirrorLeaderLock, MirrorSelector, MirrorSkipped, NoSelector};
    let skip = json!({"metadata": {"labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}}});
    let lock = json!({"metadata": {"annotations": {"control-plane.alpha.kubernetes.io/leader": "{}"}}});
    vec![
        incident(
            "custom Endpoints lose an address",
            custom(),
            vec![merge(
                "postgres-operator",
                "endpoints/web",
                json!({"subsets": subsets(&[json!({"ip": "192.0.2.2"})])}),
            )],
            (NoSelector, Kind::Endpoints, "web", "postgres-operator"),
        ),
        incident(
            "custom Endpoints are deleted",
            custom(),
            vec![delete("kubectl", "endpoints/web")],
            (NoSelector, Kind::Endpoints, "web", UNKNOWN),
        ),
        incident(
            "custom Endpoints get the label skip-mirror",
            custom(),
            vec![merge("mesh", "endpoints/web", skip)],
            (MirrorSkipped, Kind::Endpoints, "web", "mesh"),
        ),
        incident(
            "custom Endpoints become a lock",
            custom(),
            vec![merge("old-operator", "endpoints/web", lock)],
            (MirrorLeaderLock, Kind::Endpoints, "web", "old-operator"),
        ),
        incident(
            "the Service of custom Endpoints gets a selector",
            custom(),
            vec![merge("kubectl-edit", "services/web", spec(json!({"selector": {"app": "web"}})))],
            (MirrorSelector, Kind::Service, "web", "kubectl-edit"),
        ),
    ]
}

/// The recorder does not reach the API server while it happens.
pub(super) fn in_a_gap() -> Incident {
    let title = "a probe fails while the recorder cannot reach the API server";
    incident(
        title,
        web(),
        vec![status("kubelet", "web-1", &not_ready())],
        (Code::PodNotReady, Kind::Pod, "web-1", "kubelet"),
    )
}

/// No controller runs while it happens.
pub(super) fn without_controllers() -> Incident {
    let title = "a probe fails while no controller runs";
    unwritten(incident(
        title,
        web(),
        vec![status("kubelet", "web-1", &not_ready())],
        (Code::PodNotReady, Kind::Pod, "web-1", "kubelet"),
    ))
}
