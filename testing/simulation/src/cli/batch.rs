//! Runs many simulations in parallel, with a progress bar.

use std::io::{IsTerminal as _, Write as _};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kube_simulation::{EntryKind, Outcome, Simulation};

use super::report;

/// Limits of a batch of runs.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Batch {
    /// Number of threads; all cores by default.
    #[arg(long, global = true)]
    threads: Option<NonZeroUsize>,
    /// Number of failures after which no further run is started.
    #[arg(long, global = true, default_value_t = 10)]
    max_failures: usize,
}

/// Sums over the runs of a batch.
#[derive(Debug, Default)]
struct Totals {
    runs: u64,
    failures: usize,
    steps: usize,
    requests: usize,
    faults: usize,
    virtual_time: Duration,
    slowest: Duration,
}

impl Totals {
    fn add(&mut self, outcome: &Outcome) {
        self.runs += 1;
        self.failures += usize::from(!outcome.violations.is_empty());
        self.faults += outcome.plan.len();
        self.virtual_time += outcome.log.entries().last().map(|entry| entry.at).unwrap_or_default();
        self.slowest = self.slowest.max(outcome.settled_after.unwrap_or_default());
        for entry in outcome.log.entries() {
            match entry.what {
                EntryKind::User { .. } => self.steps += 1,
                EntryKind::Request { .. } => self.requests += 1,
                _ => {}
            }
        }
    }
}

/// Runs `count` simulations. `job` returns the name and the simulation of a run, given its number; `each` is called
/// with the number and the outcome of each run, in any order. Returns whether all runs passed.
pub(super) fn run(
    batch: Batch,
    count: u64,
    job: impl Fn(u64) -> (String, Simulation) + Sync,
    each: impl Fn(u64, &Outcome) + Sync,
) -> Result<bool> {
    if count == 0 {
        return Ok(true);
    }
    let threads =
        batch.threads.map_or_else(|| thread::available_parallelism().map_or(1, NonZeroUsize::get), NonZeroUsize::get);
    let bar = ProgressBar::new(count);
    if !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar.set_style(ProgressStyle::with_template("{wide_bar} {pos}/{len} runs, {per_sec}, {eta} left")?);
    let (next, failures, totals) = (AtomicU64::new(0), AtomicUsize::new(0), Mutex::new(Totals::default()));
    #[expect(clippy::disallowed_methods, reason = "the summary contains the elapsed real time")]
    let began = std::time::Instant::now();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while failures.load(Ordering::Relaxed) < batch.max_failures {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    let (name, simulation) = job(index);
                    let outcome = simulation.run();
                    if !outcome.violations.is_empty() {
                        failures.fetch_add(1, Ordering::Relaxed);
                        bar.suspend(|| report::failure(&name, &outcome));
                    }
                    each(index, &outcome);
                    totals.lock().unwrap_or_else(std::sync::PoisonError::into_inner).add(&outcome);
                    bar.inc(1);
                }
            });
        }
    });
    bar.finish_and_clear();
    let took = began.elapsed();
    let totals = totals.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let Totals { runs, failures, steps, requests, faults, virtual_time, slowest } = totals;
    writeln!(
        std::io::stdout(),
        "{runs} runs, {failures} failed, in {:.1} s on {threads} threads ({:.0} a second): {steps} operations, \
         {requests} requests, {faults} faults, {:.1} days of virtual time; the slowest settled after {:.1} s",
        took.as_secs_f64(),
        f64::from(u32::try_from(runs).unwrap_or(u32::MAX)) / took.as_secs_f64(),
        virtual_time.as_secs_f64() / 86_400.0,
        slowest.as_secs_f64(),
    )?;
    Ok(failures == 0)
}
