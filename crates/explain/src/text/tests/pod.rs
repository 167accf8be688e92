use kube_endpoint_model::Code;

use super::{narrow, near_miss, object_ref, pod_report, reason, wide};
use crate::report::{Kind, NearMiss, PodOfService, PodServicesReport, PodState, Reason};
use crate::text::pod;

fn report(
    services: &[(&str, PodState, &[Reason])],
    near_misses: Vec<NearMiss>,
    unknown: Vec<Kind>,
) -> PodServicesReport {
    let services = services.iter().map(|(service, state, reasons)| PodOfService {
        service: (*service).to_owned(),
        pod: pod_report("web-0", *state, reasons),
    });
    PodServicesReport { object: object_ref(Kind::Pod, "web-0"), services: services.collect(), near_misses, unknown }
}

#[test]
fn services_have_a_line_each() {
    let unnamed = [reason(Code::TargetPortUnknown, "targetPort \"http\" is not a port of any container")];
    let near_misses = vec![near_miss("checkout", "not selected: has app=check-out, selector requires app=checkout")];
    let services: &[(&str, PodState, &[Reason])] = &[
        ("admin", PodState::LeftOut, &unnamed),
        ("web", PodState::Serving, &[]),
        ("web-headless", PodState::Serving, &[]),
    ];
    assert_eq!(
        pod(&report(services, near_misses, vec![Kind::Node]), narrow()),
        "\
web-0: endpoint of 2 of 3 Services that select it
  ✗ admin          EP201 targetPort \"http\" is not a port of any container
  ✓ web            10.1.2.3:8080   zone a
  ✓ web-headless   10.1.2.3:8080   zone a
  ✗ checkout       EP001 not selected: has app=check-out, selector requires app=checkout
  unknown: may not read Nodes: zones and hints are unknown
"
    );
}

#[test]
fn headline_distinguishes_endpoints_that_do_not_serve() {
    let not_ready = [reason(Code::PodNotReady, "not ready since 14:01:55")];
    let services: &[(&str, PodState, &[Reason])] =
        &[("web", PodState::NotServing, &not_ready), ("web-headless", PodState::Serving, &[])];
    assert_eq!(
        pod(&report(services, Vec::new(), Vec::new()), wide()),
        "\
web-0: endpoint of 2 of 2 Services that select it, serving in 1
  ✗ web            10.1.2.3:8080   zone a   node node-1   EP102 not ready since 14:01:55
  ✓ web-headless   10.1.2.3:8080   zone a   node node-1
"
    );
}

#[test]
fn headline_does_not_count_services_whose_slices_lack_the_pod() {
    let not_written = [reason(Code::PodNotWritten, "ready, and in no slice that clients use")];
    assert_eq!(
        pod(&report(&[("web", PodState::Serving, &not_written)], Vec::new(), Vec::new()), narrow()),
        "\
web-0: endpoint of 1 of 1 Services that select it, serving in 0
  ! web   10.1.2.3:8080   zone a   EP508 ready, and in no slice that clients use
"
    );
}

#[test]
fn pod_without_services() {
    assert_eq!(pod(&report(&[], Vec::new(), Vec::new()), narrow()), "web-0: no Service selects it\n");
}

#[test]
fn pod_whose_services_are_unknown() {
    assert_eq!(
        pod(&report(&[], Vec::new(), vec![Kind::Service]), narrow()),
        "\
web-0: Services unknown
  unknown: may not read Services: their selectors and ports are unknown
"
    );
}
