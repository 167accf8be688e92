use kube_endpoint_model::Code;
use rstest::rstest;

use super::{
    endpoint, finding, narrow, near_miss, pod_report, reason, service_of, service_report, slice, timestamp, wide,
};
use crate::report::{Finding, HintsReport, Kind, LastWrite, ObjectState, PodReport, PodState, ServiceReport, Severity};
use crate::text::{TextStyle, service};

/// Service in which everything is wrong that can be.
fn broken() -> ServiceReport {
    let mut published = pod_report(
        "checkout-7d-abd",
        PodState::Serving,
        &[
            reason(Code::PodPublishedNotReady, "not ready, and published as ready"),
            reason(Code::NoAddressOfFamily, "no IPv6 address"),
        ],
    );
    published.endpoints = vec![endpoint("10.1.20.30", &[8080, 8081, 8082, 8083, 8084])];
    let mut unnamed = pod_report(
        "checkout-7d-ghi",
        PodState::NotServing,
        &[reason(Code::TargetPortUnknown, "targetPort \"http\" is not a port of any container (available: web=8080)")],
    );
    unnamed.endpoints = vec![endpoint("10.1.2.5", &[])];
    unnamed.zone = None;
    let pending = PodReport {
        zone: None,
        node: String::new(),
        ..pod_report(
            "checkout-7d-j",
            PodState::LeftOut,
            &[reason(Code::PodWithoutAddress, "no IP address: phase Pending")],
        )
    };
    let mut report =
        service_of(vec![pod_report("checkout-7d-abc", PodState::Serving, &[]), published, unnamed, pending]);
    report.near_misses = vec![near_miss(
        "api-5c-jkl",
        "not selected: has app=check-out, selector requires app=checkout (one edit away)",
    )];
    report.hints = HintsReport {
        policy: Some("Topology".to_owned()),
        reasons: vec![reason(Code::HintsTooFewEndpoints, "fewer ready endpoints (1) than zones (2)")],
    };
    report
}

#[test]
fn pods_are_aligned() {
    assert_eq!(
        service(&broken(), narrow()),
        "\
! checkout  2 of 4 Pods serve, 1 slice (IPv4), written 14:02:07 by kube-controller-manager
  ✓ checkout-7d-abc   10.1.2.3:8080                  zone a
  ! checkout-7d-abd   10.1.20.30:8080,8081,8082,+2   zone a   EP105 not ready, and published as ready
  ✗ checkout-7d-ghi   EP201 targetPort \"http\" is not a port of any container (available: web=8080)
  ✗ checkout-7d-j     EP104 no IP address: phase Pending
  ✗ api-5c-jkl        EP001 not selected: has app=check-out, selector requires app=checkout (one edit away)
  hints: off, EP401: fewer ready endpoints (1) than zones (2)
"
    );
}

#[test]
fn wide_has_nodes_and_all_ports_and_reasons() {
    let report = ServiceReport { near_misses: Vec::new(), ..broken() };
    assert_eq!(
        service(&report, wide()),
        "\
! checkout  2 of 4 Pods serve, 1 slice (IPv4), written 14:02:07 by kube-controller-manager
  ✓ checkout-7d-abc   10.1.2.3:8080                         zone a   node node-1
  ! checkout-7d-abd   10.1.20.30:8080,8081,8082,8083,8084   zone a   node node-1   EP105 not ready, and published as ready
                                                                                   EP301 no IPv6 address
  ✗ checkout-7d-ghi   10.1.2.5                                       node node-1   EP201 targetPort \"http\" is not a port of any container (available: web=8080)
  ✗ checkout-7d-j                                                                  EP104 no IP address: phase Pending
  hints: off, EP401: fewer ready endpoints (1) than zones (2)
"
    );
}

#[test]
fn marks_and_codes_are_colored() {
    let text = service(&broken(), TextStyle { color: true, ..narrow() });
    assert!(text.starts_with("\u{1b}[33m!\u{1b}[0m checkout  2 of 4 Pods serve"), "{text}");
    let colored = "  \u{1b}[31m✗\u{1b}[0m checkout-7d-j     \u{1b}[2mEP104\u{1b}[0m no IP address: phase Pending\n";
    assert!(text.contains(colored), "{text}");
}

#[test]
fn both_families_are_shown() {
    let mut first = pod_report("web-0", PodState::Serving, &[]);
    first.endpoints = vec![endpoint("10.1.2.3", &[8080, 9090]), endpoint("fd00::1", &[8080, 9090])];
    first.zone = None;
    let mut report = service_of(vec![first]);
    report.slices = vec![slice("a", "IPv4"), slice("b", "IPv4"), slice("c", "IPv6")];
    report.slices[1].last_write =
        Some(LastWrite { manager: "kubectl-edit".to_owned(), time: timestamp("2026-06-30T23:00:00Z") });
    report.slices[2].last_write = None;
    report.hints.policy = Some("PreferSameZone".to_owned());
    assert_eq!(
        service(&report, narrow()),
        "\
✓ checkout  1 of 1 Pods serve, 3 slices (2 IPv4, 1 IPv6), written 14:02:07 by kube-controller-manager
  ✓ web-0   10.1.2.3:8080,9090 [fd00::1]:8080,9090
  hints: PreferSameZone
"
    );
}

#[test]
fn objects_that_are_not_current_have_a_line() {
    let mut report = service_of(vec![pod_report("web-0", PodState::Serving, &[])]);
    report.slices = vec![slice("a", "IPv4"), slice("b", "IPv4"), slice("c", "IPv4"), slice("d", "IPv4")];
    report.slices[1].state = ObjectState::Outdated;
    report.slices[2].state = ObjectState::Foreign;
    report.slices[2].managed_by = Some("example.com/controller".to_owned());
    report.slices[3].state = ObjectState::Terminating;
    report.slices[3].endpoints = 1;
    report.endpoints =
        Some(crate::WrittenObject { address_type: None, state: ObjectState::Outdated, ..slice("checkout", "") });
    report.findings = vec![
        finding(Kind::EndpointSlice, "b", Severity::Warning, Code::SlicesDiffer, "1 endpoint would be removed"),
        finding(Kind::Endpoints, "checkout", Severity::Warning, Code::EndpointsDiffer, "checkout lacks 1 address"),
        finding(Kind::Service, "checkout", Severity::Info, Code::DuplicateAddress, "2 endpoints have 10.1.2.3"),
    ];
    report.unknown = vec![Kind::Node];
    report.serving = 0;
    assert_eq!(
        service(&report, narrow()),
        "\
✗ checkout  0 of 1 Pods serve, 1 would, 4 slices (IPv4), written 14:02:07 by kube-controller-manager
  slice b: outdated, 3 endpoints
  slice c: foreign, managed by example.com/controller, 3 endpoints
  slice d: terminating, 1 endpoint
  Endpoints checkout: outdated, 3 endpoints
  ✓ web-0   10.1.2.3:8080   zone a
  ! EP501 EndpointSlice b: 1 endpoint would be removed
  ! EP502 checkout lacks 1 address
  - EP506 2 endpoints have 10.1.2.3
  unknown: may not read Nodes: zones and hints are unknown
"
    );
}

/// Service with 1,254 serving Pods, and one between them that is not ready.
fn large() -> ServiceReport {
    let mut pods: Vec<_> =
        (0..1_254).map(|index| pod_report(&format!("web-{index:04}"), PodState::Serving, &[])).collect();
    let reasons = [reason(Code::PodNotReady, "not ready since 14:01:55")];
    pods.insert(1_000, pod_report("web-0999-b", PodState::NotServing, &reasons));
    ServiceReport { near_misses: vec![near_miss("api", "not selected: has no label app")], ..service_of(pods) }
}

#[test]
fn serving_pods_are_summarised() {
    let text = service(&large(), narrow());
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 20 + 3, "{text}");
    assert!(lines[0].starts_with("! checkout  1,254 of 1,255 Pods serve, "), "{text}");
    assert_eq!(
        lines[20..],
        [
            "  ✓ web-0019     10.1.2.3:8080   zone a",
            "  ✗ web-0999-b   EP102 not ready since 14:01:55",
            "  ✓ and 1,234 more",
            "  ✗ api          EP001 not selected: has no label app",
        ]
    );
    let text = service(&large(), wide());
    assert!(text.lines().count() == 1 + 1_255 + 1 && !text.contains("more"));
    let mut report = large();
    report.pods.truncate(20);
    assert!(!service(&report, narrow()).contains("more"));
}

#[test]
fn reasons_for_missing_hints_are_on_one_line() {
    let few = reason(Code::HintsTooFewEndpoints, "fewer ready endpoints (1) than zones (2)");
    let zone = reason(Code::HintsEndpointZone, "no zone for 10.1.2.3");
    let mut report = service_of(vec![pod_report("web-0", PodState::Serving, &[])]);
    report.hints = HintsReport { policy: Some("Topology".to_owned()), reasons: vec![few, zone] };
    let text = service(&report, narrow());
    let hints = "  hints: off, EP401: fewer ready endpoints (1) than zones (2); EP405: no zone for 10.1.2.3";
    assert_eq!(text.lines().last(), Some(hints));
    report.hints.policy = None;
    assert!(!service(&report, narrow()).contains("hints"));
}

fn of_checkout((code, severity): (Code, Severity)) -> Finding {
    finding(Kind::Service, "checkout", severity, code, "m")
}

#[rstest]
#[case::all_serve(&[PodState::Serving], None, "✓")]
#[case::info(&[PodState::Serving], Some((Code::SliceForeign, Severity::Info)), "✓")]
#[case::warning(&[PodState::Serving], Some((Code::DuplicateAddress, Severity::Warning)), "!")]
#[case::error(&[PodState::Serving], Some((Code::DuplicateAddress, Severity::Error)), "✗")]
#[case::some_serve(&[PodState::Serving, PodState::LeftOut], None, "!")]
#[case::none_serves(&[PodState::NotServing, PodState::LeftOut], None, "✗")]
fn mark_follows_pods_and_findings(
    #[case] states: &[PodState],
    #[case] of_service: Option<(Code, Severity)>,
    #[case] mark: &str,
) {
    let pods = states.iter().map(|state| pod_report("web-0", *state, &[])).collect();
    let mut report = service_of(pods);
    report.findings.extend(of_service.map(of_checkout));
    let text = service(&report, narrow());
    assert!(text.starts_with(&format!("{mark} checkout  ")), "{text}");
}

#[rstest]
#[case::none_selected(Some((Code::NoPodSelected, Severity::Warning)), &[], "✗ checkout  no Pod selected, no slice")]
#[case::no_selector(Some((Code::NoSelector, Severity::Info)), &[], "✓ checkout  no selector, no slice")]
#[case::external_name(Some((Code::ExternalName, Severity::Info)), &[], "- checkout  external name, no slice")]
#[case::pods_unknown(None, &[Kind::Pod], "! checkout  Pods unknown, no slice")]
#[case::all_unknown(None, &[Kind::Pod, Kind::EndpointSlice], "! checkout  Pods unknown, slices unknown")]
fn headline_without_pods(
    #[case] of_service: Option<(Code, Severity)>,
    #[case] unknown: &[Kind],
    #[case] headline: &str,
) {
    let mut report = ServiceReport { slices: Vec::new(), unknown: unknown.to_vec(), ..service_report() };
    report.findings.extend(of_service.map(of_checkout));
    assert_eq!(service(&report, narrow()).lines().next(), Some(headline));
}
