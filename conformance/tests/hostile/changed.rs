//! Policies that change the objects that the controllers write.
//!
//! The numbers of writes are those of upstream: an event triggers a sync, a difference between the object sent and the
//! object stored does not. So a policy causes at most one write per event. The history has three events: a Service is
//! created for existing Pods, one of them becomes ready, and it becomes unready.

use anyhow::Result;
use rstest::rstest;
use serde_json::{Value, json};

use crate::policy::Mutation;
use crate::world::{Counts, ENDPOINTS, Needs, SLICES, World};

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

#[rstest]
#[case::label(SLICES, LABEL, set_label)]
#[case::serving_dropped(SLICES, NO_SERVING, drop_serving)]
#[case::endpoints_reordered(SLICES, REVERSED, reverse)]
#[case::endpoints_truncated(SLICES, FIRST_ONLY, keep_first)]
#[case::label_on_endpoints(ENDPOINTS, LABEL, set_label)]
#[case::no_labels_on_endpoints(ENDPOINTS, NO_LABELS, drop_labels)]
#[tokio::test(flavor = "multi_thread")]
async fn a_policy_that_changes_what_is_written_costs_one_write_per_event(
    #[case] resource: &'static str,
    #[case] cel: &'static str,
    #[case] rule: fn(&mut Value),
) -> Result<()> {
    let Some(world) = World::start(Needs::ANY).await? else { return Ok(()) };
    world
        .play(async |world| {
            world.mutate(Mutation { name: "changes", resource, cel, rule }).await?;
            world.three_events().await?;
            world.expect_counts(SLICES, Counts::of(1, 2, 0))?;
            world.expect_counts(ENDPOINTS, Counts::of(1, 2, 0))
        })
        .await
}
