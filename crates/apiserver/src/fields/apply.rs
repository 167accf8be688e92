//! Server-side apply.

use serde_json::Value;

use super::entries::{Entries, Entry, Operation, Writer};
use super::remove::{remove, with_named_parents};
use super::set::FieldSet;
use super::update::{strip, update};
use super::walk::{Comparison, fields_of};
use crate::merge::merge_applied;
use crate::schema::Node;

/// Manager of the fields of an object without entries, before it is first applied.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Field that another manager owns with another value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// The manager as messages name it: `"kubectl-edit" using v1`.
    pub(crate) manager: String,
    /// Path of the field, such as `.spec.ports[port=80,protocol="TCP"].targetPort`.
    pub(crate) path: String,
}

/// Result of an apply: the object before defaulting, without `metadata.managedFields`, and its entries.
#[derive(Debug, PartialEq)]
pub(crate) struct Applied {
    pub(crate) object: Value,
    pub(crate) entries: Entries,
}

/// Applies a configuration to a live object. `force` takes fields from other managers.
///
/// Both are without `metadata.managedFields`. Fields that the manager applied before and now omits are removed unless
/// another manager owns them. An apply that changes nothing returns the object and entries unchanged.
///
/// # Errors
/// The fields that other managers own, if the configuration changes them without `force`. Sorted by manager and path.
pub(crate) fn apply(
    live: &Value,
    mut entries: Entries,
    config: Value,
    schema: Option<Node<'_>>,
    writer: &Writer<'_>,
    force: bool,
) -> Result<Applied, Vec<Conflict>> {
    if entries.is_empty() {
        let before = Writer { manager: BEFORE_FIRST_APPLY, operation: Operation::Update, ..writer.clone() };
        update(&mut entries, &Value::Object(serde_json::Map::new()), live, schema, &before);
    }
    let unchanged = entries.clone();
    let mut set = fields_of(&config, schema);
    strip(&mut set, writer);
    let mut object = live.clone();
    merge_applied(&mut object, config, schema);

    let own = entries.0.iter_mut().find(|entry| entry.is_of(writer));
    let (last, had_own) = match own {
        Some(own) => (std::mem::replace(&mut own.set, set.clone()), true),
        None => (FieldSet::default(), false),
    };
    if !had_own {
        entries.0.push(Entry::new(writer, set.clone()));
    }
    if !last.is_empty() {
        let mut owned = FieldSet::default();
        entries.0.iter().for_each(|entry| owned.union(&entry.set));
        let mut abandoned = with_named_parents(&last, schema);
        abandoned.subtract(&with_named_parents(&owned, schema));
        remove(&mut object, &abandoned, schema);
    }

    let comparison = Comparison::of(live, &object, schema);
    if comparison.is_same() && had_own && last == set {
        return Ok(Applied { object, entries: unchanged });
    }
    let changed = comparison.set();
    let mut conflicts = Vec::new();
    for entry in entries.0.iter_mut().filter(|entry| !entry.is_of(writer)) {
        let manager = entry.description();
        let taken = entry.set.intersection(&changed);
        conflicts.extend(taken.paths().into_iter().map(|path| Conflict { manager: manager.clone(), path }));
        entry.set.subtract(&taken);
        entry.set.subtract(&comparison.removed);
    }
    if !force && !conflicts.is_empty() {
        conflicts.sort_by(|a, b| (&a.manager, &a.path).cmp(&(&b.manager, &b.path)));
        return Err(conflicts);
    }
    if let Some(own) = entries.0.iter_mut().find(|entry| entry.is_of(writer)) {
        own.touch(writer);
    }
    entries.drop_empty();
    Ok(Applied { object, entries })
}
