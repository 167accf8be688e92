//! Fields after a write that is not an apply.

use serde_json::Value;

use super::entries::{Entries, Entry, Writer};
use super::path::Element;
use super::set::FieldSet;
use super::walk::Comparison;
use crate::schema::Node;

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
