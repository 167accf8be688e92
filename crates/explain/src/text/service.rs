//! Text form of the report of a Service.

use std::collections::BTreeMap;

use kube_endpoint_model::Code;

use super::TextStyle;
use super::output::{self, Mark, Output};
use super::{rows, unknown, written};
use crate::counts::{count, thousands};
use crate::report::{HintsReport, Kind, ObjectState, Reason, ServiceReport, Severity};

/// Returns the text form of the report of a Service: a headline with its Pods and slices, then slices that are not
/// current, Pods, near misses, hints, findings, and what is unknown.
pub fn service(report: &ServiceReport, style: TextStyle) -> String {
    let mut output = Output::new(style);
    output.mark(mark(report)).text(&report.object.name).text("  ").text(&pods(report)).text(", ");
    output.text(&slices(report, style)).end_line();
    for slice in report.slices.iter().filter(|slice| slice.state != ObjectState::Current) {
        output.indented(&format!("slice {}: {}", slice.name, written::brief(slice)));
    }
    if let Some(endpoints) = report.endpoints.as_ref().filter(|object| object.state != ObjectState::Current) {
        output.indented(&format!("Endpoints {}: {}", endpoints.name, written::brief(endpoints)));
    }
    let pods = report.pods.iter().map(|pod| (pod.name.as_str(), pod));
    rows::write(&mut output, pods, &report.near_misses, style);
    hints(&mut output, &report.hints);
    output::findings(&mut output, &report.findings, &report.object);
    unknown::write(&mut output, &report.unknown);
    output.finish()
}

fn mark(report: &ServiceReport) -> Mark {
    if has(report, Code::ExternalName) {
        return report.findings.first().map_or(Mark::Neutral, |worst| worst.severity.into());
    }
    let pods_unknown = report.unknown.contains(&Kind::Pod);
    let selects_pods = without_pods(report).is_none();
    let none_serves = report.serving == 0 && selects_pods && !pods_unknown;
    let worst = report.findings.first().map(|finding| finding.severity);
    let all_serve = !selects_pods || report.serving == report.pods.len() && report.would_serve == report.pods.len();
    if none_serves || has(report, Code::NoUsableEndpoint) || worst == Some(Severity::Error) {
        Mark::Bad
    } else if pods_unknown || !all_serve || report.reasons().any(is_warning) {
        Mark::Partial
    } else {
        Mark::Good
    }
}

fn has(report: &ServiceReport, code: Code) -> bool {
    report.findings.iter().any(|finding| finding.reason.code == code)
}

/// Whether a check reports the reason.
fn is_warning(reason: &Reason) -> bool {
    reason.code.severity() > Severity::Info
}

/// Returns why the Service selects no Pods by design; `None` if it is meant to select Pods.
fn without_pods(report: &ServiceReport) -> Option<&'static str> {
    report.findings.iter().find_map(|finding| match finding.reason.code {
        Code::NoSelector => Some("no selector"),
        Code::ExternalName => Some("external name"),
        _ => None,
    })
}

fn pods(report: &ServiceReport) -> String {
    if !report.pods.is_empty() {
        let ServiceReport { serving, would_serve, .. } = report;
        let total = thousands(report.pods.len());
        // Without a slice, no client finds the Pods.
        let lacks_slices = report.slices.is_empty() && !report.unknown.contains(&Kind::EndpointSlice);
        if lacks_slices {
            return format!("{} of {total} Pods would serve", thousands(*would_serve));
        }
        let would = if would_serve > serving { format!(", {} would", thousands(*would_serve)) } else { String::new() };
        format!("{} of {total} Pods serve{would}", thousands(*serving))
    } else if let Some(reason) = without_pods(report) {
        reason.to_owned()
    } else if report.unknown.contains(&Kind::Pod) {
        "Pods unknown".to_owned()
    } else {
        "no Pod selected".to_owned()
    }
}

/// Returns for instance `3 slices (2 IPv4, 1 IPv6), written 14:02:07 by kube-controller-manager`.
fn slices(report: &ServiceReport, style: TextStyle) -> String {
    if report.slices.is_empty() {
        let unknown = report.unknown.contains(&Kind::EndpointSlice);
        return if unknown { "slices unknown" } else { "no slice" }.to_owned();
    }
    let mut types = BTreeMap::<&str, usize>::new();
    for address_type in report.slices.iter().filter_map(|slice| slice.address_type.as_deref()) {
        *types.entry(address_type).or_default() += 1;
    }
    let types: Vec<_> = match types.len() {
        1 => types.into_keys().map(str::to_owned).collect(),
        _ => types.into_iter().map(|(name, number)| format!("{} {name}", thousands(number))).collect(),
    };
    let slices = format!("{} ({})", count(report.slices.len(), "slice"), types.join(", "));
    // Of equal times, that of the first slice.
    let writes = report.slices.iter().rev().filter_map(|slice| slice.last_write.as_ref());
    match writes.max_by_key(|write| write.time) {
        Some(write) => format!("{slices}, {}", written::last_write(write, style.now)),
        None => slices,
    }
}

fn hints(output: &mut Output, hints: &HintsReport) {
    let Some(policy) = &hints.policy else { return };
    if hints.reasons.is_empty() {
        return output.indented(&format!("hints: {policy}"));
    }
    output.text("  hints: off");
    for (index, reason) in hints.reasons.iter().enumerate() {
        output.text(if index == 0 { ", " } else { "; " }).reason_after(reason, ": ");
    }
    output.end_line();
}
