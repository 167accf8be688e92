use kube_endpoint_model::Code;
use rstest::rstest;

use super::{finding, narrow};
use crate::report::{Finding, Kind, Severity};
use crate::text::{TextStyle, findings};

fn one(code: Code, severity: Severity) -> Finding {
    finding(Kind::Service, "web", severity, code, "m")
}

#[test]
fn findings_are_grouped_by_codes_and_kinds() {
    let all = [
        finding(Kind::Pod, "web-0", Severity::Warning, Code::TargetPortProtocol, "container port http is UDP"),
        finding(Kind::Service, "web", Severity::Error, Code::TargetPortUnknown, "targetPort \"http\" is unknown"),
        finding(Kind::Service, "api", Severity::Warning, Code::NoPodSelected, "selects no Pod"),
        finding(Kind::Service, "api", Severity::Error, Code::NoPort, "no port is served"),
        finding(Kind::Endpoints, "db", Severity::Warning, Code::MirrorNoService, "no Service db"),
    ];
    assert_eq!(
        findings(&all, &[], narrow()),
        "\
Selection
---------
! shop/api  EP002 selects no Pod
    https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/codes.md#EP002

✓ Pods and their readiness

Ports
-----
✗ shop/web  EP201 targetPort \"http\" is unknown
    https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/codes.md#EP201
✗ shop/api  EP203 no port is served
    https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/codes.md#EP203
! Pod shop/web-0  EP202 container port http is UDP
    https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/codes.md#EP202

✓ Addresses and Nodes
✓ Topology hints
✓ EndpointSlices and Endpoints

Mirroring
---------
! Endpoints shop/db  EP604 no Service db
    https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/codes.md#EP604

Status: 2 Services with errors; 1 Pod and 1 Endpoints with warnings
"
    );
}

#[test]
fn no_findings() {
    assert_eq!(
        findings(&[], &[], TextStyle { color: true, ..TextStyle::default() }),
        "\
\u{1b}[32m✓\u{1b}[0m Selection
\u{1b}[32m✓\u{1b}[0m Pods and their readiness
\u{1b}[32m✓\u{1b}[0m Ports
\u{1b}[32m✓\u{1b}[0m Addresses and Nodes
\u{1b}[32m✓\u{1b}[0m Topology hints
\u{1b}[32m✓\u{1b}[0m EndpointSlices and Endpoints
\u{1b}[32m✓\u{1b}[0m Mirroring

Status: no findings
"
    );
}

/// Objects are counted, each once, and not findings.
#[rstest]
#[case(&[("a", Severity::Error)], "Status: 1 Service with errors")]
#[case(&[("a", Severity::Warning), ("a", Severity::Info)], "Status: 1 Service with warnings")]
#[case(&[("a", Severity::Error), ("a", Severity::Warning), ("b", Severity::Error)], "Status: 2 Services with errors")]
#[case(
    &[("a", Severity::Error), ("b", Severity::Warning), ("c", Severity::Warning)],
    "Status: 1 Service with errors; 2 Services with warnings"
)]
fn status_counts(#[case] severities: &[(&str, Severity)], #[case] status: &str) {
    let of_service = |(name, severity): &(&str, Severity)| finding(Kind::Service, name, *severity, Code::NoPort, "m");
    let all: Vec<_> = severities.iter().map(of_service).collect();
    assert_eq!(findings(&all, &[], narrow()).lines().last(), Some(status));
}

#[test]
fn every_code_is_in_a_group() {
    for code in Code::ALL {
        let text = findings(&[one(*code, Severity::Error)], &[], narrow());
        assert!(text.contains(&format!("✗ shop/web  {code} m\n")), "{text}");
    }
}
