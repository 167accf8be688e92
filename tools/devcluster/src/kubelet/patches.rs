//! Merge patches of the status of Nodes and Pods.

use std::net::IpAddr;

use serde_json::{Value, json};

use crate::cluster::{list, text};

/// Returns the patch that marks a Node ready. It replaces all conditions; only Nodes without a `Ready` condition are
/// registered.
pub(super) fn registered(stamp: &str) -> Value {
    let ready = json!({
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "message": "kubelet simulated by devcluster",
        "lastHeartbeatTime": stamp,
        "lastTransitionTime": stamp,
    });
    json!({ "status": { "conditions": [ready] } })
}

/// Returns the patch of a Pod whose containers have started and are not ready yet.
pub(super) fn started(pod: &Value, addresses: &[IpAddr], host: &[IpAddr], stamp: &str) -> Value {
    let listed = |addresses: &[IpAddr]| -> Value {
        addresses.iter().map(|address| json!({ "ip": address.to_string() })).collect()
    };
    let mut patch = readiness(pod, false, false, stamp);
    let status = &mut patch["status"];
    status["phase"] = "Running".into();
    status["startTime"] = stamp.into();
    status["podIP"] = json!(addresses.first());
    status["podIPs"] = listed(addresses);
    if let Some(first) = host.first() {
        status["hostIP"] = json!(first);
        status["hostIPs"] = listed(host);
    }
    patch
}

/// Returns the patch of a Pod that runs.
pub(super) fn readiness(pod: &Value, containers_ready: bool, ready: bool, stamp: &str) -> Value {
    let updates =
        [("PodScheduled", true), ("Initialized", true), ("ContainersReady", containers_ready), ("Ready", ready)];
    let conditions = update_conditions(pod, &updates, stamp);
    json!({ "status": { "conditions": conditions, "containerStatuses": containers(pod, containers_ready, stamp) } })
}

/// Returns the patch of a Pod on a lost Node. Only `Ready` becomes false; the state of the containers is unknown and
/// stays.
pub(super) fn lost(pod: &Value, stamp: &str) -> Value {
    let conditions = update_conditions(pod, &[("Ready", false)], stamp);
    json!({ "status": { "conditions": conditions } })
}

/// Returns the conditions of a Pod, updated by `updates`. A condition whose status does not change keeps its transition
/// time.
fn update_conditions(pod: &Value, updates: &[(&str, bool)], stamp: &str) -> Value {
    let mut conditions: Vec<Value> = list(&pod["status"]["conditions"]).cloned().collect();
    for (name, is_true) in updates {
        let status = if *is_true { "True" } else { "False" };
        let updated = json!({ "type": name, "status": status, "lastTransitionTime": stamp });
        match conditions.iter_mut().find(|condition| condition["type"] == *name) {
            Some(condition) if condition["status"] == status => {}
            Some(condition) => *condition = updated,
            None => conditions.push(updated),
        }
    }
    conditions.into()
}

fn containers(pod: &Value, ready: bool, stamp: &str) -> Value {
    let statuses = list(&pod["spec"]["containers"]).map(|container| {
        let current = list(&pod["status"]["containerStatuses"]).find(|status| status["name"] == container["name"]);
        let state = current.and_then(|status| status.get("state")).cloned();
        json!({
            "name": container["name"],
            "image": text(&container["image"]),
            "imageID": "",
            "ready": ready,
            "started": true,
            "restartCount": 0,
            "state": state.unwrap_or_else(|| json!({ "running": { "startedAt": stamp } })),
        })
    });
    statuses.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(status: &Value) -> Value {
        json!({
            "metadata": {"name": "web-1", "namespace": "shop"},
            "spec": {"containers": [{"name": "web", "image": "web:1"}]},
            "status": status,
        })
    }

    fn states(patch: &Value) -> String {
        let conditions = patch["status"]["conditions"].as_array().unwrap().iter();
        let states = conditions
            .map(|it| format!("{}={}@{}", text(&it["type"]), text(&it["status"]), text(&it["lastTransitionTime"])));
        states.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn started_pod_has_addresses_and_is_not_ready() {
        let addresses = ["10.112.1.2".parse().unwrap(), "fd00::2".parse().unwrap()];
        let host = ["192.168.0.1".parse().unwrap()];
        let patch = started(&pod(&json!({"phase": "Pending"})), &addresses, &host, "T1");
        assert_eq!(patch["status"]["podIP"], "10.112.1.2");
        assert_eq!(patch["status"]["podIPs"], json!([{"ip": "10.112.1.2"}, {"ip": "fd00::2"}]));
        assert_eq!(patch["status"]["hostIP"], "192.168.0.1");
        assert_eq!(states(&patch), "PodScheduled=True@T1 Initialized=True@T1 ContainersReady=False@T1 Ready=False@T1");
        assert_eq!(patch["status"]["containerStatuses"][0]["image"], "web:1");
    }

    #[test]
    fn unchanged_conditions_keep_their_transition_time() {
        let earlier = "2026-01-01T00:00:00Z";
        let running = pod(&started(&pod(&json!({})), &[], &[], earlier)["status"]);
        let patch = readiness(&running, true, true, "T2");
        let expect =
            format!("PodScheduled=True@{earlier} Initialized=True@{earlier} ContainersReady=True@T2 Ready=True@T2");
        assert_eq!(states(&patch), expect);
        let state = &patch["status"]["containerStatuses"][0]["state"];
        assert_eq!(state, &json!({"running": {"startedAt": earlier}}));
    }

    #[test]
    fn pending_gate_keeps_the_pod_unready_and_its_condition() {
        let conditions =
            json!([{"type": "lb/attached", "status": "False", "lastTransitionTime": "2026-01-01T00:00:00Z"}]);
        let patch = readiness(&pod(&json!({ "conditions": conditions })), true, false, "T4");
        let expect = "lb/attached=False@2026-01-01T00:00:00Z PodScheduled=True@T4 Initialized=True@T4 \
                      ContainersReady=True@T4 Ready=False@T4";
        assert_eq!(states(&patch), expect);
        assert_eq!(patch["status"]["containerStatuses"][0]["ready"], true);
    }

    #[test]
    fn lost_pod_is_only_unready() {
        let conditions = json!([
            {"type": "ContainersReady", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"},
            {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"},
        ]);
        let patch = lost(&pod(&json!({ "conditions": conditions })), "T3");
        assert_eq!(states(&patch), "ContainersReady=True@2026-01-01T00:00:00Z Ready=False@T3");
    }
}
