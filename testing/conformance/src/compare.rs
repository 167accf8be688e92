//! Comparison of a snapshot with the recorded one, relaxed by tags.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::{
    Snapshot, Tag,
    canonical::{sort, text},
    difference,
};

/// Annotation that depends on how events were batched. It is compared only with [`Tag::ExactTime`].
const TRIGGER_TIME: &str = "endpoints.kubernetes.io/last-change-trigger-time";

/// Returns the differences between two snapshots as text; empty if they are equal under the tags.
pub fn compare(expected: &Snapshot, actual: &Snapshot, tags: &BTreeSet<Tag>) -> Vec<String> {
    difference::between(&relaxed(expected, tags), &relaxed(actual, tags))
}

/// Returns the part of a snapshot that is compared under the tags.
fn relaxed(snapshot: &Snapshot, tags: &BTreeSet<Tag>) -> Value {
    let Snapshot { mut endpoints, mut slices, mut events } = snapshot.clone();
    if !tags.contains(&Tag::ExactTime) {
        endpoints.iter_mut().chain(&mut slices).for_each(forget_time);
    }
    sort(&mut slices);
    sort(&mut events);
    let slices = match packing(tags) {
        None => slices.into(),
        Some(packing) => grouped(slices, packing),
    };
    if tags.contains(&Tag::NoEvents) {
        json!({ "endpoints": endpoints, "slices": slices })
    } else {
        json!({ "endpoints": endpoints, "slices": slices, "events": events })
    }
}

/// Properties that are compared when the distribution of endpoints to slices is not.
#[derive(Debug, Clone, Copy)]
struct Packing {
    sizes: bool,
    hints: bool,
}

fn packing(tags: &BTreeSet<Tag>) -> Option<Packing> {
    let loose = [Tag::LoosePacking, Tag::SizesVary, Tag::HintCounts].iter().any(|tag| tags.contains(tag));
    let sizes = !tags.contains(&Tag::SizesVary);
    let hints = !tags.contains(&Tag::HintCounts);
    loose.then_some(Packing { sizes, hints })
}

fn forget_time(object: &mut Value) {
    let Some(fields) = object.as_object_mut() else { return };
    let Some(annotations) = fields.get_mut("annotations").and_then(Value::as_object_mut) else { return };
    annotations.remove(TRIGGER_TIME);
    if annotations.is_empty() {
        fields.remove("annotations");
    }
}

/// Slices that are equal except for their endpoints.
#[derive(Default)]
struct Group {
    sizes: Vec<usize>,
    endpoints: Vec<Value>,
    hints: BTreeMap<String, usize>,
}

fn grouped(slices: Vec<Value>, packing: Packing) -> Value {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for mut slice in slices {
        let endpoints = slice.as_object_mut().and_then(|fields| fields.remove("endpoints"));
        let Some(Value::Array(mut endpoints)) = endpoints else { continue };
        let group = groups.entry(text(&slice)).or_default();
        group.sizes.push(endpoints.len());
        if !packing.hints {
            for endpoint in endpoints.iter_mut().filter_map(Value::as_object_mut) {
                let hints = endpoint.remove("hints").map_or_else(|| "none".to_owned(), |hints| text(&hints));
                *group.hints.entry(hints).or_default() += 1;
            }
        }
        group.endpoints.append(&mut endpoints);
    }
    let groups = groups.into_iter().map(|(alike, Group { mut sizes, mut endpoints, hints })| {
        sizes.sort_unstable();
        sort(&mut endpoints);
        let mut form = Map::new();
        let sizes = if packing.sizes { json!(sizes) } else { json!(sizes.len()) };
        form.insert(if packing.sizes { "sizes" } else { "count" }.to_owned(), sizes);
        form.insert("endpoints".to_owned(), endpoints.into());
        if !packing.hints {
            form.insert("hints".to_owned(), json!(hints));
        }
        (alike, Value::Object(form))
    });
    groups.collect::<Map<_, _>>().into()
}
