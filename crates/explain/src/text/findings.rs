//! Text form of the findings of a check.

use std::collections::BTreeMap;

use super::TextStyle;
use super::output::{Mark, Output};
use crate::counts::{count, thousands};
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
/// kind. The last line counts the objects with errors and those with warnings. `unknown` are the kinds that could not
/// be read: topics that depend on them are not marked as good.
pub fn findings(findings: &[Finding], unknown: &[Kind], style: TextStyle) -> String {
    let mut output = Output::new(style);
    for (start, title) in GROUPS {
        let mut group: Vec<_> =
            findings.iter().filter(|finding| finding.reason.code.as_str().starts_with(start)).collect();
        group.sort_by_key(|finding| finding.object.kind);
        if group.is_empty() {
            if start != PLACEMENT {
                let missing: Vec<Kind> = unknown.iter().copied().filter(|kind| needs(start).contains(kind)).collect();
                let mark = if missing.is_empty() { Mark::Good } else { Mark::Neutral };
                output.mark(mark).text(title);
                if !missing.is_empty() {
                    output.text(&format!(": not fully checked: {}", may_not_read(&missing)));
                }
                output.end_line();
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
    output.text(&status(findings));
    if !unknown.is_empty() {
        output.text(&format!("; not fully checked: {}", may_not_read(unknown)));
    }
    output.end_line();
    output.finish()
}

/// Returns the kinds that a topic depends on.
fn needs(topic: &str) -> &'static [Kind] {
    match topic {
        "EP1" => &[Kind::Service, Kind::Pod],
        // Also which endpoints receive traffic.
        "EP0" | "EP2" => &[Kind::Service, Kind::Pod, Kind::EndpointSlice],
        "EP3" => &[Kind::Service, Kind::Pod, Kind::Node],
        "EP4" => &[Kind::Service, Kind::Pod, Kind::Node, Kind::EndpointSlice],
        "EP6" => &[Kind::Service, Kind::Endpoints],
        _ => &[Kind::Service, Kind::Pod, Kind::Node, Kind::Endpoints, Kind::EndpointSlice],
    }
}

/// Returns for instance `may not read Pods and Nodes`.
pub fn may_not_read(kinds: &[Kind]) -> String {
    let plural = |kind: &Kind| match kind {
        Kind::Endpoints => kind.to_string(),
        _ => format!("{kind}s"),
    };
    format!("may not read {}", kinds.iter().map(plural).collect::<Vec<_>>().join(" and "))
}

/// Returns the namespace and name, with the kind unless it is a Service.
fn name(object: &ObjectRef) -> String {
    match object.kind {
        Kind::Service => format!("{}/{}", object.namespace, object.name),
        _ => object.to_string(),
    }
}

/// Returns for instance `Status: 2 Services with errors; 1 Service and 3 EndpointSlices with warnings`. An object with
/// both counts once.
fn status(findings: &[Finding]) -> String {
    let mut worst: BTreeMap<&ObjectRef, Severity> = BTreeMap::new();
    for Finding { object, severity, .. } in findings {
        let of_object = worst.entry(object).or_insert(*severity);
        *of_object = (*severity).max(*of_object);
    }
    let objects = |severity: Severity, what: &str| {
        let mut kinds: BTreeMap<Kind, usize> = BTreeMap::new();
        for (object, _) in worst.iter().filter(|(_, it)| **it == severity) {
            *kinds.entry(object.kind).or_default() += 1;
        }
        let counts: Vec<String> = kinds.into_iter().map(|(kind, number)| counted(number, kind)).collect();
        (!counts.is_empty()).then(|| format!("{} with {what}", counts.join(" and ")))
    };
    let parts = [objects(Severity::Error, "errors"), objects(Severity::Warning, "warnings")];
    match parts.into_iter().flatten().collect::<Vec<_>>() {
        parts if parts.is_empty() => "Status: no findings".to_owned(),
        parts => format!("Status: {}", parts.join("; ")),
    }
}

fn counted(number: usize, kind: Kind) -> String {
    match kind {
        Kind::Endpoints => format!("{} Endpoints", thousands(number)),
        _ => count(number, &kind.to_string()),
    }
}
