//! The table of broken Services.

use kube_endpoint_model::Code;

use super::{Case, Explained, case, faults, stopped};
use crate::cluster::Cluster;

const fn endpoints(mark: char, fault: &'static str, inject: fn(&mut Cluster), causes: &'static [Code]) -> Case {
    Case { explained: Explained::Endpoints, ..case(mark, fault, inject, causes) }
}

/// Beside those of the book.
pub(crate) const UNUSABLE_ADDRESS: Case =
    case('!', "a Pod reports a loopback address", faults::unusable_address, &[Code::UnusableAddress]);

pub(crate) const CASES: &[Case] = &[
    case('✗', "misspelt selector", faults::selector_typo, &[Code::PodNotSelected, Code::NoPodSelected]),
    case('✗', "misspelt label in the Pod template", faults::label_typo, &[Code::PodNotSelected, Code::NoPodSelected]),
    case('✗', "selector of another application", faults::other_selector, &[Code::NoPodSelected]),
    case('✗', "scaled to zero", faults::no_pods, &[Code::NoPodSelected]),
    case('✗', "no selector and no endpoints", faults::no_selector, &[Code::NoUsableEndpoint, Code::NoSelector]),
    case('-', "type ExternalName", faults::external_name, &[Code::ExternalName]),
    case('✗', "all Pods have completed", faults::finished, &[Code::PodFinished]),
    case('!', "an evicted Pod whose address was reused", faults::evicted, &[Code::PodFinished]),
    case('✗', "readiness gate that no controller sets", faults::readiness_gate, &[Code::PodNotReady]),
    case('!', "all Pods are being deleted", faults::terminating, &[Code::PodTerminating]),
    case('✗', "Pods that fit on no Node", faults::unscheduled, &[Code::PodWithoutAddress]),
    case('✓', "publishNotReadyAddresses hides failing probes", faults::published, &[Code::PodPublishedNotReady]),
    case('✗', "misspelt targetPort", faults::unknown_target_port, &[Code::TargetPortUnknown, Code::NoPort]),
    case('!', "one Pod's container port was renamed", faults::renamed_container_port, &[Code::TargetPortUnknown]),
    case('✗', "UDP in the Service, TCP in the container", faults::protocol, &[Code::TargetPortProtocol, Code::NoPort]),
    case('✗', "second port that no container has", faults::second_port, &[Code::PortUnserved, Code::TargetPortUnknown]),
    case(
        '✗',
        "misspelt targetPort, and no Pod is ready",
        faults::ports_and_readiness,
        &[Code::TargetPortUnknown, Code::PodNotReady],
    ),
    case('✗', "IPv6 Service, IPv4 Pods", faults::other_family, &[Code::NoAddressOfFamily]),
    case('!', "dual-stack Service, IPv4 Pods", faults::second_family, &[Code::NoAddressOfFamily]),
    case('✗', "invalid address reported by the container runtime", faults::invalid_address, &[Code::InvalidAddress]),
    case('✗', "all Node objects are gone", faults::nodes_missing, &[Code::NodeMissing]),
    case('!', "topology hints, two Pods for three zones", faults::too_few_endpoints, &[Code::HintsTooFewEndpoints]),
    case('!', "topology hints in a cluster without Nodes", faults::no_nodes, &[Code::HintsOneZone]),
    case('!', "topology hints, a Node reports no CPU", faults::node_without_cpu, &[Code::HintsNodeInformation]),
    case('!', "topology hints, one zone has most of the CPU", faults::uneven_cpu, &[Code::HintsOverload]),
    case('!', "topology hints, a Node without a zone", faults::endpoint_without_zone, &[Code::HintsEndpointZone]),
    case('!', "misspelt trafficDistribution", faults::unknown_distribution, &[Code::HintsUnknownPolicy]),
    stopped(
        '!',
        "the controllers have stopped, and a Pod has a new address",
        faults::moved_pod,
        &[Code::SlicesDiffer, Code::EndpointsDiffer],
    ),
    stopped('!', "Endpoints edited by hand", faults::edited_endpoints, &[Code::EndpointsDiffer]),
    case('!', "the selector was removed", faults::selector_removed, &[Code::SliceOrphaned, Code::NoSelector]),
    case(
        '!',
        "a service mesh adds a slice with the addresses of the Pods",
        faults::foreign_slice,
        &[Code::DuplicateAddress, Code::SliceForeign],
    ),
    case('✓', "a finalizer keeps an old slice", faults::terminating_slice, &[Code::SliceTerminating]),
    case('!', "two Pods report the same address", faults::duplicate_address, &[Code::DuplicateAddress]),
    case('!', "more than 1,000 Pods", faults::truncated, &[Code::EndpointsTruncated]),
    endpoints('✓', "Endpoints of a Service with a selector", faults::mirror_of_selector, &[Code::MirrorSelector]),
    case(
        '✗',
        "own Endpoints with the label skip-mirror",
        faults::skip_mirror,
        &[Code::NoUsableEndpoint, Code::MirrorSkipped],
    ),
    case(
        '✗',
        "own Endpoints that are a leader lock",
        faults::leader_lock,
        &[Code::NoUsableEndpoint, Code::MirrorLeaderLock],
    ),
    endpoints(' ', "own Endpoints without a Service", faults::mirror_without_service, &[Code::MirrorNoService]),
    case('!', "own Endpoints with a host name as address", faults::mirror_invalid, &[Code::MirrorInvalidAddress]),
    case('!', "own Endpoints with 1,001 addresses", faults::mirror_limit, &[Code::MirrorLimit]),
];
