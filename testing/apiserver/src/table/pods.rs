//! Table rows of Pods, as upstream's `printPod`.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{age, at, has_condition, list, name, or, text};

pub(super) const COLUMNS: &str = "Name Ready Status Restarts Age IP+ Node+ Nominated_Node+ Readiness_Gates+";

pub(super) fn cells(pod: &Value, now: Timestamp) -> Vec<Value> {
    let summary = Summary::of(pod);
    let restarts = match &summary.last_restart {
        Some(time) if summary.restarts > 0 => {
            format!("{} ({} ago)", summary.restarts, age::since(&time.to_string(), now))
        }
        _ => summary.restarts.to_string(),
    };
    let ip = list(pod, "status.podIPs").first().map_or_else(|| text(pod, "status.podIP"), |ip| text(ip, "ip"));
    let gates = list(pod, "spec.readinessGates");
    let passed = gates.iter().filter(|gate| has_condition(pod, text(gate, "conditionType"))).count();
    let gates = if gates.is_empty() { "<none>".to_owned() } else { format!("{passed}/{}", gates.len()) };
    vec![
        name(pod),
        json!(format!("{}/{}", summary.ready, summary.containers)),
        json!(summary.reason),
        json!(restarts),
        super::age(pod, now),
        json!(or(ip, "<none>")),
        json!(or(text(pod, "spec.nodeName"), "<none>")),
        json!(or(text(pod, "status.nominatedNodeName"), "<none>")),
        json!(gates),
    ]
}

/// Status, readiness and restarts of a Pod.
struct Summary {
    reason: String,
    ready: usize,
    containers: usize,
    restarts: i64,
    last_restart: Option<Timestamp>,
}

impl Summary {
    fn of(pod: &Value) -> Self {
        let (phase, status_reason) = (text(pod, "status.phase"), text(pod, "status.reason"));
        let init_containers = list(pod, "spec.initContainers");
        let mut summary = Self {
            reason: or(status_reason, phase).to_owned(),
            ready: 0,
            containers: list(pod, "spec.containers").len()
                + init_containers.iter().filter(|container| is_sidecar(container)).count(),
            restarts: 0,
            last_restart: None,
        };
        let gated = |condition: &Value| {
            text(condition, "type") == "PodScheduled" && text(condition, "reason") == "SchedulingGated"
        };
        if list(pod, "status.conditions").iter().any(gated) {
            "SchedulingGated".clone_into(&mut summary.reason);
        }
        let (initializing, sidecar_restarts) = summary.visit_init_containers(pod, init_containers);
        if !initializing || has_condition(pod, "Initialized") {
            summary.restarts = sidecar_restarts;
            summary.visit_containers(pod);
        }
        if !text(pod, "metadata.deletionTimestamp").is_empty() {
            if status_reason == "NodeLost" {
                "Unknown".clone_into(&mut summary.reason);
            } else if !matches!(phase, "Succeeded" | "Failed") {
                "Terminating".clone_into(&mut summary.reason);
            }
        }
        summary
    }

    /// Returns whether the Pod is still initializing, and the number of restarts of its sidecars.
    fn visit_init_containers(&mut self, pod: &Value, specs: &[Value]) -> (bool, i64) {
        let mut sidecar_restarts = 0;
        for (i, status) in list(pod, "status.initContainerStatuses").iter().enumerate() {
            let sidecar =
                specs.iter().any(|container| text(container, "name") == text(status, "name") && is_sidecar(container));
            self.count_restarts(status);
            if sidecar {
                sidecar_restarts += restarts(status);
            }
            let state = |path: &str| at(status, path);
            let reason = if let Some(terminated) = state("state.terminated") {
                if exit_code(terminated) == 0 {
                    continue;
                }
                format!("Init:{}", end_of(terminated))
            } else if sidecar && state("started") == Some(&Value::Bool(true)) {
                self.ready += usize::from(state("ready") == Some(&Value::Bool(true)));
                continue;
            } else {
                match text(status, "state.waiting.reason") {
                    "" | "PodInitializing" => format!("Init:{i}/{}", specs.len()),
                    reason => format!("Init:{reason}"),
                }
            };
            self.reason = reason;
            return (true, sidecar_restarts);
        }
        (false, sidecar_restarts)
    }

    fn visit_containers(&mut self, pod: &Value) {
        let mut has_running = false;
        for status in list(pod, "status.containerStatuses").iter().rev() {
            self.count_restarts(status);
            let waiting = text(status, "state.waiting.reason");
            if !waiting.is_empty() {
                waiting.clone_into(&mut self.reason);
            } else if let Some(terminated) = at(status, "state.terminated") {
                self.reason = end_of(terminated);
            } else if at(status, "ready") == Some(&Value::Bool(true)) && at(status, "state.running").is_some() {
                has_running = true;
                self.ready += 1;
            }
        }
        if self.reason == "Completed" && has_running {
            let reason = if has_condition(pod, "Ready") { "Running" } else { "NotReady" };
            reason.clone_into(&mut self.reason);
        }
    }

    fn count_restarts(&mut self, status: &Value) {
        self.restarts += restarts(status);
        if let Ok(time) = text(status, "lastState.terminated.finishedAt").parse() {
            self.last_restart = self.last_restart.max(Some(time));
        }
    }
}

fn is_sidecar(container: &Value) -> bool {
    text(container, "restartPolicy") == "Always"
}

fn restarts(status: &Value) -> i64 {
    at(status, "restartCount").and_then(Value::as_i64).unwrap_or_default()
}

fn exit_code(terminated: &Value) -> i64 {
    at(terminated, "exitCode").and_then(Value::as_i64).unwrap_or_default()
}

/// Returns the reason why a container terminated.
fn end_of(terminated: &Value) -> String {
    match (text(terminated, "reason"), at(terminated, "signal").and_then(Value::as_i64).unwrap_or_default()) {
        ("", 0) => format!("ExitCode:{}", exit_code(terminated)),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}
