//! Runs of the endpoint controllers: random and recorded histories.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use endpoint_controller_manager::Batching;
use kube_controller_client::Encoding;
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::Value;

use super::app::{Options, controller_manager};
use super::rules::EndpointRules;
use super::{RecordedScenario, histories};
use crate::chaos::Chaos;
use crate::fault::{Disturbance, Plan, Policy};
use crate::process::Process;
use crate::run::{Limits, Simulation};
use crate::run_state::Faults;
use crate::script::{self, Operation, Step};

/// Returns the random run of a seed: a history of 20 to 40 operations, one or two processes, settings and faults.
pub fn random(seed: u64) -> Simulation {
    let mut rng = SmallRng::seed_from_u64(seed);
    let operations = rng.random_range(20..=40);
    let steps = histories::random(rng.random(), operations);
    let options = Options { batching: batching(seed), checks_all_lists: checks_all_lists(seed), ..options(&mut rng) };
    let mut simulation = Simulation { limits: LIMITS, ..base(seed, steps, options) };
    simulation.processes = processes(&mut rng, options);
    let chaos = chaos(&mut rng);
    let end: Duration = simulation.steps.iter().map(|step| step.after).sum();
    let mut disturbances = disturbances(&mut rng, end, simulation.processes.len());
    disturbances.extend(wrong_lists(seed, end));
    disturbances.sort_by_key(|(at, _)| *at);
    if disturbances.iter().any(|(_, what)| matches!(what, Disturbance::Restore(_))) {
        keep_nodes(&mut simulation);
    }
    simulation.faults = Faults::Drawn { chaos, disturbances };
    simulation
}

/// Moves the creates of Nodes to the setup, and removes all other changes of Nodes. Upstream's controllers sync no
/// Service when only a Node changes, so they would not notice that a restore reverts such a change.
fn keep_nodes(simulation: &mut Simulation) {
    let Simulation { steps, setup, .. } = simulation;
    *steps = script::retain(std::mem::take(steps), |_, operation| match operation {
        Operation::Create { path, object } if is_of_nodes(path) => {
            let name = |object: &Value| object["metadata"]["name"].clone();
            let is_it =
                |other: &Operation| matches!(other, Operation::Create { object: it, .. } if name(it) == name(object));
            if !setup.iter().any(is_it) {
                setup.push(operation.clone());
            }
            false
        }
        Operation::Patch { path, .. } | Operation::Delete { path, .. } => !is_of_nodes(path),
        Operation::Create { .. } => true,
    });
}

fn is_of_nodes(path: &str) -> bool {
    path.starts_with("/api/v1/nodes")
}

/// Maximum time from the last step or fault until slices and Endpoints are those that follow from the Pods.
///
/// A key that fails is retried after 1 s, 2 s and so on: the last retry follows no later than the faults have lasted, which
/// is below two minutes in most runs. Runs of [`base`], whose plan may contain longer faults, have the default limit.
const LIMITS: Limits = Limits { settle: Duration::from_secs(300), ..Limits::DEFAULT };

/// Returns a run of one process without faults.
pub fn base(seed: u64, steps: Vec<Step>, options: Options) -> Simulation {
    let max_endpoints_per_slice = options.max_endpoints_per_slice;
    Simulation {
        seed,
        processes: vec![controller_manager("a", options)],
        rules: Arc::new(EndpointRules { max_endpoints_per_slice }),
        setup: Vec::new(),
        steps,
        faults: Faults::Planned(Plan::default()),
        limits: Limits::DEFAULT,
    }
}

/// Returns the run of a recorded scenario, with one process and without faults, and with JSON.
pub fn recorded(scenario: &RecordedScenario) -> Simulation {
    let setup = scenario.setup.clone();
    Simulation { setup, limits: LIMITS, ..base(0, scenario.steps.clone(), Options::default()) }
}

fn options(rng: &mut SmallRng) -> Options {
    let encoding = if rng.random() { Encoding::Protobuf } else { Encoding::Json };
    let size = [1, 2, 3, 100].choose(rng).and_then(|size| NonZeroUsize::new(*size));
    let max_endpoints_per_slice = size.unwrap_or(NonZeroUsize::MIN);
    Options { encoding, max_endpoints_per_slice, ..Options::default() }
}

/// Returns adaptive batching for a quarter of all seeds. Drawn apart from the rest of the run, so that the histories and
/// faults of a seed do not depend on it.
fn batching(seed: u64) -> Batching {
    if SmallRng::seed_from_u64(!seed).random_bool(0.25) { Batching::Adaptive } else { Batching::None }
}

/// Returns whether all lists are checked: in half of all seeds. Drawn apart, as [`batching`].
fn checks_all_lists(seed: u64) -> bool {
    apart(seed, 1).random()
}

/// Returns wrong lists of one resource in a quarter of all seeds, between the start of the run and `end`. Drawn apart, as
/// [`batching`].
fn wrong_lists(seed: u64, end: Duration) -> Option<(Duration, Disturbance)> {
    let mut rng = apart(seed, 2);
    if !rng.random_bool(0.25) {
        return None;
    }
    let resource = RESOURCES.choose(&mut rng)?;
    let millis = [1_000, 8_000, 20_000, 45_000].choose(&mut rng)?;
    let at = Duration::from_millis(rng.random_range(0..=u64::try_from(end.as_millis()).unwrap_or_default()));
    Some((at, Disturbance::WrongLists((*resource).to_owned(), *millis)))
}

/// Resources that the controllers list.
const RESOURCES: [&str; 5] = ["services", "pods", "nodes", "endpoints", "endpointslices"];

/// Returns a generator whose numbers are independent of the rest of the run, and of those with another `stream`.
fn apart(seed: u64, stream: u64) -> SmallRng {
    SmallRng::seed_from_u64(!seed ^ stream << 32)
}

/// Returns one process without leader election, or one or two candidates for leadership.
fn processes(rng: &mut SmallRng, options: Options) -> Vec<Process> {
    let candidate = Options { elects: true, ..options };
    match rng.random_range(0..10_u8) {
        0..7 => vec![controller_manager("a", options)],
        7..8 => vec![controller_manager("a", candidate)],
        _ => vec![controller_manager("a", candidate), controller_manager("b", candidate)],
    }
}

fn chaos(rng: &mut SmallRng) -> Chaos {
    let mut rate = |rates: &[f64]| rates.choose(rng).copied().unwrap_or_default();
    Chaos {
        requests: rate(&[0.0, 0.02, 0.1, 0.3]),
        events: rate(&[0.0, 0.02, 0.1]),
        crashes: rate(&[0.0, 0.0, 0.005, 0.02]),
    }
}

/// Returns up to three disturbances between the start of the run and one second after `end`, in order of time.
fn disturbances(rng: &mut SmallRng, end: Duration, processes: usize) -> Vec<(Duration, Disturbance)> {
    let count = [0, 0, 1, 1, 2, 3].choose(rng).copied().unwrap_or_default();
    let latest = u64::try_from(end.as_millis()).unwrap_or_default() + 1_000;
    let mut found: Vec<_> = (0..count)
        .map(|_| {
            let process = if processes > 1 && rng.random() { "b" } else { "a" }.to_owned();
            let mut millis = |choice: &[u32]| choice.choose(rng).copied().unwrap_or_default();
            let short = millis(&[100, 1_000, 3_000, 8_000]);
            let long = millis(&[1_000, 8_000, 12_000, 20_000, 45_000]);
            let disturbance = match rng.random_range(0..9_u8) {
                0 => Disturbance::RestartServer,
                1 => Disturbance::RestartServerLost,
                2 => Disturbance::Restore(short),
                3 => Disturbance::Policy(Policy::AddLabel, long),
                4 => {
                    let policies = [Policy::RejectCreates, Policy::RejectUpdates, Policy::RejectDeletes];
                    Disturbance::Policy(policies.choose(rng).copied().unwrap_or(Policy::RejectCreates), long)
                }
                5 => Disturbance::Freeze(process, long),
                6 => Disturbance::Crash(process, short),
                7 => Disturbance::Jump(long),
                _ => Disturbance::SetWallClock(rng.random_range(-7_200..7_200)),
            };
            (Duration::from_millis(rng.random_range(0..latest)), disturbance)
        })
        .collect();
    found.sort_by_key(|(at, _)| *at);
    found
}
