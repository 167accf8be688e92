//! Slices that a user or another program wrote.

use kube_endpoint_model::well_known::{SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL};
use kube_endpoint_model::{Code, EndpointSlice};
use kube_wire::Object as _;
use serde_json::{Value, json};

use super::faults::{self, first_pod, service};
use super::{Case, Explained, case, labels, stopped};
use crate::cluster::Cluster;

fn insert(it: &mut Cluster, name: &str, address_type: &str, ports: &Value, endpoints: &Value) {
    let labels = json!({SERVICE_NAME_LABEL: "checkout", SLICE_MANAGED_BY_LABEL: "ops.example.com"});
    let metadata = json!({"namespace": "shop", "name": name, "labels": labels});
    let slice = json!({"metadata": metadata, "addressType": address_type, "ports": ports, "endpoints": endpoints});
    let slice: EndpointSlice = serde_json::from_value(slice).expect("a slice");
    it.slices.insert(slice.key(), slice);
}

/// Replaces selector, slices and Endpoints of the Service by a slice that a user wrote.
fn own(it: &mut Cluster, address_type: &str, ports: &Value, endpoints: &Value) {
    faults::no_selector(it);
    insert(it, "checkout-own", address_type, ports, endpoints);
}

fn web() -> Value {
    json!([{"name": "web", "protocol": "TCP", "port": 8080}])
}

fn address() -> Value {
    json!([{"addresses": ["192.0.2.1"]}])
}

fn with_ports(it: &mut Cluster, ports: &Value) {
    own(it, "IPv4", ports, &address());
}

fn with_endpoints(it: &mut Cluster, endpoints: &Value) {
    own(it, "IPv4", &web(), endpoints);
}

/// As [`with_endpoints`], with one endpoint that has a further field.
fn with_endpoint(it: &mut Cluster, field: &str, value: Value) {
    let mut endpoints = address();
    endpoints[0][field] = value;
    with_endpoints(it, &endpoints);
}

fn second_port(it: &mut Cluster) {
    let mut metrics = service(it).ports[0].clone();
    metrics.name = "metrics".into();
    service(it).ports.push(metrics);
    with_ports(it, &web());
}

fn unnamed_port(it: &mut Cluster) {
    service(it).ports[0].name = "".into();
    with_ports(it, &json!([{"name": "postgresql", "protocol": "TCP", "port": 5432}]));
}

fn headless(it: &mut Cluster) {
    service(it).cluster_ip = "None".into();
    with_ports(it, &json!([{"name": "http", "protocol": "TCP", "port": 8080}]));
}

fn headless_without_slices(it: &mut Cluster) {
    service(it).cluster_ip = "None".into();
    faults::no_selector(it);
}

fn of_service(it: &mut Cluster, name: &str) {
    with_ports(it, &web());
    let slice = it.slices.values_mut().next().expect("the slice");
    slice.metadata.labels = if name.is_empty() { labels("") } else { labels(&format!("{SERVICE_NAME_LABEL}={name}")) };
}

fn without_label(it: &mut Cluster) {
    let slice = it.slices.values().next().expect("a slice").clone();
    it.slices.clear();
    let mut lost = slice;
    lost.metadata.name = "checkout-lost".into();
    lost.metadata.labels = labels(&format!("{SLICE_MANAGED_BY_LABEL}=endpointslice-controller.k8s.io"));
    it.slices.insert(lost.key(), lost);
}

fn without_manager(it: &mut Cluster) {
    let slice = it.slices.values_mut().next().expect("a slice");
    slice.metadata.labels = labels(&format!("{SERVICE_NAME_LABEL}=checkout"));
}

fn slice_of_the_controller(it: &mut Cluster, edit: impl FnOnce(&mut EndpointSlice)) {
    edit(it.slices.values_mut().next().expect("a slice"));
}

fn edited_addresses(it: &mut Cluster) {
    slice_of_the_controller(it, |slice| slice.endpoints[0].addresses = ["10.9.9.9"].into_iter().collect());
}

fn edited_conditions(it: &mut Cluster) {
    slice_of_the_controller(it, |slice| {
        slice.endpoints.iter_mut().for_each(|endpoint| endpoint.conditions.ready = Some(false));
    });
}

fn new_pod(it: &mut Cluster) {
    super::insert(it, super::pod("checkout-d", "10.1.0.4", "node-a"));
}

fn stale_pod(it: &mut Cluster) {
    first_pod(it).ready = false;
}

pub(super) const CASES: &[Case] = &[
    case('✓', "own slice", |it| with_ports(it, &web()), &[Code::NoSelector, Code::SliceForeign]),
    case('✓', "own slice without conditions", |it| with_endpoint(it, "conditions", json!({})), &[Code::NoSelector]),
    case(
        '✓',
        "own slice, endpoint that does not serve, `ready` absent",
        |it| with_endpoint(it, "conditions", json!({"serving": false})),
        &[Code::NoSelector],
    ),
    case(
        '✓',
        "own slice, only endpoints that drain",
        |it| with_endpoint(it, "conditions", json!({"ready": false, "serving": true, "terminating": true})),
        &[Code::NoSelector],
    ),
    case(
        '✗',
        "own slice, port of another name",
        |it| with_ports(it, &json!([{"name": "http", "protocol": "TCP", "port": 8080}])),
        &[Code::PortUnserved, Code::NoSelector],
    ),
    case('✗', "own slice with a named port, Service with one without", unnamed_port, &[Code::PortUnserved]),
    case(
        '✗',
        "own slice, port without a name",
        |it| with_ports(it, &json!([{"protocol": "TCP", "port": 8080}])),
        &[Code::PortUnserved],
    ),
    case(
        '✗',
        "own slice, port of another protocol",
        |it| with_ports(it, &json!([{"name": "web", "protocol": "UDP", "port": 8080}])),
        &[Code::PortUnserved],
    ),
    case(
        '✗',
        "own slice, port without a number",
        |it| with_ports(it, &json!([{"name": "web", "protocol": "TCP"}])),
        &[Code::PortUnserved],
    ),
    case('✗', "own slice without ports", |it| with_ports(it, &json!([])), &[Code::PortUnserved]),
    case('✗', "own slice lacks the second port", second_port, &[Code::PortUnserved]),
    case('✗', "own slice without endpoints", |it| with_endpoints(it, &json!([])), &[Code::NoUsableEndpoint]),
    case(
        '✗',
        "own slice, no endpoint is ready",
        |it| with_endpoint(it, "conditions", json!({"ready": false})),
        &[Code::NoUsableEndpoint],
    ),
    case(
        '✗',
        "own slice with a host name",
        |it| own(it, "FQDN", &web(), &json!([{"addresses": ["db.example.com"]}])),
        &[Code::NoUsableEndpoint],
    ),
    case(
        '✗',
        "own slice of IPv6, Service of IPv4",
        |it| own(it, "IPv6", &web(), &json!([{"addresses": ["fd00::1"]}])),
        &[Code::NoUsableEndpoint],
    ),
    case('✗', "own slice without a Service's name", |it| of_service(it, ""), &[Code::NoUsableEndpoint]),
    case('✗', "own slice with a misspelt Service's name", |it| of_service(it, "chekcout"), &[Code::NoUsableEndpoint]),
    case(
        '!',
        "own slice, two addresses in one endpoint",
        |it| with_endpoints(it, &json!([{"addresses": ["192.0.2.1", "192.0.2.2"]}])),
        &[Code::SeveralAddresses],
    ),
    case(
        '!',
        "own slice refers to a Pod that is gone",
        |it| with_endpoint(it, "targetRef", json!({"kind": "Pod", "namespace": "shop", "name": "db-0"})),
        &[Code::TargetMissing],
    ),
    case('!', "headless, own slice with a port of another name", headless, &[Code::PortWithoutRecord]),
    case('✗', "headless, no selector and no slice", headless_without_slices, &[Code::NoUsableEndpoint]),
    case(
        '✓',
        "a service mesh adds a slice with addresses of its own",
        |it| insert(it, "checkout-mesh", "IPv4", &web(), &address()),
        &[Code::SliceForeign],
    ),
    case('!', "someone removes the managed-by label", without_manager, &[Code::DuplicateAddress, Code::SliceForeign]),
    Case {
        explained: Explained::Slice("checkout-lost"),
        ..case('✓', "someone removes the service-name label; the slice", without_label, &[Code::SliceWithoutService])
    },
    stopped(
        '✗',
        "someone deletes the slices, the controllers have stopped",
        |it| it.slices.clear(),
        &[Code::SlicesDiffer, Code::PodNotWritten],
    ),
    stopped(
        '!',
        "someone edits an address in a slice, the controllers have stopped",
        edited_addresses,
        &[Code::SlicesDiffer],
    ),
    stopped(
        '✗',
        "someone edits the conditions in a slice, the controllers have stopped",
        edited_conditions,
        &[Code::SlicesDiffer, Code::PodNotWritten],
    ),
    stopped('!', "a Pod is new, the controllers have stopped", new_pod, &[Code::SlicesDiffer, Code::PodNotWritten]),
    stopped(
        '!',
        "a Pod became not ready, the controllers have stopped",
        stale_pod,
        &[Code::PodNotReady, Code::SlicesDiffer],
    ),
];
