//! Why the rules make of an address what it is.

use kube_endpoint_model::{Code, Labels};
use kube_endpoints_explain::{Finding, Kind, ObjectRef, Reason, ServiceReport};

use super::entry::{EndpointChange, EndpointState, Hints, HintsChange};
use crate::What;

/// A reason, and whether it is one that has ended.
pub(super) type Why = (Option<Reason>, bool);

/// The explanations of a Service before and after a change; `None` without the Service. That before is only there if a reason may
/// have ended.
pub(super) struct Reports<'a> {
    pub(super) before: Option<ServiceReport>,
    pub(super) after: Option<ServiceReport>,
    pub(super) what: &'a What,
    /// The changed object.
    pub(super) object: &'a ObjectRef,
}

/// Reasons for which an Endpoints object, or a part of it, is not mirrored.
const MIRRORING: [Code; 6] = [
    Code::MirrorSelector,
    Code::MirrorSkipped,
    Code::MirrorLeaderLock,
    Code::MirrorNoService,
    Code::MirrorInvalidAddress,
    Code::MirrorLimit,
];

/// What is wrong with a slice that no controller of ours manages, or with the Service because of it. Whether its Pods exist
/// is not known: a replay of a Service has only those that it selects.
const HAND_WRITTEN: [Code; 5] = [
    Code::NoUsableEndpoint,
    Code::PortUnserved,
    Code::PortWithoutRecord,
    Code::DuplicateAddress,
    Code::SeveralAddresses,
];

impl Reports<'_> {
    /// Returns the reason for the change of an address. `selector` is that of the Service after the change.
    pub(super) fn of_address(&self, endpoint: &EndpointChange, selector: Option<&Labels>) -> Why {
        let Some(after) = &self.after else { return now(Code::ServiceTerminating, "the Service no longer exists") };
        if let Some(alias) = finding(after, &[Code::ExternalName]) {
            return (Some(alias), false);
        }
        let pod_before = endpoint.pod.as_deref().and_then(|pod| reasons_of(self.before.as_ref()?, pod));
        if endpoint.became_ready() {
            let ended =
                pod_before.and_then(|reasons| of_state(reasons, endpoint.from)).or_else(|| self.ended(&MIRRORING));
            return over(ended);
        }
        let Some(selector) = selector else { return self.of_endpoints(endpoint.to, after) };
        let Some(pod) = endpoint.pod.as_deref() else {
            return now(Code::MirrorSelector, "not mirrored: its Service has a selector, and slices of its own");
        };
        let Some(reasons) = reasons_of(after, pod) else { return self.of_unselected(pod, after, selector) };
        if endpoint.from == endpoint.to {
            let lost = of_state(reasons, EndpointState::NoPort);
            let ended = || pod_before.and_then(|reasons| of_state(reasons, EndpointState::NoPort));
            return lost.map_or_else(|| over(ended()), |reason| (Some(reason), false));
        }
        (of_state(reasons, endpoint.to), false)
    }

    /// Returns the reason for which a Pod that the Service does not select is no endpoint.
    fn of_unselected(&self, pod: &str, after: &ServiceReport, selector: &Labels) -> Why {
        if self.object.kind == Kind::Pod && matches!(self.what, What::Removed(_)) {
            return now(Code::PodTerminating, "the Pod no longer exists");
        }
        if let Some(near) = after.near_misses.iter().find(|near| near.name == pod) {
            return (Some(near.reason.clone()), false);
        }
        let pairs: Vec<String> = selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
        now(Code::PodNotSelected, format!("the labels do not match the selector {}", pairs.join(",")))
    }

    /// Returns the reason for an address of a Service without a selector.
    fn of_endpoints(&self, to: EndpointState, after: &ServiceReport) -> Why {
        if let Some(begun) = self.begun(&MIRRORING) {
            return (Some(begun), false);
        }
        let message = match (to, &after.endpoints) {
            (EndpointState::Absent, None) => "the Endpoints object no longer exists",
            (EndpointState::Absent, Some(_)) => "the Endpoints object no longer contains the address",
            (EndpointState::NotReady, _) => "the Endpoints object lists the address as not ready",
            _ => return (None, false),
        };
        now(Code::NoSelector, message)
    }

    /// Returns the reason for a change of hints.
    pub(super) fn of_hints(&self, change: HintsChange) -> Why {
        let missing = |report: &Option<ServiceReport>| {
            let report = report.as_ref()?;
            finding(report, &[Code::HintsUnknownPolicy]).or_else(|| report.hints.reasons.first().cloned())
        };
        match change.to {
            Hints::None => (missing(&self.after), false),
            _ if change.from == Hints::None => over(missing(&self.before)),
            _ => (None, false),
        }
    }

    /// Returns the reason for a change of a slice that no controller of ours manages.
    pub(super) fn of_foreign_slice(&self, managed_by: Option<&str>) -> Reason {
        self.begun(&HAND_WRITTEN).unwrap_or_else(|| Reason {
            code: Code::SliceForeign,
            message: format!("managed by {}", managed_by.unwrap_or("no controller")),
        })
    }

    /// Returns the first reason with one of these codes that there was not before.
    fn begun(&self, codes: &[Code]) -> Option<Reason> {
        first_only_in(self.after.as_ref()?, self.before.as_ref(), codes)
    }

    /// Returns the first reason with one of these codes that there no longer is.
    fn ended(&self, codes: &[Code]) -> Option<Reason> {
        first_only_in(self.before.as_ref()?, self.after.as_ref(), codes)
    }
}

/// Returns the reason for which a change of an object has no effect, by the explanation after it.
pub(super) fn without_effect(after: &ServiceReport, object: &ObjectRef) -> Option<Reason> {
    match object.kind {
        Kind::Pod => reasons_of(after, &object.name)?.first().cloned(),
        Kind::Service => finding(after, &[Code::ExternalName, Code::NoSelector, Code::ServiceTerminating]),
        Kind::Endpoints => finding(after, &[Code::EndpointsDiffer]).or_else(|| finding(after, &MIRRORING)),
        Kind::Node | Kind::EndpointSlice => None,
    }
}

fn now(code: Code, message: impl Into<String>) -> Why {
    (Some(Reason { code, message: message.into() }), false)
}

fn over(ended: Option<Reason>) -> Why {
    let has_ended = ended.is_some();
    (ended, has_ended)
}

fn finding(report: &ServiceReport, codes: &[Code]) -> Option<Reason> {
    report.findings.iter().map(|finding| &finding.reason).find(|reason| codes.contains(&reason.code)).cloned()
}

fn first_only_in(report: &ServiceReport, other: Option<&ServiceReport>, codes: &[Code]) -> Option<Reason> {
    let has = |finding: &Finding, other: &ServiceReport| other.findings.iter().any(|it| it.reason == finding.reason);
    let only = report.findings.iter().filter(|it| codes.contains(&it.reason.code));
    let mut only = only.filter(|finding| !other.is_some_and(|other| has(finding, other)));
    only.next().map(|finding| finding.reason.clone())
}

/// Returns the reasons about a Pod; `None` if the Service does not select it. That no slice has it yet is none of them.
fn reasons_of<'a>(report: &'a ServiceReport, pod: &str) -> Option<&'a [Reason]> {
    let reasons = &report.pods.iter().find(|it| it.name == pod)?.reasons;
    // It is always the last one.
    Some(match reasons.split_last() {
        Some((last, others)) if last.code == Code::PodNotWritten => others,
        _ => reasons,
    })
}

/// Returns the reason for which a Pod has a state.
fn of_state(reasons: &[Reason], state: EndpointState) -> Option<Reason> {
    let is_of_state = |code: Code| match state {
        EndpointState::Absent => {
            !matches!(code, Code::PodNotReady | Code::PodPublishedNotReady) && !is_about_ports(code)
        }
        EndpointState::NotReady => code == Code::PodNotReady,
        EndpointState::Draining | EndpointState::Terminating => code == Code::PodTerminating,
        EndpointState::NoPort => is_about_ports(code),
        EndpointState::Ready => false,
    };
    reasons.iter().find(|reason| is_of_state(reason.code)).cloned()
}

fn is_about_ports(code: Code) -> bool {
    matches!(code, Code::TargetPortUnknown | Code::TargetPortProtocol | Code::NoPort)
}
