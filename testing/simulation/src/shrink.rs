//! Reduction of a failure to few steps and faults.

use crate::fault::Plan;
use crate::run::{Outcome, Simulation};
use crate::run_state::Faults;
use crate::script;

/// A failing run reduced by [`shrink`]: the remaining steps and faults, and their outcome.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The reduced run.
    pub simulation: Simulation,
    /// Outcome of the reduced run, with violations.
    pub outcome: Outcome,
    /// Indices of the remaining steps in the original run.
    pub steps: Vec<usize>,
    /// The remaining faults.
    pub plan: Plan,
    /// Number of runs of the reduction.
    pub runs: usize,
}

/// Removes steps and faults from a failing run while it still has a violation, not necessarily the same one.
///
/// Zeller's ddmin is applied to faults and steps in turn, until neither can be reduced.
///
/// Returns `None` if the run passes with exactly the faults of `outcome`, which means that it is not deterministic.
pub fn shrink(simulation: &Simulation, outcome: &Outcome) -> Option<Shrunk> {
    let mut search = Search { simulation, runs: 0 };
    let mut plan = outcome.plan.clone();
    let mut steps: Vec<usize> = (0..simulation.steps.len()).collect();
    search.failure(&steps, &plan)?;
    loop {
        let before = (steps.len(), plan.len());
        let faults = ddmin((0..plan.len()).collect(), |faults| search.failure(&steps, &part(&plan, faults)).is_some());
        plan = part(&plan, &faults);
        steps = ddmin(steps, |steps| search.failure(steps, &plan).is_some());
        if (steps.len(), plan.len()) == before {
            break;
        }
    }
    let outcome = search.failure(&steps, &plan)?;
    let simulation = reduced(simulation, &steps, &plan);
    Some(Shrunk { simulation, outcome, steps, plan, runs: search.runs })
}

/// Returns the run with only the steps at these indices, at their original times, and exactly the faults of `plan`.
///
/// `steps` must be sorted.
pub fn reduced(simulation: &Simulation, steps: &[usize], plan: &Plan) -> Simulation {
    let kept = script::retain(simulation.steps.clone(), |index, _| steps.binary_search(&index).is_ok());
    Simulation { steps: kept, faults: Faults::Planned(plan.clone()), ..simulation.clone() }
}

struct Search<'a> {
    simulation: &'a Simulation,
    runs: usize,
}

impl Search<'_> {
    fn failure(&mut self, steps: &[usize], plan: &Plan) -> Option<Outcome> {
        self.runs += 1;
        let outcome = reduced(self.simulation, steps, plan).run();
        (!outcome.violations.is_empty()).then_some(outcome)
    }
}

/// Returns the faults and disturbances at these indices, which count the faults first.
fn part(plan: &Plan, indices: &[usize]) -> Plan {
    let faults = (0..).zip(&plan.faults).filter(|(index, _)| indices.contains(index));
    let disturbances = (plan.faults.len()..).zip(&plan.disturbances).filter(|(index, _)| indices.contains(index));
    Plan {
        faults: faults.map(|(_, (point, fault))| (point.clone(), *fault)).collect(),
        disturbances: disturbances.map(|(_, disturbance)| disturbance.clone()).collect(),
    }
}

/// Returns a subset of `items` that still fails and from which no single item can be removed.
fn ddmin<T: Clone>(mut items: Vec<T>, mut fails: impl FnMut(&[T]) -> bool) -> Vec<T> {
    if items.is_empty() || fails(&[]) {
        return Vec::new();
    }
    let mut parts = 2;
    while items.len() > 1 {
        let size = items.len().div_ceil(parts);
        let without = |start: usize| {
            let end = (start + size).min(items.len());
            [&items[..start], &items[end..]].concat()
        };
        match (0..items.len()).step_by(size).map(without).find(|rest| fails(rest)) {
            Some(rest) => {
                items = rest;
                parts = (parts - 1).max(2);
            }
            None if size == 1 => break,
            None => parts = (parts * 2).min(items.len()),
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::none(&[])]
    #[case::one(&[17])]
    #[case::two(&[3, 40])]
    #[case::scattered(&[0, 1, 20, 49])]
    fn what_is_needed_is_left(#[case] needed: &[u32]) {
        let items: Vec<u32> = (0..50).collect();
        let found = ddmin(items, |items| needed.iter().all(|it| items.contains(it)));
        assert_eq!(found, needed);
    }
}
