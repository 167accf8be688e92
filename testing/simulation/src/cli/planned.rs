//! Runs simulations without faults, and repeats each of them under plans of one fault.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use kube_simulation::sieve::{Pattern, plans};
use kube_simulation::{Faults, Plan, Simulation};

use super::batch::{self, Batch};
use super::subject::Subject;

/// Counts of one pattern: a row of the printed table.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    points: usize,
    pruned: usize,
    runs: usize,
    failures: usize,
}

/// One simulation, by its index, under one plan.
struct Job {
    run: usize,
    pattern: Pattern,
    plan: Plan,
}

/// Runs each simulation without faults, and then under the plans for its log: all of them if `all` is set, otherwise
/// those that remain after pruning. Prints a table. Returns whether all runs passed.
pub(super) fn run(batch: Batch, runs: &[(Subject, Simulation)], all: bool) -> Result<bool> {
    let found = Mutex::new((BTreeMap::<Pattern, Row>::new(), Vec::new()));
    let job = |index: u64| {
        let (subject, simulation) = at(runs, index);
        (format!("replay {subject}"), simulation.clone())
    };
    let calm = batch::run(batch, count(runs.len()), job, |index, outcome| {
        let run = usize::try_from(index).unwrap_or_default();
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        let (rows, jobs) = &mut *found;
        for pattern in Pattern::ALL {
            let [every, pruned] = [false, true].map(|pruned| plans(&outcome.log, pattern, pruned));
            let row = rows.entry(pattern).or_default();
            row.points += every.len();
            row.pruned += pruned.len();
            let chosen = if all { every } else { pruned };
            jobs.extend(chosen.into_iter().map(|plan| Job { run, pattern, plan }));
        }
    })?;
    let (mut rows, mut jobs) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Outcomes arrive in the order in which the threads finish.
    jobs.sort_by_key(|job| (job.run, job.pattern));
    let done = Mutex::new(Vec::with_capacity(jobs.len()));
    let planned = |index: u64| {
        let Job { run, plan, .. } = at(&jobs, index);
        let (subject, simulation) = &runs[*run];
        let faults = Faults::Planned(plan.clone());
        (format!("replay {subject} --faults '{plan}'"), Simulation { faults, ..simulation.clone() })
    };
    let passed = batch::run(batch, count(jobs.len()), planned, |index, outcome| {
        let result = (at(&jobs, index).pattern, outcome.violations.is_empty());
        done.lock().unwrap_or_else(PoisonError::into_inner).push(result);
    })?;
    for (pattern, passed) in done.into_inner().unwrap_or_else(PoisonError::into_inner) {
        let row = rows.entry(pattern).or_default();
        row.runs += 1;
        row.failures += usize::from(!passed);
    }
    print(&rows)?;
    Ok(calm && passed)
}

fn at<T>(items: &[T], index: u64) -> &T {
    &items[usize::try_from(index).unwrap_or(usize::MAX)]
}

fn count(items: usize) -> u64 {
    u64::try_from(items).unwrap_or(u64::MAX)
}

fn print(rows: &BTreeMap<Pattern, Row>) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "| pattern    | points | after pruning |   runs | failures |")?;
    writeln!(out, "|------------|-------:|--------------:|-------:|---------:|")?;
    for (pattern, Row { points, pruned, runs, failures }) in rows {
        let pattern = format!("{pattern:?}").to_lowercase();
        writeln!(out, "| {pattern:<10} | {points:>6} | {pruned:>13} | {runs:>6} | {failures:>8} |")?;
    }
    Ok(())
}
