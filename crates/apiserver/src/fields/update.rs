//! Fields after a write that is not an apply.

use serde_json::Value;

use super::entries::{Entries, Entry, Operation, Writer};
use super::set::FieldSet;
use super::walk::Comparison;
use crate::schema::Node;

/// Maximum number of entries of updates; the oldest are combined (upstream: `DefaultMaxUpdateManagers`).
const MOST_UPDATERS: usize = 10;
/// Manager of combined entries.
const ANCIENT: &str = "ancient-changes";

/// Records that `writer` changed an object from `old` to `new`: it owns what it added or modified, and nobody owns what
/// it removed.
pub(crate) fn update(entries: &mut Entries, old: &Value, new: &Value, schema: Option<Node<'_>>, writer: &Writer<'_>) {
    let comparison = Comparison::of(old, new, schema);
    if comparison.is_same() {
        return;
    }
    let mut set = comparison.set();
    for entry in &mut entries.0 {
        entry.set.subtract(&comparison.removed);
        if !entry.is_of(writer) {
            entry.set.subtract(&set);
        }
    }
    strip(&mut set, writer);
    if !set.is_empty() {
        match entries.0.iter_mut().find(|entry| entry.is_of(writer)) {
            Some(own) => {
                own.set.union(&set);
                own.touch(writer);
            }
            None => entries.0.push(Entry::new(writer, set)),
        }
    }
    entries.drop_empty();
    cap(entries);
}

/// Removes the fields that nobody owns, and those that the path of the request does not write.
pub(super) fn strip(set: &mut FieldSet, writer: &Writer<'_>) {
    const UNOWNED: [&str; 9] = [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    ];
    for field in ["apiVersion", "kind"] {
        set.remove_tree(&[field]);
    }
    for field in UNOWNED {
        set.remove_tree(&["metadata", field]);
    }
    if let Some(metadata) = set.children.get_mut(&super::path::Element::Field("metadata".to_owned())) {
        metadata.member = false;
    }
    if writer.subresource == "status" {
        set.remove_tree(&["spec"]);
    }
    set.children.retain(|_, child| !child.is_empty());
}

/// Combines the oldest entries of updates if there are too many.
fn cap(entries: &mut Entries) {
    let is_updater = |entry: &&Entry| entry.operation == Operation::Update && entry.subresource.is_empty();
    let mut updaters: Vec<Entry> = entries.0.iter().filter(is_updater).cloned().collect();
    if updaters.len() <= MOST_UPDATERS {
        return;
    }
    updaters.sort_by(|a, b| (&a.time, &a.manager).cmp(&(&b.time, &b.manager)));
    let oldest = &updaters[..=updaters.len() - MOST_UPDATERS];
    entries.0.retain(|entry| !oldest.contains(entry));
    let mut combined = Entry { manager: ANCIENT.to_owned(), ..oldest[oldest.len() - 1].clone() };
    for entry in oldest {
        combined.set.union(&entry.set);
    }
    entries.0.push(combined);
}
