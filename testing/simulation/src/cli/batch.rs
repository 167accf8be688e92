//! Runs many simulations in parallel.

use std::io::Write as _;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::Result;
use kube_simulation::{Outcome, Simulation};

/// Number of failures after which no further run is started.
const MAX_FAILURES: usize = 10;

/// Maximum number of violations that are printed per run.
const LINES: usize = 5;

/// Sums over the runs of a batch.
#[derive(Debug, Default)]
struct Totals {
    runs: u32,
    failures: usize,
    faults: usize,
}

/// Runs simulations, given by their names and functions that build them, on all cores. Returns whether all runs passed.
pub(super) fn run<F>(jobs: impl Iterator<Item = (String, F)> + Send) -> Result<bool>
where
    F: FnOnce() -> Simulation,
{
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let (jobs, totals) = (Mutex::new(jobs), Mutex::new(Totals::default()));
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
    let add = |name: &str, outcome: &Outcome| {
        let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
        totals.runs += 1;
        totals.faults += outcome.plan.len();
        if !outcome.violations.is_empty() {
            totals.failures += 1;
            print(name, &outcome.violations);
        }
        totals.failures < MAX_FAILURES
    };
    #[expect(clippy::disallowed_methods, reason = "the summary contains the elapsed real time")]
    let began = std::time::Instant::now();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((name, simulation)) = next() {
                    if !add(&name, &simulation().run()) {
                        break;
                    }
                }
            });
        }
    });
    let seconds = began.elapsed().as_secs_f64();
    let Totals { runs, failures, faults } = totals.into_inner().unwrap_or_else(PoisonError::into_inner);
    writeln!(
        std::io::stdout(),
        "{runs} runs with {faults} faults, {failures} failed, in {seconds:.1} s on {threads} threads ({:.0} a second)",
        f64::from(runs) / seconds,
    )?;
    Ok(failures == 0)
}

/// Prints the arguments that replay a failed run, and its first violations.
fn print(name: &str, violations: &[String]) {
    let mut out = std::io::stdout().lock();
    // Errors are ignored: standard output may be a closed pipe.
    let _ = writeln!(out, "FAILED: {name}");
    for violation in violations.iter().take(LINES) {
        let _ = writeln!(out, "    {violation}");
    }
    if violations.len() > LINES {
        let _ = writeln!(out, "    … and {} more", violations.len() - LINES);
    }
}
