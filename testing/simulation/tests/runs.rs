//! Runs of the endpoint controllers pass and are repeatable, and failures are reduced.

use std::convert::Infallible;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use kube_dev_apiserver::Server;
use kube_simulation::endpoints::{Act, Histories, builtin_recordings, scenario};
use kube_simulation::sieve::{Pattern, plans};
use kube_simulation::{Faults, Log, Operation, Plan, Process, Rules, Simulation, Step, shrink, shrink_faults};
use prometheus::{IntGaugeVec, Opts};
use serde_json::json;

#[test]
fn the_same_seed_gives_the_same_log() {
    for seed in 0..10 {
        let [first, second] = [0; 2].map(|_| scenario::random(seed).run());
        assert_eq!(first.log.text(), second.log.text(), "seed {seed}");
        assert_eq!(first, second, "seed {seed}");
    }
}

#[test]
fn another_process_gives_the_same_log() {
    let replay = || {
        let run = Command::new(env!("CARGO_BIN_EXE_kube-simulation")).args(["replay", "7", "--full"]).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        String::from_utf8(run.stdout).unwrap()
    };
    let (first, second) = (replay(), replay());
    assert_eq!(first, second);
    assert!(first.starts_with(&scenario::random(7).run().log.text()));
}

#[test]
fn random_seeds_pass() {
    for seed in 0..30 {
        assert_eq!(scenario::random(seed).run().violations, [""; 0], "seed {seed}");
    }
}

#[test]
fn short_histories_pass() {
    // A sample of the histories of four acts.
    for acts in Histories::up_to(4).skip(100).step_by(21).take(50) {
        assert_eq!(scenario::exhaustive(&acts).run().violations, [""; 0], "{acts:?}");
    }
}

#[test]
fn walks_pass() {
    for seed in 0..5 {
        assert_eq!(scenario::walk(seed, 10).run().violations, [""; 0], "seed {seed}");
    }
}

/// A walk that does not lead back is a violation.
#[test]
fn a_walk_to_elsewhere_fails() {
    let mut walk = scenario::walk(1, 10);
    walk.faults = Faults::Planned(Plan::default());
    assert_eq!(walk.run().violations, [""; 0]);
    walk.steps.retain(|step| !step.operation.to_string().contains("services/web"));
    walk.steps.push(relabel());
    let violations = walk.run().violations;
    assert!(violations.iter().any(|line| line.contains("default/web slices")), "{violations:?}");
}

fn relabel() -> Step {
    let path = "/api/v1/namespaces/default/services/web".to_owned();
    let patch = json!({ "metadata": { "labels": { "team": "red" } } });
    Step { after: Duration::ZERO, operation: Operation::Patch { path, patch } }
}

#[test]
fn a_recording_passes_under_plans_of_each_pattern() {
    let recordings = builtin_recordings().unwrap();
    let recording = recordings.iter().find(|it| it.name == "core/ready-flap").unwrap();
    let simulation = scenario::recorded(recording);
    let calm = simulation.run();
    assert_eq!(calm.violations, [""; 0]);
    for pattern in Pattern::ALL {
        let found = plans(&calm.log, pattern, true);
        assert!(!found.is_empty(), "{pattern:?}");
        for plan in found.into_iter().take(3) {
            let outcome = Simulation { faults: Faults::Planned(plan.clone()), ..simulation.clone() }.run();
            assert_eq!(outcome.violations, [""; 0], "{plan}");
            assert_eq!(outcome.plan, plan, "the fault was not injected");
        }
    }
}

/// Fails if a Service was patched, a Pod was deleted and a response was lost.
struct Artificial;

impl Rules for Artificial {
    fn is_policed(&self, _: &str) -> bool {
        false
    }

    fn differences(&self, _: &Server) -> Vec<String> {
        Vec::new()
    }

    fn history(&self, log: &Log, _: &dyn Fn() -> Log) -> Vec<String> {
        let text = log.text();
        let needed = ["patch services/service-0 ", "delete pods/pod-1 ", "a/create/endpointslices/2=lose-answer"];
        let is_there = |part: &&str| text.contains(*part);
        if needed.iter().all(is_there) { vec!["all three occurred".to_owned()] } else { Vec::new() }
    }
}

#[test]
fn keys_that_stay_in_a_queue_fail_the_run() {
    let mut simulation = scenario::exhaustive(&[]);
    simulation.rules = Arc::new(Artificial);
    simulation.processes = vec![Process::new("a", |environment| async move {
        let gauge = IntGaugeVec::new(Opts::new("mail_pending_keys", "Letters."), &["controller"]).unwrap();
        gauge.with_label_values(&["letters"]).set(2);
        environment.metrics.register(Box::new(gauge)).unwrap();
        std::future::pending::<Result<(), Infallible>>().await
    })];
    assert_eq!(simulation.run().violations, ["2 keys of letters are pending at the end, 0 are expected"]);
}

// As long as a Node is missing, the syncs of its Pods' Services fail without a request.
#[test]
fn keys_whose_sync_fails_stay_in_a_queue() {
    let mut simulation = scenario::exhaustive(&[]);
    simulation.rules = Arc::new(Artificial);
    simulation.setup.retain(|step| !matches!(step, Operation::Create { path, .. } if path.ends_with("/nodes")));
    let violations = simulation.run().violations;
    let expected = "keys of endpointslice-controller are pending at the end, 0 are expected";
    assert!(matches!(&*violations, [only] if only.ends_with(expected)), "{violations:?}");
}

#[test]
fn a_failure_is_reduced_to_what_it_needs() {
    let acts =
        [Act::Unready(0), Act::SelectNone(0), Act::Ready(0), Act::DeletePod(1), Act::SelectNone(1), Act::CreatePod(1)];
    let plan =
        "a/create/endpoints/1=delay-5,a/create/endpointslices/2=lose-answer,a/event/pods/4=crash-10,@2000=jump-1000";
    let mut simulation = scenario::exhaustive(&acts);
    simulation.rules = Arc::new(Artificial);
    simulation.faults = Faults::Planned(plan.parse().unwrap());
    let outcome = simulation.run();
    assert_eq!(outcome.violations, ["all three occurred"], "{}", outcome.log.timeline());
    assert_eq!(outcome.plan.len(), 4);

    let shrunk = shrink(&simulation, &outcome).expect("the run is deterministic");
    let steps: Vec<String> = shrunk.simulation.steps.iter().map(|step| step.operation.to_string()).collect();
    assert_eq!(shrunk.steps, [1, 3], "{steps:?}");
    assert_eq!(shrunk.plan.to_string(), "a/create/endpointslices/2=lose-answer");
    assert_eq!(shrunk.outcome.violations, outcome.violations);

    let faults_only = shrink_faults(&simulation, &outcome).expect("the run is deterministic");
    assert_eq!((faults_only.steps.len(), faults_only.plan.len()), (simulation.steps.len(), 1));
}
