mod findings;
mod object;
mod parts;
mod pod;
mod service;

use jiff::Timestamp;
use kube_endpoint_model::Code;

use super::TextStyle;
use crate::report::{
    Finding, HintsReport, Kind, LastWrite, NearMiss, ObjectRef, ObjectState, PodEndpointReport, PodReport, PodState,
    Reason, ServiceReport, Severity, WrittenObject,
};

/// On the day of the writes.
fn narrow() -> TextStyle {
    TextStyle { now: Some(timestamp("2026-07-01T15:00:00Z")), ..TextStyle::default() }
}

fn wide() -> TextStyle {
    TextStyle { wide: true, ..narrow() }
}

fn timestamp(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn object_ref(kind: Kind, name: &str) -> ObjectRef {
    ObjectRef { kind, namespace: "shop".to_owned(), name: name.to_owned() }
}

fn reason(code: Code, message: &str) -> Reason {
    Reason { code, message: message.to_owned() }
}

fn finding(kind: Kind, name: &str, severity: Severity, code: Code, message: &str) -> Finding {
    Finding { object: object_ref(kind, name), severity, reason: reason(code, message) }
}

fn near_miss(name: &str, message: &str) -> NearMiss {
    NearMiss { name: name.to_owned(), reason: reason(Code::PodNotSelected, message) }
}

fn endpoint(address: &str, ports: &[i32]) -> PodEndpointReport {
    let address_type = if address.contains(':') { "IPv6" } else { "IPv4" };
    PodEndpointReport {
        address_type: address_type.to_owned(),
        address: address.to_owned(),
        ports: ports.to_vec(),
        ready: true,
    }
}

/// Pod on a Node in zone a, with an endpoint unless it is left out.
fn pod_report(name: &str, state: PodState, reasons: &[Reason]) -> PodReport {
    PodReport {
        name: name.to_owned(),
        state,
        endpoints: if state == PodState::LeftOut { Vec::new() } else { vec![endpoint("10.1.2.3", &[8080])] },
        zone: Some("a".to_owned()),
        node: "node-1".to_owned(),
        reasons: reasons.to_vec(),
    }
}

/// Current slice with three endpoints, two of which are ready.
fn slice(name: &str, address_type: &str) -> WrittenObject {
    WrittenObject {
        name: name.to_owned(),
        address_type: Some(address_type.to_owned()),
        endpoints: 3,
        ready: 2,
        managed_by: Some("endpointslice-controller.k8s.io".to_owned()),
        last_write: Some(LastWrite {
            manager: "kube-controller-manager".to_owned(),
            time: timestamp("2026-07-01T14:02:07Z"),
        }),
        state: ObjectState::Current,
    }
}

/// Service `checkout` without Pods.
fn service_report() -> ServiceReport {
    ServiceReport {
        object: object_ref(Kind::Service, "checkout"),
        serving: 0,
        would_serve: 0,
        pods: Vec::new(),
        near_misses: Vec::new(),
        slices: vec![slice("checkout-x2x", "IPv4")],
        endpoints: None,
        hints: HintsReport { policy: None, reasons: Vec::new() },
        findings: Vec::new(),
        unknown: Vec::new(),
    }
}

/// Service `checkout` with these Pods.
fn service_of(pods: Vec<PodReport>) -> ServiceReport {
    let serving = pods.iter().filter(|pod| pod.state == PodState::Serving).count();
    ServiceReport { serving, would_serve: serving, pods, ..service_report() }
}
