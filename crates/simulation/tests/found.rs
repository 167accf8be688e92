//! Defects that the simulation has found, each as the smallest history that shows it.

#![expect(clippy::unwrap_used, reason = "fixtures of tests")]

use std::num::NonZeroUsize;
use std::time::Duration;

use kube_controller_client::Encoding;
use kube_simulation::endpoints::{Options, scenario};
use kube_simulation::{Faults, Operation, Outcome, Step};
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
    let options = Options { encoding: Encoding::Json, elects: false, max_endpoints_per_slice };
    let mut simulation = scenario::base(1, steps, options);
    simulation.faults = Faults::Planned(plan.parse().unwrap());
    simulation.run()
}

// Seeds 33, 71 and 78. The reset ends the watches, and no request fails: they were opened again from versions that the
// restored server had not reached, and stayed silent.
#[test]
fn a_restored_store_is_found_although_no_request_fails() {
    let steps = vec![create_service(2_000, &json!({ "app": "a" })), create_service(10_000, &json!({ "app": "b" }))];
    let outcome = run(steps, "@10000=rewind-9000");
    assert!(outcome.violations.is_empty(), "{:#?}\n{}", outcome.violations, outcome.log.timeline());
}

// Seeds 550, 1034, 1266 and 1283. The update that gives a slice to other endpoints carried no resource version, as upstream's,
// and took back a slice that another manager had taken over meanwhile.
#[test]
fn a_slice_that_another_manager_took_over_is_not_overwritten() {
    let manager =
        json!({ "metadata": { "labels": { "endpointslice.kubernetes.io/managed-by": "other.example.com" } } });
    let steps = vec![
        create_service(1_000, &json!({ "app": "a" })),
        patch_slice(5_000, json!({ "endpoints": [{ "addresses": ["10.7.7.7"], "conditions": {} }] })),
        patch_slice(3_000, manager),
    ];
    let outcome = run(steps, "@6600=freeze-a-8000");
    assert!(outcome.violations.is_empty(), "{:#?}\n{}", outcome.violations, outcome.log.timeline());
}
