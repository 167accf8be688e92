//! Text form of the report of an EndpointSlice or Endpoints object.

use super::output::{self, Mark, Output};
use super::{TextStyle, unknown, written};
use crate::counts::{count, thousands};
use crate::report::{Kind, ObjectReport, ObjectState, Severity};

/// Returns the text form of the report of an EndpointSlice or Endpoints object: a headline with its state, then
/// findings, slices that mirror it, and what is unknown.
pub fn object(report: &ObjectReport, style: TextStyle) -> String {
    let mut output = Output::new(style);
    output.mark(mark(report)).text(&report.object.name).text("  ").text(&state(report, style)).end_line();
    output::findings(&mut output, &report.findings, &report.object);
    if !report.mirrors.is_empty() {
        let slices = count(report.mirrors.len(), "slice");
        output.indented(&format!("mirrored by {slices}: {}", report.mirrors.join(", ")));
    }
    unknown::write(&mut output, &report.unknown);
    output.finish()
}

fn mark(report: &ObjectReport) -> Mark {
    let worst = report.findings.iter().map(|finding| finding.severity).max();
    match (worst, report.written.state) {
        (Some(Severity::Error), _) => Mark::Bad,
        (Some(Severity::Warning), _)
        | (_, ObjectState::Outdated | ObjectState::Superfluous | ObjectState::Orphaned) => Mark::Partial,
        (_, ObjectState::Foreign | ObjectState::Terminating | ObjectState::Unknown) => Mark::Neutral,
        (_, ObjectState::Current) => Mark::Good,
    }
}

fn state(report: &ObjectReport, style: TextStyle) -> String {
    let object = &report.written;
    let mut parts = vec![format!("{} ({})", written::word(object.state), written::meaning(object.state))];
    parts.push(report.service.as_ref().map_or_else(|| "no Service".to_owned(), |name| format!("Service {name}")));
    parts.extend(object.address_type.clone());
    parts.push(format!("{} of {} ready", thousands(object.ready), count(object.endpoints, "endpoint")));
    match &object.managed_by {
        Some(manager) => parts.push(format!("managed by {manager}")),
        // Only slices always have the label.
        None if report.object.kind == Kind::EndpointSlice => parts.push("without managed-by label".to_owned()),
        None => {}
    }
    parts.extend(object.last_write.as_ref().map(|write| written::last_write(write, style.now)));
    parts.join(", ")
}
