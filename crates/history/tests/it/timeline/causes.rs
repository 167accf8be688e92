//! Causes that are not those of a Pod, and changes that are seen in another order.

use kube_endpoints_history::Kind;
use rstest::rstest;
use serde_json::{Value, json};

use super::Put::{Object, Remove, Unseen};
use super::{CONTROLLER, Step, pod, pod_with, ready, service, slice, text_of, timeline, timeline_of, versioned, with};

fn named_port() -> Value {
    with(service(&json!({"app": "web"})), "/spec/ports/0/targetPort", json!("http"))
}

fn headless(service: Value) -> Value {
    with(service, "/spec/clusterIP", json!("None"))
}

fn foreign(addresses: &[usize]) -> Value {
    let slice = with(ready(addresses), "/metadata/name", json!("web-mesh"));
    with(slice, "/metadata/labels/endpointslice.kubernetes.io~1managed-by", json!("mesh"))
}

const NOT_READY: &str = "EP102 not ready; Pod shop/web-0 was changed by kubelet";
const WRITTEN: &str = "EndpointSlice shop/web-x was written by kube-controller-manager";

#[rstest]
#[case::slice_is_seen_first(
    &[(CONTROLLER, Object(versioned(8, slice(&[(0, false, false, false), (1, true, true, false)])))), ("kubelet", Object(versioned(7, pod(0, false))))],
    &["020Z  10.1.0.0 (Pod web-0): ready -> not ready, 1 ready: {NOT_READY}; {WRITTEN} 0 ms later"]
)]
#[case::slice_is_seen_before_a_deletion(
    &[(CONTROLLER, Object(versioned(8, ready(&[1])))), ("", Remove(Kind::Pod, "web-0"))],
    &["020Z  10.1.0.0 (Pod web-0): ready -> absent, 1 ready: EP103 the Pod no longer exists; Pod shop/web-0 was deleted; {WRITTEN} 0 ms later"]
)]
#[case::slice_was_written_before(
    &[("edit", Object(versioned(7, slice(&[(0, false, false, false), (1, true, true, false)])))), ("kubelet", Object(versioned(8, pod(0, false))))],
    &[
        "010Z  10.1.0.0 (Pod web-0): ready -> not ready, 1 ready: EP501 not as the controller would write it; EndpointSlice shop/web-x was changed by edit",
        "020Z  10.1.0.0 (Pod web-0): ready -> not ready, 1 ready: {NOT_READY}; in no slice",
    ]
)]
#[case::slices_of_two_changes_come_later(
    &[
        ("kubelet", Object(versioned(7, pod(0, false)))),
        ("kubelet", Object(versioned(9, pod(0, true)))),
        (CONTROLLER, Object(versioned(8, slice(&[(0, false, false, false), (1, true, true, false)])))),
        (CONTROLLER, Object(versioned(10, ready(&[0, 1])))),
    ],
    &[
        "010Z  10.1.0.0 (Pod web-0): ready -> not ready, 1 ready: {NOT_READY}; {WRITTEN} 20 ms later",
        "020Z  10.1.0.0 (Pod web-0): not ready -> ready, 2 ready: no longer {NOT_READY}; {WRITTEN} 20 ms later",
    ]
)]
#[case::never_shown(
    &[
        ("kubelet", Object(pod(0, false))),
        ("kubelet", Object(pod(0, true))),
        ("kubelet", Object(pod(0, false))),
        (CONTROLLER, Object(slice(&[(0, false, false, false), (1, true, true, false)]))),
    ],
    &[
        "010Z  10.1.0.0 (Pod web-0): ready -> not ready, 1 ready: {NOT_READY}; in no slice",
        "020Z  10.1.0.0 (Pod web-0): not ready -> ready, 2 ready: no longer {NOT_READY}; in no slice",
        "030Z  10.1.0.0 (Pod web-0): ready -> not ready, 1 ready: {NOT_READY}; {WRITTEN} 10 ms later",
    ]
)]
#[case::label_was_removed(
    &[("kubelet@2026-11-27T14:01:00Z", Object(pod_with(0, "/metadata/labels", json!({}))))],
    &["010Z  10.1.0.0 (Pod web-0): ready -> absent, 1 ready: EP001 the labels do not match the selector app=web; Pod shop/web-0 was changed; in no slice"]
)]
#[case::in_a_gap(
    &[("", Unseen(1)), ("kubelet@2026-11-27T14:01:00Z", Object(pod(0, false)))],
    &[
        "010Z  changes since 2026-11-27T13:02:00.010Z may be missing: no connection",
        "020Z  10.1.0.0 (Pod web-0): ready -> not ready, 1 ready: {NOT_READY}; in no slice",
    ]
)]
#[case::before_a_gap(
    &[("", Unseen(1)), ("kubelet@2026-11-27T12:01:00Z", Object(pod_with(0, "/metadata/labels", json!({}))))],
    &[
        "010Z  changes since 2026-11-27T13:02:00.010Z may be missing: no connection",
        "020Z  10.1.0.0 (Pod web-0): ready -> absent, 1 ready: EP001 the labels do not match the selector app=web; Pod shop/web-0 was changed; in no slice",
    ]
)]
#[case::misspelt(
    &[("helm", Object(service(&json!({"app": "wbe"}))))],
    &[
        "010Z  10.1.0.0 (Pod web-0): ready -> absent, 0 ready: EP001 not selected: has app=web, selector requires app=wbe (one edit away); Service shop/web was changed by helm; in no slice",
        "010Z  10.1.0.1 (Pod web-1): ready -> absent, 0 ready: EP001 not selected: has app=web, selector requires app=wbe (one edit away); Service shop/web was changed by helm; in no slice",
    ]
)]
#[case::alias(
    &[("helm", Object(with(service(&json!({"app": "web"})), "/spec/type", json!("ExternalName")))), ("kubelet", Object(pod(0, false)))],
    &[
        "010Z  10.1.0.0 (Pod web-0): ready -> absent, 0 ready: EP004 alias of an external name: no controller makes endpoints for it; Service shop/web was changed by helm; in no slice",
        "010Z  10.1.0.1 (Pod web-1): ready -> absent, 0 ready: EP004 alias of an external name: no controller makes endpoints for it; Service shop/web was changed by helm; in no slice",
        "020Z  no effect: Pod shop/web-0 was changed by kubelet",
    ]
)]
#[case::port(
    &[("helm", Object(named_port())), ("helm", Object(service(&json!({"app": "web"}))))],
    &[
        "010Z  10.1.0.0 (Pod web-0): ready -> without a port, 0 ready: EP201 targetPort \"http\" is not a port of any container (available: none has a name); Service shop/web was changed by helm; in no slice",
        "010Z  10.1.0.1 (Pod web-1): ready -> without a port, 0 ready: EP201 targetPort \"http\" is not a port of any container (available: none has a name); Service shop/web was changed by helm; in no slice",
        "020Z  10.1.0.0 (Pod web-0): without a port -> ready, 2 ready: no longer EP201 targetPort \"http\" is not a port of any container (available: none has a name); Service shop/web was changed by helm; in no slice",
        "020Z  10.1.0.1 (Pod web-1): without a port -> ready, 2 ready: no longer EP201 targetPort \"http\" is not a port of any container (available: none has a name); Service shop/web was changed by helm; in no slice",
    ]
)]
// The cluster DNS has the addresses of a headless Service, with or without ports.
#[case::port_of_a_headless_service(
    &[("helm", Object(headless(named_port())))],
    &[
        "010Z  10.1.0.0 (Pod web-0): ports 8080 -> no ports, 2 ready: EP201 targetPort \"http\" is not a port of any container (available: none has a name); Service shop/web was changed by helm; in no slice",
        "010Z  10.1.0.1 (Pod web-1): ports 8080 -> no ports, 2 ready: EP201 targetPort \"http\" is not a port of any container (available: none has a name); Service shop/web was changed by helm; in no slice",
    ]
)]
#[case::another_port(
    &[("helm", Object(with(service(&json!({"app": "web"})), "/spec/ports/0/targetPort", json!(9090))))],
    &[
        "010Z  10.1.0.0 (Pod web-0): ports 8080 -> ports 9090, 2 ready: Service shop/web was changed by helm; in no slice",
        "010Z  10.1.0.1 (Pod web-1): ports 8080 -> ports 9090, 2 ready: Service shop/web was changed by helm; in no slice",
    ]
)]
#[case::second_controller(
    &[("mesh", Object(foreign(&[9]))), ("mesh", Object(foreign(&[0]))), ("", Remove(Kind::EndpointSlice, "web-mesh"))],
    &[
        "010Z  10.1.0.9 (Pod web-9): absent -> ready, 3 ready: EP504 managed by mesh; EndpointSlice shop/web-mesh was created by mesh",
        "020Z  10.1.0.9 (Pod web-9): ready -> absent, 2 ready: EP506 10.1.0.0 of Pod web-0 is in slice web-mesh too, managed by mesh; EndpointSlice shop/web-mesh was changed by mesh",
        "030Z  no effect: EP504 managed by mesh; EndpointSlice shop/web-mesh was deleted",
    ]
)]
#[case::slice_without_a_service(
    &[("edit", Object(with(ready(&[0, 1]), "/metadata/labels/kubernetes.io~1service-name", json!("api"))))],
    &[
        "010Z  10.1.0.0 (Pod web-0): ready -> absent, 0 ready: EP510 the slice no longer has the label of the Service; EndpointSlice shop/web-x was changed by edit",
        "010Z  10.1.0.1 (Pod web-1): ready -> absent, 0 ready: EP510 the slice no longer has the label of the Service; EndpointSlice shop/web-x was changed by edit",
    ]
)]
fn causes(#[case] steps: &[Step], #[case] expected: &[&str]) {
    let expected =
        expected.iter().map(|line| line.replace("{NOT_READY}", NOT_READY).replace("{WRITTEN}", WRITTEN) + "\n");
    assert_eq!(timeline(steps), expected.collect::<String>());
}

fn custom(addresses: &[&str]) -> Value {
    let addresses: Vec<Value> = addresses.iter().map(|ip| json!({"ip": ip})).collect();
    json!({"kind": "Endpoints", "metadata": {"namespace": "shop", "name": "web"},
        "subsets": [{"addresses": addresses, "ports": [{"port": 8080, "protocol": "TCP"}]}]})
}

#[rstest]
#[case::address_removed(
    ("operator", Object(custom(&["192.0.2.1"]))),
    &["10.1.0.1: ready -> absent, 1 ready: EP003 the Endpoints object no longer contains the address; Endpoints shop/web was changed by operator"]
)]
#[case::not_ready(
    ("operator", Object(with(custom(&["192.0.2.1"]), "/subsets/0/notReadyAddresses", json!([{"ip": "10.1.0.1"}])))),
    &["10.1.0.1: ready -> not ready, 1 ready: EP003 the Endpoints object lists the address as not ready; Endpoints shop/web was changed by operator"]
)]
#[case::invalid_address(
    ("operator", Object(custom(&["192.0.2.1", "127.0.0.1"]))),
    &["10.1.0.1: ready -> absent, 1 ready: EP605 addresses of the Endpoints object that no endpoint can have, and not mirrored: 1; Endpoints shop/web was changed by operator"]
)]
#[case::skipped(
    ("mesh", Object(with(custom(&["10.1.0.1", "192.0.2.1"]), "/metadata/labels", json!({"endpointslice.kubernetes.io/skip-mirror": "true"})))),
    &[
        "10.1.0.1: ready -> absent, 0 ready: EP602 not mirrored: label endpointslice.kubernetes.io/skip-mirror is true; Endpoints shop/web was changed by mesh",
        "192.0.2.1: ready -> absent, 0 ready: EP602 not mirrored: label endpointslice.kubernetes.io/skip-mirror is true; Endpoints shop/web was changed by mesh",
    ]
)]
#[case::deleted(
    ("", Remove(Kind::Endpoints, "web")),
    &[
        "10.1.0.1: ready -> absent, 0 ready: EP003 the Endpoints object no longer exists; Endpoints shop/web was deleted",
        "192.0.2.1: ready -> absent, 0 ready: EP003 the Endpoints object no longer exists; Endpoints shop/web was deleted",
    ]
)]
#[case::selector(
    ("edit", Object(service(&json!({"app": "web"})))),
    &[
        "10.1.0.1: ready -> absent, 0 ready: EP601 not mirrored: its Service has a selector, and slices of its own; Service shop/web was changed by edit",
        "192.0.2.1: ready -> absent, 0 ready: EP601 not mirrored: its Service has a selector, and slices of its own; Service shop/web was changed by edit",
    ]
)]
fn causes_of_mirrored_slices(#[case] step: Step, #[case] expected: &[&str]) {
    let objects = [service(&json!(null)), custom(&["10.1.0.1", "192.0.2.1"])];
    let expected: Vec<String> = expected.iter().map(|line| format!("010Z  {line}; in no slice\n")).collect();
    assert_eq!(text_of(&timeline_of(&objects, &[step])), expected.concat());
}

/// The watch of Services is the last one to deliver: what the controllers have done about the Service is seen before it.
#[test]
fn a_service_is_seen_after_a_deletion_that_it_caused() {
    let objects = [service(&json!(null)), custom(&["192.0.2.1"]), foreign(&[5])];
    let steps = [
        (CONTROLLER, Object(versioned(9, custom(&["10.1.0.1"])))),
        ("", Remove(Kind::EndpointSlice, "web-mesh")),
        ("edit", Object(versioned(8, service(&json!({"app": "web"}))))),
    ];
    let expected = [
        "010Z  no effect: EP502 Endpoints object to update; Endpoints shop/web was changed by kube-controller-manager\n",
        "020Z  10.1.0.5 (Pod web-5): ready -> absent, 0 ready: EP504 managed by mesh; EndpointSlice shop/web-mesh was deleted\n",
        "030Z  192.0.2.1: ready -> absent, 1 ready: EP601 not mirrored: its Service has a selector, and slices of its own; \
         Service shop/web was changed by edit; in no slice\n",
    ];
    assert_eq!(text_of(&timeline_of(&objects, &steps)), expected.concat());
}

fn zone(name: &str) -> Value {
    json!({"kind": "Node", "metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": name}},
        "status": {"allocatable": {"cpu": "4"}, "conditions": [{"type": "Ready", "status": "True"}]}})
}

fn hinted(mode: &str) -> Value {
    with(service(&json!({"app": "web"})), "/metadata/annotations", json!({"service.kubernetes.io/topology-mode": mode}))
}

#[rstest]
#[case::unknown_mode(
    ("helm", Object(hinted("Atuo"))),
    "hints: zones -> none: EP406 topology annotation \"Atuo\" is not recognized: use Auto; Service shop/web was changed by helm"
)]
#[case::no_longer_requested(
    ("", Object(service(&json!({"app": "web"})))), "hints: zones -> none: Service shop/web was changed"
)]
#[case::other_policy(
    ("helm", Object(with(service(&json!({"app": "web"})), "/spec/trafficDistribution", json!("PreferSameNode")))),
    "hints: zones -> Nodes: Service shop/web was changed by helm"
)]
#[case::node_without_a_zone(
    ("kubelet", Object(with(zone("c"), "/metadata/labels", json!({})))),
    "hints: zones -> none: EP403 Node c has no zone label; Node c was created by kubelet"
)]
fn causes_of_missing_hints(#[case] step: Step, #[case] expected: &str) {
    let pod = |at: usize, node: &str| with(pod(at, true), "/spec/nodeName", json!(node));
    let mut hints = with(ready(&[0, 1]), "/endpoints/0/hints", json!({"forZones": [{"name": "a"}]}));
    hints["endpoints"][1]["hints"] = json!({"forZones": [{"name": "b"}]});
    let objects = [zone("a"), zone("b"), hinted("Auto"), pod(0, "a"), pod(1, "b"), hints.clone()];
    hints["endpoints"] = ready(&[0, 1])["endpoints"].clone();
    let steps = [step, (CONTROLLER, Object(hints))];
    let text = text_of(&timeline_of(&objects, &steps));
    assert_eq!(text, format!("010Z  {expected}; {WRITTEN} 10 ms later\n"));
}
