//! Laws of `--updates-batching=adaptive`, in virtual time: a readiness storm, and lone changes after it.

use std::time::Duration;

use endpoint_controller_manager::{Batching, Settings, run};
use kube_controller_client::{Config, Encoding};
use kube_simulation::endpoints::{Options, scenario};
use kube_simulation::{EntryKind, Operation, Outcome, Process, Step};
use serde_json::{Value, json};

/// Ready Pods of the Service.
const PODS: usize = 60;
/// Time between two changes of a storm: with 100 a second, each Pod is not ready for 0.6 s, then ready for 0.6 s, and so
/// on.
const PAUSE: Duration = Duration::from_millis(10);
/// Longest latency of a request, from the process to the server.
const LATENCY: Duration = Duration::from_millis(39);
/// Longest delay of a removal, without the latency of the request.
const MAX_REMOVAL_DELAY: Duration = Duration::from_millis(250);
/// Longest delay of an addition: 1 s, and the tenth that shared timers add.
const MAX_ADDITION_DELAY: Duration = Duration::from_millis(1_100);
/// Lone changes after the storm, 5 s apart.
const LONE_CHANGES: usize = 6;

/// One slice per Service, and a rate limit that delays no request.
fn manager(batching: Batching) -> Process {
    Process::new("a", move |environment| {
        let mut settings = Settings::default();
        settings.client.content_type = Encoding::Json;
        (settings.client.qps, settings.client.burst) = (2_000.0, 4_000);
        settings.syncs.all_mut().for_each(|syncs| syncs.batching = batching);
        run(Config::from_service(environment.transport), settings, environment.stop)
    })
}

fn create(path: &str, object: Value) -> Operation {
    Operation::Create { path: format!("/api/v1/{path}"), object }
}

fn flip(pod: usize, ready: bool) -> Operation {
    let status = if ready { "True" } else { "False" };
    let patch = json!({ "status": { "conditions": [{ "type": "Ready", "status": status }] } });
    Operation::Patch { path: format!("/api/v1/namespaces/default/pods/pod-{pod}/status"), patch }
}

fn setup() -> Vec<Operation> {
    let spec = json!({ "selector": { "app": "web" }, "ports": [{ "name": "http", "port": 80 }] });
    let service = create("namespaces/default/services", json!({ "metadata": { "name": "web" }, "spec": spec }));
    let node = create("nodes", json!({ "metadata": { "name": "node-0" } }));
    let pods = (0..PODS).flat_map(|pod| {
        let ip = format!("10.7.0.{pod}");
        let status = json!({ "status": { "phase": "Running", "podIP": ip, "podIPs": [{ "ip": ip }],
            "conditions": [{ "type": "Ready", "status": "True" }] } });
        let object = json!({
            "metadata": { "name": format!("pod-{pod}"), "labels": { "app": "web" } },
            "spec": { "nodeName": "node-0", "containers": [{ "name": "main", "image": "i" }] },
        });
        let path = format!("/api/v1/namespaces/default/pods/pod-{pod}/status");
        [create("namespaces/default/pods", object), Operation::Patch { path, patch: status }]
    });
    [service, node].into_iter().chain(pods).collect()
}

/// Runs the storm and the lone changes, and checks the final state against the oracle.
fn storm(flips: usize, batching: Batching) -> Outcome {
    let mut steps: Vec<Step> = (0..flips)
        .map(|number| Step { after: PAUSE, operation: flip(number % PODS, number / PODS % 2 == 1) })
        .collect();
    steps[0].after = Duration::from_secs(5);
    let lone = (0..LONE_CHANGES).map(|number| flip(number / 2, number % 2 == 1));
    steps.extend(lone.map(|operation| Step { after: Duration::from_secs(5), operation }));
    let mut simulation = scenario::base(1, steps, Options::default());
    simulation.processes = vec![manager(batching)];
    simulation.setup = setup();
    let outcome = simulation.run();
    assert_eq!(outcome.violations, [""; 0], "{batching}");
    outcome
}

/// A readiness that was delivered to the process, or that it wrote.
#[derive(Debug)]
struct Seen {
    at: Duration,
    pod: String,
    ready: bool,
}

/// Returns the changes of Pods that were delivered to the process, without its initial lists.
fn delivered(outcome: &Outcome) -> Vec<Seen> {
    let seen = outcome.log.entries().iter().filter_map(|entry| {
        let EntryKind::Event { point, frame } = &entry.what else { return None };
        let event: Value = serde_json::from_slice(frame).unwrap();
        let pod = event["object"]["metadata"]["name"].as_str()?.to_owned();
        let ready = event["object"]["status"]["conditions"][0]["status"] == "True";
        (point.resource == "pods" && event["type"] == "MODIFIED").then_some(Seen { at: entry.at, pod, ready })
    });
    seen.collect()
}

/// Returns the time of each write of a resource, with the readiness of all Pods in it.
fn written(outcome: &Outcome, resource: &str) -> Vec<(Duration, Vec<Seen>)> {
    let writes = outcome.log.entries().iter().filter_map(|entry| match &entry.what {
        EntryKind::Request { point, body, code: Some(200), .. } if point.resource == resource && !body.is_empty() => {
            let object: Value = serde_json::from_slice(body).unwrap();
            Some((entry.at, readiness(entry.at, &object)))
        }
        _ => None,
    });
    writes.collect()
}

fn readiness(at: Duration, object: &Value) -> Vec<Seen> {
    let seen = |endpoint: &Value, ready| {
        let pod = endpoint["targetRef"]["name"].as_str().unwrap().to_owned();
        Seen { at, pod, ready }
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let subsets = list(&object["subsets"]);
    let in_subsets = subsets.iter().flat_map(|subset| {
        let [ready, not_ready] = ["addresses", "notReadyAddresses"].map(|key| list(&subset[key]));
        let ready: Vec<_> = ready.iter().map(|it| seen(it, true)).collect();
        ready.into_iter().chain(not_ready.iter().map(|it| seen(it, false)).collect::<Vec<_>>())
    });
    let endpoints = list(&object["endpoints"]);
    endpoints.iter().map(|it| seen(it, it["conditions"]["ready"] == true)).chain(in_subsets).collect()
}

/// Returns the time from each delivered change to the first write that contains it; `None` if the Pod changed again
/// before.
fn delays(outcome: &Outcome, resource: &str) -> Vec<(Seen, Option<Duration>)> {
    let writes = written(outcome, resource);
    let mut changes = delivered(outcome);
    let mut delays = Vec::new();
    while !changes.is_empty() {
        let change = changes.remove(0);
        let next = changes.iter().find(|it| it.pod == change.pod).map_or(Duration::MAX, |it| it.at);
        let contains = |seen: &Seen| seen.pod == change.pod && seen.ready == change.ready;
        let write = writes.iter().find(|(at, all)| *at >= change.at && all.iter().any(contains));
        let delay = write.filter(|(at, _)| *at < next).map(|(at, _)| at.saturating_sub(change.at));
        delays.push((change, delay));
    }
    delays
}

#[test]
fn a_storm_needs_few_writes_and_delays_no_removal_beyond_the_limit() {
    let [none, adaptive] = [Batching::None, Batching::Adaptive].map(|batching| storm(600, batching));
    // Slices and Endpoints that the controllers of Go wrote in such a storm, for each that these wrote without
    // batching, as measured on a real cluster.
    for (resource, go, ours) in [("endpointslices", 619, 847), ("endpoints", 552, 701)] {
        let [before, after] = [&none, &adaptive].map(|outcome| written(outcome, resource).len());
        assert!(after * 2 * ours <= before * go, "{resource}: {after} writes instead of {before}");
        for (change, delay) in delays(&adaptive, resource) {
            let in_time = match delay {
                Some(delay) if change.ready => delay <= MAX_ADDITION_DELAY + LATENCY,
                Some(delay) => delay <= MAX_REMOVAL_DELAY + LATENCY,
                None => change.ready,
            };
            assert!(in_time, "{resource}: {change:?} is written after {delay:?}");
        }
    }
}

#[test]
fn lone_changes_are_written_without_delay() {
    for batching in [Batching::None, Batching::Adaptive] {
        let outcome = storm(120, batching);
        for resource in ["endpointslices", "endpoints"] {
            let delays = delays(&outcome, resource);
            for (change, delay) in &delays[delays.len() - LONE_CHANGES..] {
                assert!(
                    delay.is_some_and(|it| it <= LATENCY),
                    "{batching}, {resource}: {change:?} is written after {delay:?}"
                );
            }
        }
    }
}
