//! Output for failed runs of a batch.

use std::io::Write as _;

use kube_simulation::Outcome;

/// Maximum number of violations that are printed per run.
const LINES: usize = 5;

/// Prints the arguments that replay a failed run, and its first violations.
pub(super) fn failure(name: &str, outcome: &Outcome) {
    let mut out = std::io::stdout().lock();
    // Errors are ignored: standard output may be a closed pipe.
    let _ = writeln!(out, "FAILED: {name}");
    for violation in outcome.violations.iter().take(LINES) {
        let _ = writeln!(out, "    {violation}");
    }
    if outcome.violations.len() > LINES {
        let _ = writeln!(out, "    … and {} more", outcome.violations.len() - LINES);
    }
}
