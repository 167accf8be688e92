//! Every write fails once, in every way; the slices come out right all the same, without duplicates.

use std::time::Duration;

use http::Method;
use kube_dev_apiserver::{Fault, On};
use rstest::rstest;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::rig::Rig;

const SERVICES: &str = "/api/v1/namespaces/ns/services";
const ENDPOINTS: &str = "/api/v1/namespaces/ns/endpoints";

/// A subset with one port.
fn subset(port: u16, ips: &[&str]) -> Value {
    let addresses: Vec<Value> = ips.iter().map(|ip| json!({"ip": ip})).collect();
    json!({"addresses": addresses, "ports": [{"name": "sql", "port": port, "protocol": "TCP"}]})
}

/// Slices that come, change and go: in this order they take 2 creations, 1 update and 1 creation, 1 deletion, and then
/// 2 deletions.
const CREATIONS: u32 = 3;
const UPDATES: u32 = 1;
const DELETIONS: u32 = 3;

/// Waits for these slices. `told_gone`: told that a slice is gone the controller believes it, and only the next event shows
/// that it is not, so that there must be some.
async fn settles(rig: &Rig, expected: &[&str], told_gone: bool) {
    let events = async {
        for number in 0_u32.. {
            if told_gone {
                let touched = json!({"metadata": {"annotations": {"touched": number.to_string()}}});
                rig.send(Method::PATCH, &format!("{ENDPOINTS}/db"), &touched).await;
            }
            sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        () = rig.settles(expected) => {}
        () = events => {}
    }
}

async fn walk(rig: &Rig, told_gone: bool) {
    let send = async |subsets: Value| {
        rig.send(Method::PATCH, &format!("{ENDPOINTS}/db"), &json!({"subsets": subsets})).await;
    };
    let service = json!({"metadata": {"name": "db"}, "spec": {"ports": [{"port": 5432}]}});
    rig.send(Method::POST, SERVICES, &service).await;
    rig.send(Method::POST, ENDPOINTS, &json!({"metadata": {"name": "db"}})).await;
    send(json!([subset(5432, &["192.0.2.1", "2001:db8::1"])])).await;
    settles(rig, &["192.0.2.1", "2001:db8::1"], told_gone).await;
    send(json!([subset(5432, &["192.0.2.1", "192.0.2.2", "2001:db8::1"]), subset(5433, &["192.0.2.3"])])).await;
    settles(rig, &["192.0.2.1 192.0.2.2", "192.0.2.3", "2001:db8::1"], told_gone).await;
    send(json!([subset(5432, &["192.0.2.1", "192.0.2.2", "2001:db8::1"])])).await;
    settles(rig, &["192.0.2.1 192.0.2.2", "2001:db8::1"], told_gone).await;
    rig.send(Method::DELETE, &format!("{ENDPOINTS}/db"), &Value::Null).await;
    if told_gone {
        // There must be something to have events of.
        rig.send(Method::POST, ENDPOINTS, &json!({"metadata": {"name": "db"}})).await;
    }
    settles(rig, &[], told_gone).await;
}

fn writes(rig: &Rig, verb: &'static str) -> usize {
    rig.server.requests().count(&On::any().verb(verb).resource("endpointslices"))
}

#[tokio::test]
async fn the_walk_takes_every_verb() {
    let rig = Rig::start().await;
    walk(&rig, false).await;
    let counts = ["create", "update", "delete"].map(|verb| writes(&rig, verb));
    assert_eq!(counts, [CREATIONS, UPDATES, DELETIONS].map(|it| it as usize));
}

#[rstest]
#[case::conflict(Fault::refuse(409), false)]
#[case::not_found(Fault::refuse(404), true)]
#[case::forbidden(Fault::refuse(403), false)]
#[case::invalid(Fault::refuse(422), false)]
#[case::broken(Fault::internal_error(), false)]
#[case::reset(Fault::reset(), false)]
#[case::applied_and_timed_out(Fault::apply_then_timeout(), false)]
#[case::applied_and_reset(Fault::apply_then_reset(), false)]
#[tokio::test]
async fn at_every_position(#[case] fault: Fault, #[case] told_gone: bool) {
    for (verb, count) in [("create", CREATIONS), ("update", UPDATES), ("delete", DELETIONS)] {
        for position in 0..count {
            let rig = Rig::start().await;
            let on = On::any().verb(verb).resource("endpointslices");
            rig.server.faults().inject(fault.clone().on(on).after(position).times(1));
            walk(&rig, told_gone && verb == "delete").await;
            let hits: u32 = rig.server.faults().states().iter().map(|state| state.hits).sum();
            assert_eq!(hits, 1, "{verb} {position}: was to fail");
        }
    }
}
