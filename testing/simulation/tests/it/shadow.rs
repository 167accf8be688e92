//! Shadow mode beside an active instance: no difference of a settled Service is reported, and a writer that leaves out
//! objects is.

use std::io;
use std::num::NonZeroUsize;
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

#[test]
fn a_writer_with_equal_settings_causes_no_mismatch() {
    for writer in WRITERS {
        for seed in 0..4 {
            assert_eq!(mismatches(&history(seed, writer)), [""; 0], "{writer:?}, seed {seed}");
        }
    }
}

#[test]
fn recordings_cause_no_mismatch() {
    for scenario in builtin_recordings().unwrap().iter().step_by(10) {
        assert_eq!(mismatches(&recorded(scenario)), [""; 0], "{}", scenario.name);
    }
}

#[test]
fn a_writer_that_leaves_out_objects_is_reported() {
    let reported = (0..8).filter(|seed| !mismatches(&history(*seed, Writer::Partial)).is_empty()).count();
    // Some histories end without a Service that has a selector.
    assert!(reported >= 4, "{reported} of 8");
}
