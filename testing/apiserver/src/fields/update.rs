//! Fields after a write that is not an apply.

use serde_json::Value;

use super::entries::{Entries, Entry, Operation, Writer};
use super::path::Element;
use super::set::FieldSet;
use super::walk::Comparison;
use crate::schema::Node;

/// Maximum number of entries of updates; the oldest are combined (upstream: `DefaultMaxUpdateManagers`).
const MOST_UPDATERS: usize = 10;
/// Manager of combined entries.
const ANCIENT: &str = "ancient-changes";

/// Records that `writer` changed an object from `old` to `new`: it owns what it added or modified, and no manager
/// owns what it removed. As upstream, a write that only removes fields does not change the time of its entry.
pub(crate) fn update(entries: &mut Entries, old: &Value, new: &Value, schema: Option<Node<'_>>, writer: &Writer<'_>) {
    let comparison = Comparison::of(old, new, schema).without(writer.reset);
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
        if let Some(own) = entries.0.iter_mut().find(|entry| entry.is_of(writer)) {
            own.set.union(&set);
            own.touch(writer);
        } else {
            let mut own = Entry::new(writer, set);
            own.touch(writer);
            entries.0.push(own);
        }
    }
    entries.drop_empty();
    cap(entries);
}

/// Removes the fields that no manager owns, and those that the path of the request does not write.
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
    if let Some(metadata) = set.children.get_mut(&Element::Field("metadata".to_owned())) {
        metadata.member = false;
    }
    ignore_reset(set, writer);
    set.children.retain(|_, child| !child.is_empty());
}

/// Removes the fields that the path of the request does not write.
pub(super) fn ignore_reset(set: &mut FieldSet, writer: &Writer<'_>) {
    for path in writer.reset {
        set.remove_tree(path);
    }
}

/// Combines the oldest entries of updates if there are too many, by version, as upstream's `capUpdateManagers`.
fn cap(entries: &mut Entries) {
    let mut updaters: Vec<Entry> =
        entries.0.iter().filter(|entry| entry.operation == Operation::Update).cloned().collect();
    updaters.sort_by(|a, b| (&a.time, &a.manager).cmp(&(&b.time, &b.manager)));
    let mut count = updaters.len();
    // The first entry of each version, and later what it was combined with.
    let mut combined: Vec<Entry> = Vec::new();
    for entry in updaters {
        if count <= MOST_UPDATERS {
            break;
        }
        match combined.iter_mut().find(|it| it.api_version == entry.api_version) {
            None => combined.push(entry),
            Some(first) => {
                entries.0.retain(|it| it != first && *it != entry);
                first.set.union(&entry.set);
                ANCIENT.clone_into(&mut first.manager);
                first.subresource.clear();
                first.time.clone_from(&entry.time);
                entries.0.push(first.clone());
                count -= 1;
            }
        }
    }
}
