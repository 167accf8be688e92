//! Text form of the findings of a check.

use super::TextStyle;
use super::counts::count;
use super::output::{Mark, Output};
use crate::report::{Finding, Kind, ObjectRef, Severity};

const CODES: &str = "https://github.com/kube-endpoints/kube-endpoints/blob/main/docs/src/codes.md";

/// Titles of the groups, by the start of their codes.
const GROUPS: [(&str, &str); 8] = [
    ("EP0", "Selection"),
    ("EP1", "Pods and their readiness"),
    ("EP2", "Ports"),
    ("EP3", "Addresses and Nodes"),
    ("EP4", "Topology hints"),
    ("EP5", "EndpointSlices and Endpoints"),
    ("EP6", "Mirroring"),
    (PLACEMENT, "Placement"),
];

/// Start of the codes that describe planned writes. A check has no such findings, so that the group is left out while
/// it is empty.
const PLACEMENT: &str = "EP7";

/// Returns the text form of the findings of a check, in groups by the hundreds of their codes, and in each group by
/// kind. The last line counts errors and warnings.
pub fn findings(findings: &[Finding], style: TextStyle) -> String {
    let mut output = Output::new(style);
    for (start, title) in GROUPS {
        let mut group: Vec<_> =
            findings.iter().filter(|finding| finding.reason.code.as_str().starts_with(start)).collect();
        group.sort_by_key(|finding| finding.object.kind);
        if group.is_empty() {
            if start != PLACEMENT {
                output.mark(Mark::Good).text(title).end_line();
            }
            continue;
        }
        output.separate();
        output.text(title).end_line();
        output.text(&"-".repeat(title.len())).end_line();
        for Finding { object, severity, reason } in group {
            output.mark((*severity).into()).text(&name(object)).text("  ").reason(reason).end_line();
            output.text(&format!("    {CODES}#{}", reason.code)).end_line();
        }
        output.end_line();
    }
    output.separate();
    output.text(&status(findings)).end_line();
    output.finish()
}

/// Returns the namespace and name, with the kind unless it is a Service.
fn name(object: &ObjectRef) -> String {
    match object.kind {
        Kind::Service => format!("{}/{}", object.namespace, object.name),
        _ => object.to_string(),
    }
}

fn status(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "Status: no findings".to_owned();
    }
    let number = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let (errors, warnings) = (number(Severity::Error), number(Severity::Warning));
    format!("Status: {}, {}", count(errors, "error"), count(warnings, "warning"))
}
