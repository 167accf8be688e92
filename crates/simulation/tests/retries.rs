//! Retries over hours of virtual time.

use std::num::NonZeroUsize;
use std::time::Duration;

use kube_controller_client::Encoding;
use kube_simulation::endpoints::{Options, scenario};
use kube_simulation::{Faults, Happening, Operation, Step};
use serde_json::json;

const SERVICES: &str = "/api/v1/namespaces/default/services";

// A policy refuses all creates. After 15 failures, which take 164 s, a key waits 1,000 s. An event then gives it its retries
// back, although the attempt that it causes fails, too: Endpoints are there soon after the policy has gone. (The limiter of the
// slice controller begins with a second, so that its keys have not failed that often by then.)
#[test]
fn an_event_gives_a_key_its_retries_back() {
    let max_endpoints_per_slice = NonZeroUsize::new(2).unwrap();
    let options = Options { encoding: Encoding::Json, elects: false, max_endpoints_per_slice };
    let ports = json!([{ "name": "http", "port": 80 }]);
    let object = json!({ "metadata": { "name": "web" }, "spec": { "ports": ports, "selector": { "app": "a" } } });
    let patch = json!({ "metadata": { "labels": { "team": "red" } } });
    let step = |seconds, operation| Step { after: Duration::from_secs(seconds), operation };
    let steps = vec![
        step(1, Operation::Create { path: SERVICES.to_owned(), object }),
        step(595, Operation::Patch { path: format!("{SERVICES}/web"), patch }),
    ];
    let mut simulation = scenario::base(1, steps, options);
    simulation.faults = Faults::Planned("@0=policy-refuse-creates-600000".parse().unwrap());
    let outcome = simulation.run();
    assert!(outcome.violations.is_empty(), "{:#?}\n{}", outcome.violations, outcome.log.timeline());
    let created = outcome.log.entries().iter().find_map(|entry| match &entry.what {
        Happening::Request { point, code: Some(201), .. } if point.resource == "endpoints" => Some(entry.at),
        _ => None,
    });
    let created = created.unwrap();
    assert!(created > Duration::from_secs(600) && created < Duration::from_secs(620), "{created:?}");
}
