//! Each write fails once, in each way; the slices still reach the desired state, without duplicates.

use std::cell::Cell;

use futures::future::join_all;
use http::Method;
use kube_dev_apiserver::{Fault, On};
use kube_endpoints_testing::eventually;
use rstest::rstest;
use serde_json::{Value, json};

use crate::rig::Rig;

const SERVICES: &str = "/api/v1/namespaces/ns/services";
const ENDPOINTS: &str = "/api/v1/namespaces/ns/endpoints";

fn subset(port: u16, ips: &[&str]) -> Value {
    let addresses: Vec<Value> = ips.iter().map(|ip| json!({"ip": ip})).collect();
    json!({"addresses": addresses, "ports": [{"name": "sql", "port": port, "protocol": "TCP"}]})
}

// Writes of `run_scenario`. Its steps cause 2 creates; 1 update and 1 create; 1 delete; 2 deletes.
const CREATES: u32 = 3;
const UPDATES: u32 = 1;
const DELETES: u32 = 3;

/// Waits for these slices.
///
/// With `touch`, the Endpoints are changed before each look at the slices: the controller treats a delete answered with
/// 404 as successful, so only a later event makes it delete a slice that still exists.
async fn settles(rig: &Rig, expected: &[&str], touch: bool) {
    let expected: Vec<String> = expected.iter().map(|it| (*it).to_owned()).collect();
    let number = Cell::new(0_u32);
    let slices = async || {
        if touch {
            number.update(|it| it + 1);
            let patch = json!({"metadata": {"annotations": {"touched": number.get().to_string()}}});
            rig.send(Method::PATCH, &format!("{ENDPOINTS}/db"), &patch).await;
        }
        rig.slices().await
    };
    eventually("slices", &expected, slices).await;
}

/// Creates, changes and deletes Endpoints, and waits for the slices after each step.
async fn run_scenario(rig: &Rig, touch: bool) {
    let send = async |subsets: Value| {
        rig.send(Method::PATCH, &format!("{ENDPOINTS}/db"), &json!({"subsets": subsets})).await;
    };
    let service = json!({"metadata": {"name": "db"}, "spec": {"ports": [{"port": 5432}]}});
    rig.send(Method::POST, SERVICES, &service).await;
    rig.send(Method::POST, ENDPOINTS, &json!({"metadata": {"name": "db"}})).await;
    send(json!([subset(5432, &["192.0.2.1", "2001:db8::1"])])).await;
    settles(rig, &["192.0.2.1", "2001:db8::1"], touch).await;
    send(json!([subset(5432, &["192.0.2.1", "192.0.2.2", "2001:db8::1"]), subset(5433, &["192.0.2.3"])])).await;
    settles(rig, &["192.0.2.1 192.0.2.2", "192.0.2.3", "2001:db8::1"], touch).await;
    send(json!([subset(5432, &["192.0.2.1", "192.0.2.2", "2001:db8::1"])])).await;
    settles(rig, &["192.0.2.1 192.0.2.2", "2001:db8::1"], touch).await;
    rig.send(Method::DELETE, &format!("{ENDPOINTS}/db"), &Value::Null).await;
    if touch {
        // Events need an object.
        rig.send(Method::POST, ENDPOINTS, &json!({"metadata": {"name": "db"}})).await;
    }
    settles(rig, &[], touch).await;
}

fn writes(rig: &Rig, verb: &'static str) -> usize {
    rig.server.requests().count(&On::any().verb(verb).resource("endpointslices"))
}

#[tokio::test]
async fn the_scenario_has_the_expected_writes() {
    let rig = Rig::start().await;
    run_scenario(&rig, false).await;
    let counts = ["create", "update", "delete"].map(|verb| writes(&rig, verb));
    assert_eq!(counts, [CREATES, UPDATES, DELETES].map(|it| it as usize));
}

#[rstest]
#[case::conflict(Fault::reject(409), false)]
#[case::not_found(Fault::reject(404), true)]
#[case::forbidden(Fault::reject(403), false)]
#[case::invalid(Fault::reject(422), false)]
#[case::broken(Fault::internal_error(), false)]
#[case::reset(Fault::reset(), false)]
#[case::applied_and_timed_out(Fault::apply_then_timeout(), false)]
#[case::applied_and_reset(Fault::apply_then_reset(), false)]
#[tokio::test]
async fn a_write_that_fails_once_is_repaired(#[case] fault: Fault, #[case] touch: bool) {
    let failures = [("create", CREATES), ("update", UPDATES), ("delete", DELETES)];
    let failures = failures.into_iter().flat_map(|(verb, count)| (0..count).map(move |position| (verb, position)));
    // Side by side: each waits for a retry.
    let runs = failures.map(async |(verb, position)| {
        let rig = Rig::start().await;
        let on = On::any().verb(verb).resource("endpointslices");
        rig.server.faults().inject(fault.clone().on(on).after(position).times(1));
        run_scenario(&rig, touch && verb == "delete").await;
        let hits: u32 = rig.server.faults().states().iter().map(|state| state.hits).sum();
        assert_eq!(hits, 1, "{verb} {position}: number of injected failures");
    });
    join_all(runs).await;
}
