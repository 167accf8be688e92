//! Endpoints that a user wrote, which are mirrored.

use kube_endpoint_model::well_known::ENDPOINTS_MANAGED_BY_LABEL;
use kube_endpoint_model::{Code, EndpointSubset, ObjectKey, TargetRef};

use super::faults::{self, custom, service};
use super::{Case, Explained, case, labels, stopped};
use crate::cluster::Cluster;

/// Replaces selector and slices by Endpoints that a user wrote, with one subset that `edit` changes.
fn own(it: &mut Cluster, edit: impl FnOnce(&mut EndpointSubset)) {
    custom(it, &["192.0.2.1".to_owned()]);
    edit(&mut it.endpoints.values_mut().next().expect("the Endpoints object").subsets[0]);
}

fn unready(it: &mut Cluster) {
    own(it, |subset| subset.not_ready_addresses = std::mem::take(&mut subset.addresses));
}

fn of_pod(it: &mut Cluster) {
    own(it, |subset| {
        subset.addresses[0].target_ref = Some(TargetRef::pod("shop".into(), "db-0".into(), "uid".into()));
    });
}

fn second_port(it: &mut Cluster) {
    let mut metrics = service(it).ports[0].clone();
    metrics.name = "metrics".into();
    service(it).ports.push(metrics);
    own(it, |_| ());
}

/// The selector is removed, and a Pod is deleted: slices and Endpoints stay, and the Endpoints are mirrored.
fn left_behind(it: &mut Cluster) {
    service(it).selector = None;
    it.pods.remove(&ObjectKey::new("shop", "checkout-a"));
}

/// As [`left_behind`], after somebody has deleted the slices that the warning names.
fn mirrored_left_behind(it: &mut Cluster) {
    left_behind(it);
    it.slices.clear();
}

fn alias_with_left_overs(it: &mut Cluster) {
    service(it).external_name = true;
}

fn restored_with_label(it: &mut Cluster) {
    own(it, |_| ());
    let endpoints = it.endpoints.values_mut().next().expect("the Endpoints object");
    endpoints.metadata.labels = labels(&format!("{ENDPOINTS_MANAGED_BY_LABEL}=endpoint-controller"));
}

/// The Service is deleted while no endpoints controller runs.
fn service_gone(it: &mut Cluster) {
    it.services.clear();
    it.slices.clear();
}

pub(super) const CASES: &[Case] = &[
    case('✓', "own Endpoints", |it| own(it, |_| ()), &[Code::NoSelector]),
    case(
        '✗',
        "own Endpoints, port of another name",
        |it| own(it, |subset| subset.ports[0].name = "http".into()),
        &[Code::PortUnserved],
    ),
    case(
        '✗',
        "own Endpoints, port of another protocol",
        |it| own(it, |subset| subset.ports[0].protocol = "UDP".into()),
        &[Code::PortUnserved],
    ),
    case('✗', "own Endpoints without ports", |it| own(it, |subset| subset.ports.clear()), &[Code::PortUnserved]),
    case('✗', "own Endpoints lack the second port", second_port, &[Code::PortUnserved]),
    case('✗', "own Endpoints, no address is ready", unready, &[Code::NoUsableEndpoint]),
    case(
        '✗',
        "own Endpoints without subsets",
        |it| {
            custom(it, &[]);
            it.endpoints.values_mut().for_each(|it| it.subsets.clear());
        },
        &[Code::NoUsableEndpoint],
    ),
    case(
        '✗',
        "own Endpoints of IPv6, Service of IPv4",
        |it| own(it, |subset| subset.addresses[0].ip = "fd00::1".into()),
        &[Code::NoUsableEndpoint],
    ),
    case('!', "own Endpoints refer to a Pod that is gone", of_pod, &[Code::TargetMissing]),
    case(
        '!',
        "own Endpoints with the label of the endpoints controller",
        restored_with_label,
        &[Code::EndpointsOrphaned],
    ),
    case(
        '!',
        "the selector was removed, slices and Endpoints stay",
        left_behind,
        &[Code::SliceOrphaned, Code::TargetMissing, Code::EndpointsOrphaned],
    ),
    case(
        '!',
        "the selector was removed, Endpoints stay and serve a deleted Pod",
        mirrored_left_behind,
        &[Code::TargetMissing, Code::EndpointsOrphaned],
    ),
    case(
        '!',
        "type changed to ExternalName, slices and Endpoints stay",
        alias_with_left_overs,
        &[Code::SliceOrphaned, Code::EndpointsOrphaned, Code::ExternalName],
    ),
    Case {
        explained: Explained::Endpoints,
        ..stopped(' ', "the Service is gone, and its Endpoints stay", service_gone, &[Code::EndpointsOrphaned])
    },
    case(
        '-',
        "type ExternalName, with a selector and no objects",
        |it| {
            faults::external_name(it);
            service(it).selector = Some(labels("app=checkout"));
        },
        &[Code::ExternalName],
    ),
];
