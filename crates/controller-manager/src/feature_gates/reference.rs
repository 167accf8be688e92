//! The tables of feature gates in Markdown.

use std::fmt::Write as _;

use super::releases::{History, ranges};
use super::{FeatureGates, OWN_GATES, Stage};

/// Returns the tables of the feature gates of Kubernetes 1.36 and of other releases in Markdown: the generated part of
/// `docs/src/feature-gates.md`.
pub fn feature_gate_reference() -> String {
    let mut text = "\n| Gate | Stage | Default | Locked | Kubernetes |\n|---|---|---|---|---|\n".to_owned();
    for (gate, on) in FeatureGates::default().all() {
        let stage = match gate.stage {
            Stage::Alpha => "alpha",
            Stage::Beta => "beta",
            Stage::Stable => "stable",
            Stage::Deprecated => "deprecated",
        };
        let releases = match History::find(gate.name) {
            Some(history) => ranges(&history.releases()),
            None if OWN_GATES.contains(&gate) => String::new(),
            // `AllAlpha` and `AllBeta`, which are not in the table.
            None => "all".to_owned(),
        };
        let (on, locked) = (if on { "on" } else { "off" }, if gate.locked { "yes" } else { "" });
        // Writing to a string does not fail.
        let _ = writeln!(text, "| `{}` | {stage} | {on} | {locked} | {releases} |", gate.name);
    }
    text.push_str("\n## Gates of other releases\n\nIgnored with a warning.\n\n| Gate | Kubernetes |\n|---|---|\n");
    let current = FeatureGates::default();
    for history in History::all().filter(|it| !current.states.contains_key(it.name)) {
        let _ = writeln!(text, "| `{}` | {} |", history.name, ranges(&history.releases()));
    }
    text
}
