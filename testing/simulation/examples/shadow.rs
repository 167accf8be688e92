//! Shadow mode beside an active instance: no difference of a settled Service is reported.
//!
//! Prints the number of changes and of reported mismatches, for random histories with seeds of the given range, and for
//! all recordings:
//!
//! ```console
//! cargo run --release -p kube-simulation --example shadow -- 0..1000
//! ```
//!
//! Its tests run a few of them, and check that a writer that leaves out objects is reported.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "fixtures of tests, and a table")]

use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use endpoint_controller_manager::{Controllers, LeaderElection, Mode, Settings, ShadowSettings, run};
use kube_controller_client::{Config, Encoding};
use kube_simulation::endpoints::{Options, RecordedScenario, builtin_recordings, controller_manager, random, scenario};
use kube_simulation::{Chaos, Disturbance, Faults, Process, Simulation};
use tracing::Level;
use tracing::subscriber::with_default;

/// Requests of a random history.
const OPERATIONS: usize = 100;
/// Start of the message about a mismatch.
const MISMATCH: &str = "Shadow mode: the controller would write";

/// Fault of the active instance, `a`, during a random history.
#[derive(Clone, Copy, Debug)]
enum Writer {
    Healthy,
    /// Its rate limiter delays its writes: each controller sends one in two seconds.
    Slow,
    /// It stops for 45 s, longer than the settle period, and then continues.
    Stalled,
    /// It is killed, and started again after 8 s.
    Killed,
    /// It does not run the Endpoints controller: shadow mode has to report that.
    Partial,
}

const WRITERS: [Writer; 4] = [Writer::Healthy, Writer::Slow, Writer::Stalled, Writer::Killed];

/// Returns a process in shadow mode, which follows the Lease of an instance with leader election.
fn shadow(max_endpoints_per_slice: NonZeroUsize) -> Process {
    Process::new("shadow", move |environment| {
        let mut settings = Settings { mode: Mode::Shadow, ..Settings::default() };
        settings.max_endpoints_per_slice = max_endpoints_per_slice;
        let lease = LeaderElection::default().lease;
        settings.shadow = ShadowSettings { writer_lease: Some(lease), ..ShadowSettings::default() };
        run(Config::from_service(environment.transport), settings, environment.stop)
    })
}

/// Returns an active instance with changed settings.
fn active(options: Options, change: fn(&mut Settings)) -> Process {
    let process = Process::new("a", move |environment| {
        let mut settings = Settings { leader_election: Some(LeaderElection::default()), ..Settings::default() };
        settings.client.content_type = options.encoding;
        settings.max_endpoints_per_slice = options.max_endpoints_per_slice;
        change(&mut settings);
        run(Config::from_service(environment.transport), settings, environment.stop)
    });
    process.with_leader_election()
}

/// Returns the run of a random history beside a shadow.
fn history(seed: u64, writer: Writer) -> Simulation {
    let max_endpoints_per_slice = NonZeroUsize::new([1, 2, 3, 100][usize::try_from(seed % 4).unwrap()]).unwrap();
    let encoding = if seed.is_multiple_of(2) { Encoding::Protobuf } else { Encoding::Json };
    let options = Options { encoding, elects: true, max_endpoints_per_slice, ..Options::default() };
    let mut simulation = scenario::base(seed, random(seed, OPERATIONS), options);
    simulation.processes.push(shadow(max_endpoints_per_slice));
    let end: Duration = simulation.steps.iter().map(|step| step.after).sum();
    let disturbance = match writer {
        Writer::Healthy => return simulation,
        Writer::Slow => {
            simulation.processes[0] =
                active(options, |settings| (settings.client.qps, settings.client.burst) = (0.5, 1));
            return simulation;
        }
        Writer::Partial => {
            simulation.processes[0] = active(options, |settings| {
                settings.controllers = Controllers::parse(&["*", "-endpoints-controller"].map(str::to_owned)).unwrap();
            });
            return simulation;
        }
        Writer::Stalled => Disturbance::Freeze("a".to_owned(), 45_000),
        Writer::Killed => Disturbance::Crash("a".to_owned(), 8_000),
    };
    simulation.faults = Faults::Drawn { chaos: Chaos::NONE, disturbances: vec![(end / 2, disturbance)] };
    simulation
}

/// Returns the run of a recorded scenario beside a shadow.
fn recorded(recorded: &RecordedScenario) -> Simulation {
    let mut simulation = scenario::recorded(recorded);
    let options = Options { elects: true, ..Options::default() };
    simulation.processes = vec![controller_manager("a", options), shadow(options.max_endpoints_per_slice)];
    simulation
}

/// Lines of the log.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a simulation. Returns the reported mismatches, and panics.
fn mismatches(simulation: &Simulation) -> Vec<String> {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(Level::WARN)
        .with_ansi(false)
        .without_time()
        .with_writer(move || writer.clone())
        .finish();
    let outcome = with_default(subscriber, || simulation.run());
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let reported = text.lines().filter(|line| line.contains(MISMATCH)).map(str::to_owned);
    // Other rules hold for one process, and not for the queues of two.
    reported.chain(outcome.violations.into_iter().filter(|it| it.contains("panicked"))).collect()
}

fn recordings() -> Vec<RecordedScenario> {
    builtin_recordings().unwrap()
}

/// Prints the result of some runs, and returns the number of mismatches.
fn report(name: &str, runs: impl Iterator<Item = (String, Simulation)>) -> usize {
    let (mut changes, mut found, mut count) = (0, 0, 0);
    for (run, simulation) in runs {
        (count, changes) = (count + 1, changes + simulation.steps.len());
        for line in mismatches(&simulation) {
            found += 1;
            println!("{name} {run}: {line}");
        }
    }
    println!("{name}: {count} runs, {changes} changes, {found} mismatches");
    found
}

fn histories(seeds: Range<u64>, writer: Writer) -> impl Iterator<Item = (String, Simulation)> {
    seeds.map(move |seed| (seed.to_string(), history(seed, writer)))
}

fn main() {
    let range = std::env::args().nth(1).unwrap_or_else(|| "0..100".to_owned());
    let (first, end) = range.split_once("..").expect("a range of seeds, such as 0..1000");
    let seeds = first.parse().unwrap()..end.parse().unwrap();
    let mut found = 0;
    for writer in WRITERS {
        found += report(&format!("{writer:?} writer"), histories(seeds.clone(), writer));
    }
    found += report("Recordings", recordings().iter().map(|it| (it.name.clone(), recorded(it))));
    // Shadow mode that reports nothing at all would pass the runs above.
    let partial = (0..8).filter(|seed| !mismatches(&history(*seed, Writer::Partial)).is_empty()).count();
    println!("Writer without Endpoints: reported in {partial} of 8 runs");
    std::process::exit(i32::from(found > 0 || partial == 0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_with_equal_settings_causes_no_mismatch() {
        for writer in WRITERS {
            assert_eq!(report(&format!("{writer:?}"), histories(0..4, writer)), 0, "{writer:?}");
        }
    }

    #[test]
    fn recordings_cause_no_mismatch() {
        let some = recordings();
        let some = some.iter().step_by(10).map(|it| (it.name.clone(), recorded(it)));
        assert_eq!(report("recordings", some), 0);
    }

    #[test]
    fn a_writer_that_leaves_out_objects_is_reported() {
        let reported = (0..8).filter(|seed| !mismatches(&history(*seed, Writer::Partial)).is_empty()).count();
        // Some histories end without a Service that has a selector.
        assert!(reported >= 4, "{reported} of 8");
    }
}
