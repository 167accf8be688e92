//! The law of explanations: they report as endpoints exactly those that the controllers write, and as reasons those that
//! the rules of membership return.

use std::collections::BTreeSet;
use std::sync::Arc;

use kube_endpoint_model::membership::{self, PodReason};
use kube_endpoint_model::well_known::SLICE_CONTROLLER;
use kube_endpoint_model::{AddressType, Code, IpFamily, ObjectKey, Pod, Service};
use kube_endpoints_explain::{Change, PodReport, PodState, ServiceReport};
use kube_endpointslice::{Hints, Input, Options, Owner, TypePlan, desired_endpoints_from_service_pods, plan};
use kube_wire::Object as _;

use crate::cluster::{Cluster, expect_rest};

pub(crate) mod planned;
pub(crate) mod written;

/// An endpoint: name of the Pod, address type, address, port numbers, and whether it is ready.
type Seen = (String, String, String, Vec<i32>, bool);

/// Checks the law before and after the controllers write. Returns the number of Pods that were explained.
pub(crate) fn check_and_settle(cluster: &mut Cluster) -> usize {
    let (before, changes) = check(cluster);
    cluster.write_all(changes);
    let (after, changes) = check(cluster);
    expect_rest(changes);
    before + after
}

/// Checks the law for all Services of a cluster. Returns the number of Pods that were explained, and the changes of the
/// world.
pub(crate) fn check(cluster: &Cluster) -> (usize, Vec<Change>) {
    let world = cluster.world();
    let changes = planned::check(cluster, &world);
    let mut explained = 0;
    for service in cluster.services.values() {
        let report = world.service(&service.key()).expect("a Service of the world");
        let selects = service.selector.is_some() && !service.external_name;
        let expected = if selects { planned(cluster, service) } else { BTreeSet::new() };
        assert_eq!(reported(&report), expected, "endpoints of {}", service.key());
        for pod in &report.pods {
            let of_cluster =
                cluster.pods.values().find(|it| it.namespace == service.namespace && *it.name == *pod.name);
            check_reasons(cluster, service, of_cluster.expect("a Pod of the cluster"), pod);
            explained += 1;
        }
        // One: the explanation of a Pod plans for the whole Service.
        if let Some(pod) = report.pods.first() {
            let key = ObjectKey::new(service.namespace.clone(), pod.name.as_str());
            let own = world.pod(&key).expect("a Pod of the world");
            let own = own.services.iter().find(|it| *it.service == *service.name).expect("a Service that selects it");
            assert_eq!(own.pod, *pod, "Pod {key} in {}", service.name);
        }
        let serving = report.pods.iter().filter(|pod| pod.state == PodState::Serving).count();
        assert_eq!(report.would_serve, serving);
        written::check(cluster, service, &report);
    }
    (explained, changes)
}

fn reported(report: &ServiceReport) -> BTreeSet<Seen> {
    let of_pod = |pod: &PodReport| {
        let name = pod.name.clone();
        pod.endpoints.clone().into_iter().map(move |it| {
            let mut ports = it.ports;
            ports.sort_unstable();
            (name.clone(), it.address_type, it.address, ports, it.ready)
        })
    };
    report.pods.iter().flat_map(of_pod).collect()
}

/// Returns the endpoints that the slice controller writes if there are no slices yet.
fn planned(cluster: &Cluster, service: &Service) -> BTreeSet<Seen> {
    let selector = service.selector.as_ref().expect("a selector");
    let selected =
        cluster.pods.values().filter(|it| it.namespace == service.namespace && it.labels.contains_all(selector));
    let pods: Vec<Arc<Pod>> = selected.cloned().map(Arc::new).collect();
    let node = |name: &str| cluster.nodes.values().find(|node| *node.name == *name).cloned().map(Arc::new);
    let desired = desired_endpoints_from_service_pods(service, &pods, node);
    // While the Service is being deleted, no slice is created: not what is decided about its Pods.
    let mut owner = Owner::service(service);
    owner.terminating = false;
    let types = service.address_types();
    let input = Input::new(&owner, &types, desired.groups, &[]);
    let plan = plan(input, Hints::Leave, &Options::for_services(SLICE_CONTROLLER));
    let slices = plan.types.iter().flat_map(TypePlan::creates);
    let endpoints = slices.flat_map(|slice| slice.endpoints.iter().map(move |endpoint| (slice, endpoint)));
    endpoints
        .map(|(slice, endpoint)| {
            let target = endpoint.target_ref.as_ref().expect("a target");
            let mut ports: Vec<i32> = slice.ports.iter().filter_map(|port| port.port).collect();
            ports.sort_unstable();
            let address = endpoint.addresses[0].to_string();
            (target.name().to_string(), slice.address_type.as_str().to_owned(), address, ports, endpoint.is_ready())
        })
        .collect()
}

/// Checks the first reason of a Pod against the rules of membership, in the order in which they apply.
fn check_reasons(cluster: &Cluster, service: &Service, pod: &Pod, report: &PodReport) {
    // What is written is the subject of another law.
    let reasons = report.reasons.iter().filter(|reason| reason.code != Code::PodNotWritten);
    let codes: Vec<Code> = reasons.map(|reason| reason.code).collect();
    let node_missing =
        !service.publish_not_ready_addresses && !cluster.nodes.values().any(|node| *node.name == *pod.node_name);
    let left_out = membership::exclusion(pod, true).or(node_missing.then_some(PodReason::NodeMissing));
    let families = service.address_types().into_iter().map(|it| match it {
        AddressType::IPv4 => IpFamily::V4,
        _ => IpFamily::V6,
    });
    let missing: Vec<PodReason> = families.filter_map(|family| membership::addresses(pod, family).err()).collect();
    let no_family = missing.len() == service.address_types().len();
    if let Some(reason) = left_out {
        assert_eq!((report.state, codes[0]), (PodState::LeftOut, reason.code()), "{}", pod.name);
        return;
    }
    if no_family {
        assert_eq!((report.state, codes[0]), (PodState::LeftOut, missing[0].code()), "{}", pod.name);
        return;
    }
    let ports: Vec<PodReason> =
        service.ports.iter().filter_map(|port| membership::find_port(pod, port).err()).collect();
    let serves_none = !ports.is_empty() && ports.len() == service.ports.len();
    let unready = membership::unready(pod, service.publish_not_ready_addresses);
    // The DNS of a headless Service has addresses, with or without ports.
    let is_found = !serves_none || &*service.cluster_ip == "None";
    assert_eq!(report.state == PodState::Serving, unready.is_none() && is_found, "{}", pod.name);
    let first = if serves_none { Some(ports[0]) } else { unready.or(ports.first().copied()) };
    let first = first.or(missing.first().copied()).map(PodReason::code);
    let published = membership::unready(pod, false).filter(|_| unready.is_none()).map(|_| Code::PodPublishedNotReady);
    assert_eq!(codes.first().copied(), first.or(published), "{}", pod.name);
    for reason in unready.iter().chain(&ports).chain(&missing) {
        assert!(codes.contains(&reason.code()), "{}: {codes:?} lacks {reason:?}", pod.name);
    }
}
