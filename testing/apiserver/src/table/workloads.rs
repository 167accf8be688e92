//! Table rows of Deployments, `ReplicaSet`s, Jobs and Secrets.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{age, at, has_condition, list, name, text};
use crate::selector::format_meta_json;

pub(super) const DEPLOYMENT_COLUMNS: &str = "Name Ready Up-to-date Available Age Containers+ Images+ Selector+";
pub(super) const REPLICA_SET_COLUMNS: &str = "Name Desired# Current# Ready# Age Containers+ Images+ Selector+";
pub(super) const JOB_COLUMNS: &str = "Name Status Completions Duration Age Containers+ Images+ Selector+";

pub(super) fn deployment(object: &Value, now: Timestamp) -> Vec<Value> {
    let ready = format!("{}/{}", count(object, "status.readyReplicas"), count(object, "spec.replicas"));
    let mut cells = vec![
        name(object),
        json!(ready),
        json!(count(object, "status.updatedReplicas")),
        json!(count(object, "status.availableReplicas")),
        age(object, now),
    ];
    cells.extend(template_cells(object));
    cells
}

pub(super) fn replica_set(object: &Value, now: Timestamp) -> Vec<Value> {
    let mut cells = vec![
        name(object),
        json!(count(object, "spec.replicas")),
        json!(count(object, "status.replicas")),
        json!(count(object, "status.readyReplicas")),
        age(object, now),
    ];
    cells.extend(template_cells(object));
    cells
}

pub(super) fn job(object: &Value, now: Timestamp) -> Vec<Value> {
    let mut cells = vec![
        name(object),
        json!(job_status(object)),
        json!(completions(object)),
        json!(duration(object, now)),
        age(object, now),
    ];
    cells.extend(template_cells(object));
    cells
}

pub(super) fn secret(object: &Value, now: Timestamp) -> Vec<Value> {
    let size = at(object, "data").and_then(Value::as_object).map_or(0, serde_json::Map::len);
    vec![name(object), json!(text(object, "type")), json!(size), age(object, now)]
}

fn job_status(job: &Value) -> &'static str {
    let conditions = ["Complete", "Failed"].into_iter().chain(["Suspended", "FailureTarget", "SuccessCriteriaMet"]);
    let found = conditions.clone().find(|condition| has_condition(job, condition));
    match found {
        Some(end @ ("Complete" | "Failed")) => end,
        _ if !text(job, "metadata.deletionTimestamp").is_empty() => "Terminating",
        Some(other) => other,
        None => "Running",
    }
}

fn completions(job: &Value) -> String {
    let succeeded = count(job, "status.succeeded");
    match (at(job, "spec.completions").and_then(Value::as_i64), count(job, "spec.parallelism")) {
        (Some(completions), _) => format!("{succeeded}/{completions}"),
        (None, parallelism @ 2..) => format!("{succeeded}/1 of {parallelism}"),
        (None, _) => format!("{succeeded}/1"),
    }
}

fn duration(job: &Value, now: Timestamp) -> String {
    let end = text(job, "status.completionTime").parse().unwrap_or(now);
    match text(job, "status.startTime") {
        "" => String::new(),
        start => super::age::since(start, end),
    }
}

/// Returns the names and images of the containers, and the selector.
fn template_cells(object: &Value) -> [Value; 3] {
    let of_containers = |field: &str| {
        let containers = list(object, "spec.template.spec.containers").iter();
        containers.map(|container| text(container, field)).collect::<Vec<_>>().join(",")
    };
    let selector = at(object, "spec.selector").unwrap_or(&Value::Null);
    [json!(of_containers("name")), json!(of_containers("image")), json!(format_meta_json(selector))]
}

fn count(object: &Value, path: &str) -> i64 {
    at(object, path).and_then(Value::as_i64).unwrap_or_default()
}
