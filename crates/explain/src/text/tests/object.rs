use kube_endpoint_model::Code;
use rstest::rstest;

use super::{finding, narrow, object_ref, slice};
use crate::report::{Kind, ObjectReport, ObjectState, Severity, WrittenObject};
use crate::text::{TextStyle, object};

fn slice_report(state: ObjectState) -> ObjectReport {
    ObjectReport {
        object: object_ref(Kind::EndpointSlice, "web-abc12"),
        service: Some("web".to_owned()),
        written: WrittenObject { state, ..slice("web-abc12", "IPv4") },
        mirrors: Vec::new(),
        findings: Vec::new(),
        unknown: Vec::new(),
    }
}

#[test]
fn slice_that_is_current() {
    assert_eq!(
        object(&slice_report(ObjectState::Current), TextStyle::default()),
        "✓ web-abc12  current (as the controllers would write it), Service web, IPv4, 2 of 3 endpoints ready, managed by \
         endpointslice-controller.k8s.io, written 2026-07-01 14:02:07Z by kube-controller-manager\n"
    );
}

#[test]
fn slice_without_labels() {
    let mut report = slice_report(ObjectState::Orphaned);
    report.service = None;
    report.written.managed_by = None;
    report.written.last_write = None;
    report.findings = vec![finding(
        Kind::EndpointSlice,
        "web-abc12",
        Severity::Warning,
        Code::SliceOrphaned,
        "no label kubernetes.io/service-name",
    )];
    report.unknown = vec![Kind::Service, Kind::Pod];
    assert_eq!(
        object(&report, narrow()),
        "\
! web-abc12  orphaned (no controller updates it any more), no Service, IPv4, 2 of 3 endpoints ready, without managed-by label
  ! EP503 no label kubernetes.io/service-name
  unknown: may not read Services: their selectors and ports are unknown
  unknown: may not read Pods: the expected endpoints are unknown
"
    );
}

#[test]
fn endpoints_with_mirrors() {
    let mut report = slice_report(ObjectState::Current);
    report.object = object_ref(Kind::Endpoints, "web");
    report.written.address_type = None;
    report.written.managed_by = None;
    report.mirrors = vec!["web-a".to_owned(), "web-b".to_owned()];
    report.findings = vec![finding(
        Kind::Endpoints,
        "web",
        Severity::Warning,
        Code::MirrorInvalidAddress,
        "address 10.0.0.300 is invalid",
    )];
    assert_eq!(
        object(&report, narrow()),
        "\
! web  current (as the controllers would write it), Service web, 2 of 3 endpoints ready, written 14:02:07 by kube-controller-manager
  ! EP605 address 10.0.0.300 is invalid
  mirrored by 2 slices: web-a, web-b
"
    );
}

#[rstest]
#[case(ObjectState::Current, "✓ web-abc12  current (")]
#[case(ObjectState::Outdated, "! web-abc12  outdated (the controllers would update it), ")]
#[case(ObjectState::Superfluous, "! web-abc12  superfluous (the controllers would delete it), ")]
#[case(ObjectState::Orphaned, "! web-abc12  orphaned (")]
#[case(ObjectState::Foreign, "- web-abc12  foreign (another program manages it), ")]
#[case(ObjectState::Terminating, "- web-abc12  terminating (it is being deleted), ")]
#[case(ObjectState::Unknown, "- web-abc12  unknown (not compared), ")]
fn states_are_explained(#[case] state: ObjectState, #[case] start: &str) {
    let text = object(&slice_report(state), narrow());
    assert!(text.starts_with(start), "{text}");
}

#[rstest]
#[case(Severity::Info, "✓ ")]
#[case(Severity::Warning, "! ")]
#[case(Severity::Error, "✗ ")]
fn findings_make_the_mark_worse(#[case] severity: Severity, #[case] mark: &str) {
    let mut report = slice_report(ObjectState::Current);
    report.findings = vec![finding(Kind::EndpointSlice, "web-abc12", severity, Code::DuplicateAddress, "m")];
    let text = object(&report, narrow());
    assert!(text.starts_with(mark), "{text}");
}
