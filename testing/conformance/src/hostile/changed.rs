//! Policies that change the objects that the controllers write.
//!
//! The numbers of writes are those of upstream: an event triggers a sync, a difference between the object sent and the
//! object stored does not. So a policy causes at most one write per event. The history has three events: a Service is
//! created for existing Pods, one of them becomes ready, and it becomes unready.

use std::sync::atomic::{AtomicU64, Ordering};

use futures::FutureExt as _;
use serde_json::{Value, json};

use super::{
    Hostile, Needs,
    checks::Counts,
    world::{ENDPOINTS, SLICES},
};
use crate::Output;

fn set_label(object: &mut Value) {
    object["metadata"]["labels"]["team"] = json!("network");
}

/// Sets a label, and an annotation with another value at each write.
fn stamp(object: &mut Value) {
    static WRITES: AtomicU64 = AtomicU64::new(0);
    set_label(object);
    let write = WRITES.fetch_add(1, Ordering::Relaxed);
    object["metadata"]["annotations"]["stamp"] = json!(write.to_string());
}

fn drop_serving(slice: &mut Value) {
    for endpoint in slice["endpoints"].as_array_mut().into_iter().flatten() {
        if let Some(conditions) = endpoint["conditions"].as_object_mut() {
            conditions.remove("serving");
        }
    }
}

fn reverse(slice: &mut Value) {
    if let Some(endpoints) = slice["endpoints"].as_array_mut() {
        endpoints.reverse();
    }
}

fn keep_first(slice: &mut Value) {
    if let Some(endpoints) = slice["endpoints"].as_array_mut() {
        endpoints.truncate(1);
    }
}

fn drop_labels(object: &mut Value) {
    if let Some(meta) = object["metadata"].as_object_mut() {
        meta.remove("labels");
    }
}

pub(super) fn scenarios() -> Vec<Hostile> {
    vec![
        scenario("label", SLICES, set_label),
        scenario("stamp", SLICES, stamp),
        scenario("serving-dropped", SLICES, drop_serving),
        scenario("endpoints-reordered", SLICES, reverse),
        scenario("endpoints-truncated", SLICES, keep_first),
        scenario("label-on-endpoints", ENDPOINTS, set_label),
        scenario("no-labels-on-endpoints", ENDPOINTS, drop_labels),
    ]
}

fn scenario(name: &str, resource: &'static str, rule: fn(&mut Value)) -> Hostile {
    let needs = Needs::of(if resource == SLICES { Output::ServiceSlices } else { Output::Endpoints });
    let about = "A policy that changes what is written costs one write per event.";
    Hostile::new(format!("changed/{name}"), about, needs, move |world| {
        async move {
            world.mutate(resource, rule)?;
            world.three_events(true).await?;
            world.expect_counts(SLICES, Counts::of(1, 2, 0))?;
            world.expect_counts(ENDPOINTS, Counts::of(1, 2, 0))
        }
        .boxed()
    })
}
