//! Regression tests: defects that the simulation has found, each as a minimal history.

use std::num::NonZeroUsize;
use std::time::Duration;

use kube_simulation::endpoints::{Options, scenario};
use kube_simulation::{Entry, EntryKind, Faults, Operation, Outcome, Step, Verb};
use serde_json::{Value, json};

const SERVICES: &str = "/api/v1/namespaces/default/services";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

fn create_service(after: u64, selector: &Value) -> Step {
    let ports = json!([{ "name": "http", "port": 80 }]);
    let object = json!({ "metadata": { "name": "web" }, "spec": { "ports": ports, "selector": selector } });
    Step { after: Duration::from_millis(after), operation: Operation::Create { path: SERVICES.to_owned(), object } }
}

fn patch_slice(after: u64, patch: Value) -> Step {
    let path = format!("{SLICES}/web*0");
    Step { after: Duration::from_millis(after), operation: Operation::Patch { path, patch } }
}

fn run(steps: Vec<Step>, plan: &str) -> Outcome {
    let max_endpoints_per_slice = NonZeroUsize::new(2).unwrap();
    let options = Options { max_endpoints_per_slice, ..Options::default() };
    let mut simulation = scenario::base(1, steps, options);
    simulation.faults = Faults::Planned(plan.parse().unwrap());
    simulation.run()
}

fn patch(after: u64, path: &str, patch: Value) -> Step {
    let operation = Operation::Patch { path: format!("/api/v1/namespaces/default/{path}"), patch };
    Step { after: Duration::from_millis(after), operation }
}

fn create(after: u64, resource: &str, object: Value) -> Step {
    let operation = Operation::Create { path: format!("/api/v1/namespaces/default/{resource}"), object };
    Step { after: Duration::from_millis(after), operation }
}

fn assert_passes(steps: Vec<Step>, plan: &str) -> Outcome {
    let outcome = run(steps, plan);
    assert!(outcome.violations.is_empty(), "{:#?}\n{}", outcome.violations, outcome.log.timeline());
    outcome
}

fn creates(outcome: &Outcome, resource: &str) -> Vec<Duration> {
    let created = |entry: &Entry| match &entry.what {
        EntryKind::Request { point, code: Some(201), .. } if point.resource == resource => Some(entry.at),
        _ => None,
    };
    outcome.log.entries().iter().filter_map(created).collect()
}

fn delete(path: &str) -> Operation {
    Operation::Delete { path: format!("/api/v1/namespaces/default/{path}"), options: Value::Null }
}

fn endpoints() -> Value {
    let subsets = json!([{ "addresses": [{ "ip": "10.7.7.7" }], "ports": [{ "port": 80 }] }]);
    json!({ "metadata": { "name": "web" }, "subsets": subsets })
}

fn create_ready_pod(after: u64) -> [Step; 2] {
    let pod = json!({
        "metadata": { "name": "pod", "labels": { "app": "a" } },
        "spec": { "nodeName": "node-0", "containers": [{ "name": "main", "image": "i" }] },
    });
    let ready = json!({ "status": {
        "phase": "Running", "podIP": "10.7.7.7", "podIPs": [{ "ip": "10.7.7.7" }],
        "conditions": [{ "type": "Ready", "status": "True" }],
    } });
    [create(after, "pods", pod), patch(0, "pods/pod/status", ready)]
}

fn other_manager() -> Value {
    json!({ "metadata": { "labels": { "endpointslice.kubernetes.io/managed-by": "other.example.com" } } })
}

// Seeds 18945, 20393, 40790, 50735 and 56564: a create whose response was lost was retried forever with the same name.
#[test]
fn a_slice_whose_create_was_not_answered_may_be_taken_over() {
    let steps = vec![create_service(1_000, &json!({ "app": "a" })), patch_slice(500, other_manager())];
    assert_passes(steps, "a/create/endpointslices/1=lose-answer");
}

// Seed 17165.
#[test]
fn a_slice_whose_create_was_not_answered_may_wait_for_its_deletion() {
    let delete = Operation::Delete { path: format!("{SLICES}/web*0"), options: Value::Null };
    let steps = vec![
        create_service(1_000, &json!({ "app": "a" })),
        patch_slice(500, json!({ "metadata": { "finalizers": ["example.com/hold"] } })),
        Step { after: Duration::ZERO, operation: delete },
    ];
    assert_passes(steps, "a/create/endpointslices/1=lose-answer");
}

// Seeds 9262, 12443, 35332, 56226 and 59944.
#[test]
fn a_mirrored_slice_that_another_manager_took_over_is_not_overwritten() {
    let steps = vec![
        create_service(1_000, &Value::Null),
        create(0, "endpoints", endpoints()),
        patch_slice(2_000, other_manager()),
        patch(0, "endpoints/web", json!({ "metadata": { "labels": { "team": "red" } } })),
    ];
    assert_passes(steps, "a/event/endpointslices/3=delay-5000");
}

// Seed 11366: the retry found no difference, since the Service had been replaced and the watch was late.
#[test]
fn an_update_that_was_not_answered_is_undone_for_another_service() {
    let delete = Operation::Delete { path: format!("{SERVICES}/web"), options: Value::Null };
    let [create_pod, make_ready] = create_ready_pod(1_000);
    let steps = vec![
        create_service(1_000, &json!({ "app": "a" })),
        create_pod,
        make_ready,
        Step { after: Duration::from_secs(2), operation: delete },
        create_service(0, &json!({ "app": "b" })),
    ];
    assert_passes(steps, "a/update/endpoints/1=lose-answer,a/event/endpoints/3=delay-12000");
}

// Seeds 33, 71 and 78. The reset ends the watches, but no request fails: the watches were reopened from resource
// versions that the restored server had not reached, and delivered no events.
#[test]
fn a_restored_store_is_found_although_no_request_fails() {
    let steps = vec![create_service(2_000, &json!({ "app": "a" })), create_service(10_000, &json!({ "app": "b" }))];
    assert_passes(steps, "@10000=rewind-9000");
}

// Seeds 550, 1034, 1266 and 1283. The update that reuses a slice for other endpoints had no resource version, as
// upstream, and overwrote a slice that another manager had taken over.
#[test]
fn a_slice_that_another_manager_took_over_is_not_overwritten() {
    let steps = vec![
        create_service(1_000, &json!({ "app": "a" })),
        patch_slice(5_000, json!({ "endpoints": [{ "addresses": ["10.7.7.7"], "conditions": {} }] })),
        patch_slice(3_000, other_manager()),
    ];
    assert_passes(steps, "@6600=freeze-a-8000");
}

// Seed 79543. The watch does not tell yet that the Endpoints are deleted, so slices are mirrored for an owner that does
// not exist. The garbage collector deletes them, and each deletion caused another create: hundreds within half a minute.
#[test]
fn slices_of_an_owner_that_the_cache_still_has_are_not_created_again() {
    let steps = vec![
        create(1_000, "endpoints", endpoints()),
        Step { after: Duration::from_millis(500), operation: delete("endpoints/web") },
        create_service(1_000, &Value::Null),
    ];
    let outcome = assert_passes(steps, "a/event/endpoints/3=delay-20000");
    assert_eq!(creates(&outcome, "endpointslices").len(), 1);
}

// A policy rejects all creates. After 15 failures, which take 164 s, the back-off of a key is 1,000 s. An event resets
// the retries of the key, although the sync that it triggers fails too, so Endpoints are created soon after the policy
// is removed. (The back-off of the slice controller starts at one second, so its keys have failed less often by then.)
#[test]
fn an_event_gives_a_key_its_retries_back() {
    let labels = json!({ "metadata": { "labels": { "team": "red" } } });
    let steps = vec![create_service(1_000, &json!({ "app": "a" })), patch(595_000, "services/web", labels)];
    let outcome = assert_passes(steps, "@0=policy-reject-creates-600000");
    let created = creates(&outcome, "endpoints")[0].as_secs();
    assert!((601..620).contains(&created), "{created}");
}

// Seeds 1282 and 4555, and with two address families 101250, 131421, 141740, 169977 and 179071: the watch does not tell
// yet that the Service is deleted, with which the garbage collector deletes the slices.
#[test]
fn slices_of_a_service_that_the_cache_still_has_are_not_created_again() {
    for (policy, families) in [("SingleStack", 1), ("PreferDualStack", 2)] {
        let ports = json!([{ "name": "http", "port": 80 }]);
        let spec = json!({ "ports": ports, "selector": { "app": "a" }, "ipFamilyPolicy": policy });
        let steps = vec![
            create(1_000, "services", json!({ "metadata": { "name": "web" }, "spec": spec })),
            Step { after: Duration::from_millis(1_200), operation: delete("services/web") },
        ];
        let outcome = assert_passes(steps, "a/event/services/3=delay-20000");
        assert_eq!(creates(&outcome, "endpointslices").len(), families, "{policy}");
    }
}

// Seeds 5, 8 and 190: the plan was made before the server was asked for the Service of a slice that another client had
// deleted. It was out of date when it was sent, and a trigger time that it had taken was lost if it was not sent.
#[test]
fn a_plan_is_made_after_the_wait_for_the_owner() {
    let [create_pod, make_ready] = create_ready_pod(0);
    let node =
        Operation::Create { path: "/api/v1/nodes".to_owned(), object: json!({ "metadata": { "name": "node-0" } }) };
    let delete = Operation::Delete { path: format!("{SLICES}/web*0"), options: Value::Null };
    let not_ready = json!({ "status": {
        "conditions": [{ "type": "Ready", "status": "False", "lastTransitionTime": "2030-01-01T00:00:00Z" }],
    } });
    let steps = vec![
        create_service(1_000, &json!({ "app": "a" })),
        Step { after: Duration::ZERO, operation: node },
        create_pod,
        make_ready,
        Step { after: Duration::from_secs(5), operation: delete },
        patch(2_000, "pods/pod/status", not_ready),
    ];
    let outcome = assert_passes(steps, "a/list/services/1=delay-3000");
    let times = creates(&outcome, "endpointslices");
    let (create, start) = (times[times.len() - 1], Duration::from_secs(7));
    assert!(create > start + Duration::from_secs(1), "{create:?}\n{}", outcome.log.timeline());
    let is_update = |entry: &Entry| match &entry.what {
        EntryKind::Request { point, .. } => point.resource == "endpointslices" && point.verb == Verb::Update,
        _ => false,
    };
    let updates = outcome.log.entries().iter().filter(|entry| entry.at > create && is_update(entry)).count();
    assert_eq!(updates, 0, "{}", outcome.log.timeline());
}

// Seed 624315: the initial list of a new process was older than the last update of the process before it. The list
// equalled the desired state, and the update that the watch showed afterwards triggered no sync.
#[test]
fn an_initial_list_may_lack_the_last_update_of_the_previous_process() {
    let [create_pod, make_ready] = create_ready_pod(1_000);
    let label = |after, app| patch(after, "pods/pod", json!({ "metadata": { "labels": { "app": app } } }));
    let steps =
        vec![create_service(1_000, &json!({ "app": "a" })), create_pod, make_ready, label(3_000, "b"), label(500, "a")];
    assert_passes(steps, "a/event/endpoints/4=past-80,a/watch/endpoints/2=reject-500,a/event/endpoints/5=delay-2000");
}
