//! Runs of the endpoint controllers pass and are repeatable, and failures are reduced.

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use kube_controller_client::Encoding;
use kube_dev_apiserver::Server;
use kube_simulation::endpoints::{Options, builtin_recordings, controller_manager, scenario};
use kube_simulation::sieve::{Pattern, plans};
use kube_simulation::{Faults, Log, Operation, Process, Rules, Simulation, Step, Write, shrink};
use prometheus::{IntGaugeVec, Opts};
use rstest::rstest;
use serde_json::{Value, json};

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
fn a_recording_passes_under_plans_of_each_pattern() {
    let recordings = builtin_recordings().unwrap();
    let recording = recordings.iter().find(|it| it.name == "core/ready-flap").unwrap();
    let simulation = scenario::recorded(recording);
    let calm = simulation.run();
    assert_eq!(calm.violations, [""; 0]);
    for pattern in Pattern::ALL {
        let found = plans(&calm.log, pattern);
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

/// Returns a run of one process in a cluster with a Node, three ready Pods and two Services that select them.
fn small_cluster(steps: Vec<Step>) -> Simulation {
    let create = |path: &str, object: Value| Operation::Create { path: format!("/api/v1/{path}"), object };
    let mut setup = vec![create("nodes", json!({ "metadata": { "name": "node-0" } }))];
    for number in 0..3 {
        let (name, ip) = (format!("pod-{number}"), format!("10.0.0.{number}"));
        let object = json!({
            "metadata": { "name": &name, "labels": { "app": "all" } },
            "spec": { "nodeName": "node-0", "containers": [{ "name": "main", "image": "i" }] },
        });
        let status = json!({ "status": { "phase": "Running", "podIP": ip, "podIPs": [{ "ip": ip }],
            "conditions": [{ "type": "Ready", "status": "True" }] } });
        let path = format!("/api/v1/namespaces/default/pods/{name}/status");
        setup.extend([create("namespaces/default/pods", object), Operation::Patch { path, patch: status }]);
    }
    for name in ["service-0", "service-1"] {
        let spec = json!({ "selector": { "app": "all" }, "ports": [{ "port": 80 }] });
        setup.push(create("namespaces/default/services", json!({ "metadata": { "name": name }, "spec": spec })));
    }
    let max_endpoints_per_slice = NonZeroUsize::new(2).expect("not zero");
    let options = Options { max_endpoints_per_slice, ..Options::default() };
    Simulation { setup, rules: Arc::new(Artificial), ..scenario::base(0, steps, options) }
}

/// Reports the name in the body of each write of Endpoints.
struct Named;

impl Rules for Named {
    fn is_policed(&self, _: &str) -> bool {
        false
    }

    fn differences(&self, _: &Server) -> Vec<String> {
        Vec::new()
    }

    fn write(&self, write: &Write<'_>, _: &Server) -> Option<String> {
        let object: Value = serde_json::from_slice(write.body).unwrap_or_default();
        (write.target.resource == "endpoints").then(|| object["metadata"]["name"].to_string())
    }
}

#[rstest]
fn rules_and_logs_have_objects_in_json(#[values(Encoding::Json, Encoding::Protobuf)] encoding: Encoding) {
    let processes = vec![controller_manager("a", Options { encoding, ..Options::default() })];
    let outcome = Simulation { processes, rules: Arc::new(Named), ..small_cluster(Vec::new()) }.run();
    let expected = [1, 2].map(|number| format!("a/create/endpoints/{number}: \"service-{}\"", number - 1));
    assert_eq!(outcome.violations, expected);
    let log = outcome.log.timeline();
    for part in ["create endpoints default #1 {", r#"event endpoints #2 {"object":{"apiVersion":"v1","#] {
        assert_eq!(log.lines().filter(|line| line.contains(part)).count(), 1, "{part} in {log}");
    }
}

#[test]
fn keys_that_stay_in_a_queue_fail_the_run() {
    let mut simulation = small_cluster(Vec::new());
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
    let mut simulation = small_cluster(Vec::new());
    simulation.setup.retain(|step| !matches!(step, Operation::Create { path, .. } if path.ends_with("/nodes")));
    let violations = simulation.run().violations;
    let expected = "keys of endpointslice-controller are pending at the end, 0 are expected";
    assert!(matches!(&*violations, [only] if only.ends_with(expected)), "{violations:?}");
}

#[test]
fn a_failure_is_reduced_to_what_it_needs() {
    let patch = |path: &str, patch: Value| {
        let path = format!("/api/v1/namespaces/default/{path}");
        Step { after: Duration::from_millis(30), operation: Operation::Patch { path, patch } }
    };
    let ready = |status| json!({ "status": { "conditions": [{ "type": "Ready", "status": status }] } });
    let select = |app| json!({ "spec": { "selector": { "app": app } } });
    let delete = Operation::Delete {
        path: "/api/v1/namespaces/default/pods/pod-1".to_owned(),
        options: json!({ "gracePeriodSeconds": 0 }),
    };
    let steps = vec![
        patch("pods/pod-0/status", ready("False")),
        patch("services/service-0", select("none")),
        patch("pods/pod-0/status", ready("True")),
        Step { after: Duration::from_millis(30), operation: delete },
        patch("services/service-1", select("none")),
    ];
    let plan =
        "a/create/endpoints/1=delay-5,a/create/endpointslices/2=lose-answer,a/event/pods/4=crash-10,@2000=jump-1000";
    let mut simulation = small_cluster(steps);
    simulation.faults = Faults::Planned(plan.parse().unwrap());
    let outcome = simulation.run();
    assert_eq!(outcome.violations, ["all three occurred"], "{}", outcome.log.timeline());
    assert_eq!(outcome.plan.len(), 4);

    let shrunk = shrink(&simulation, &outcome).expect("the run is deterministic");
    let steps: Vec<String> = shrunk.simulation.steps.iter().map(|step| step.operation.to_string()).collect();
    assert_eq!(shrunk.steps, [1, 3], "{steps:?}");
    assert_eq!(shrunk.plan.to_string(), "a/create/endpointslices/2=lose-answer");
    assert_eq!(shrunk.outcome.violations, outcome.violations);
}
