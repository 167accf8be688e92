//! What is printed of a failure.

use std::io::Write as _;

use kube_simulation::Outcome;

/// Lines of violations that are printed of a run in a batch.
const LINES: usize = 5;

/// Prints the violations of a run in a batch, and the command that replays it.
pub(super) fn failure(name: &str, outcome: &Outcome) {
    let mut out = std::io::stdout().lock();
    // Nothing can be done about a closed pipe.
    let _ = writeln!(out, "FAILED: {name}");
    for violation in outcome.violations.iter().take(LINES) {
        let _ = writeln!(out, "    {violation}");
    }
    if outcome.violations.len() > LINES {
        let _ = writeln!(out, "    … and {} more", outcome.violations.len() - LINES);
    }
}
