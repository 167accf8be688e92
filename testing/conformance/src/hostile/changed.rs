//! Policies that change the objects that the controllers write.
//!
//! The numbers of writes are those of upstream: an event triggers a sync, a difference between the object sent and the
//! object stored does not. So a policy causes at most one write per event. The history has three events: a Service is
//! created for existing Pods, one of them becomes ready, and it becomes unready.

use futures::FutureExt as _;
use serde_json::{Value, json};

use super::{
    Hostile, Needs,
    checks::Counts,
    policy::Mutation,
    world::{ENDPOINTS, SLICES},
};

const LABEL: &str = r#"[JSONPatch{op: "add", path: "/metadata/labels/team", value: "network"}]"#;
const NO_LABELS: &str = r#"has(object.metadata.labels) ? [JSONPatch{op: "remove", path: "/metadata/labels"}] : []"#;
// For slices with at most two endpoints, as in these scenarios.
const NO_SERVING: &str = r#"
    (size(object.endpoints) > 0 && has(object.endpoints[0].conditions.serving)
        ? [JSONPatch{op: "remove", path: "/endpoints/0/conditions/serving"}] : []) +
    (size(object.endpoints) > 1 && has(object.endpoints[1].conditions.serving)
        ? [JSONPatch{op: "remove", path: "/endpoints/1/conditions/serving"}] : [])"#;
const REVERSED: &str =
    r#"size(object.endpoints) > 1 ? [JSONPatch{op: "move", from: "/endpoints/1", path: "/endpoints/0"}] : []"#;
const FIRST_ONLY: &str = r#"size(object.endpoints) > 1 ? [JSONPatch{op: "remove", path: "/endpoints/1"}] : []"#;

fn set_label(object: &mut Value) {
    object["metadata"]["labels"]["team"] = json!("network");
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
        scenario("label", SLICES, LABEL, set_label),
        scenario("serving-dropped", SLICES, NO_SERVING, drop_serving),
        scenario("endpoints-reordered", SLICES, REVERSED, reverse),
        scenario("endpoints-truncated", SLICES, FIRST_ONLY, keep_first),
        scenario("label-on-endpoints", ENDPOINTS, LABEL, set_label),
        scenario("no-labels-on-endpoints", ENDPOINTS, NO_LABELS, drop_labels),
    ]
}

fn scenario(name: &str, resource: &'static str, cel: &'static str, rule: fn(&mut Value)) -> Hostile {
    let needs = if resource == SLICES { Needs::SERVICE_SLICES } else { Needs::ENDPOINTS };
    let about = "A policy that changes what is written costs one write per event.";
    Hostile::new(format!("changed/{name}"), about, needs, move |world| {
        async move {
            world.mutate(Mutation { name: "changes", resource, cel: cel.to_owned(), rule: Box::new(rule) }).await?;
            world.three_events(true).await?;
            world.expect_counts(SLICES, Counts::of(1, 2, 0))?;
            world.expect_counts(ENDPOINTS, Counts::of(1, 2, 0))
        }
        .boxed()
    })
}
