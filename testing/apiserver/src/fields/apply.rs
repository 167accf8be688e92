//! Server-side apply, as upstream's `merge.Updater.Apply` and the managers around it.

use serde_json::Value;

use super::entries::{Entries, Entry, Operation, Writer};
use super::last_applied;
use super::merge::merge_applied;
use super::remove::{remove, with_named_parents};
use super::set::FieldSet;
use super::update::{ignore_reset, strip, update};
use super::walk::{Comparison, fields_of};
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

/// An object before an apply, without `metadata.managedFields`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Live<'a> {
    pub(crate) object: &'a Value,
    /// Fields of a new object of the kind that no client has set.
    pub(crate) empty: &'a Value,
    pub(crate) schema: Option<Node<'a>>,
}

/// Fields that an apply would take from another manager.
struct Taken {
    manager: String,
    fields: FieldSet,
}

/// Applies a configuration to a live object. `force` takes fields from other managers.
///
/// Fields that the manager applied before and now omits are removed unless another manager owns them. The entry of the
/// manager has a new time only if the object changes. kubectl keeps the annotation with the last configuration up to
/// date. Fails with the fields that other managers own, sorted by manager, if the configuration changes them without
/// `force`.
pub(crate) fn apply(
    live: Live<'_>,
    mut entries: Entries,
    config: &Value,
    writer: &Writer<'_>,
    force: bool,
) -> Result<Applied, Vec<Conflict>> {
    if entries.is_empty() {
        let before = Writer { manager: BEFORE_FIRST_APPLY, operation: Operation::Update, ..writer.clone() };
        update(&mut entries, live.empty, live.object, live.schema, &before);
    }
    let (mut applied, taken) = merge(live, entries, config, writer);
    let is_kubectl = writer.manager == last_applied::MANAGER;
    if !force && !taken.is_empty() {
        return Err(conflicts(taken));
    }
    if is_kubectl {
        last_applied::refresh(&mut applied.object, config);
    }
    Ok(applied)
}

/// Returns the result of a forced apply, and what it takes from other managers.
fn merge(live: Live<'_>, mut entries: Entries, config: &Value, writer: &Writer<'_>) -> (Applied, Vec<Taken>) {
    let schema = live.schema;
    let mut configured = fields_of(config, schema);
    ignore_reset(&mut configured, writer);
    let mut set = configured.clone();
    strip(&mut set, writer);
    let mut object = live.object.clone();
    merge_applied(&mut object, config.clone(), schema);

    let last = if let Some(own) = entries.0.iter_mut().find(|entry| entry.is_of(writer)) {
        own.api_version = writer.api_version.clone().into_owned();
        std::mem::replace(&mut own.set, set)
    } else {
        entries.0.push(Entry::new(writer, set));
        FieldSet::default()
    };
    if !last.is_empty() {
        // With the fields that no entry contains: `metadata` stays as long as the configuration has a name.
        let mut owned = configured;
        entries.0.iter().for_each(|entry| owned.union(&entry.set));
        let mut abandoned = with_named_parents(&last, schema);
        abandoned.subtract(&with_named_parents(&owned, schema));
        remove(&mut object, &abandoned, schema);
    }

    let comparison = Comparison::of(live.object, &object, schema).without(writer.reset);
    let changed = comparison.set();
    let mut taken = Vec::new();
    for entry in entries.0.iter_mut().filter(|entry| !entry.is_of(writer)) {
        let fields = entry.set.intersection(&changed);
        entry.set.subtract(&fields);
        entry.set.subtract(&comparison.removed);
        if !fields.is_empty() {
            taken.push(Taken { manager: entry.description(), fields });
        }
    }
    if *live.object != object
        && let Some(own) = entries.0.iter_mut().find(|entry| entry.is_of(writer))
    {
        own.touch(writer);
    }
    entries.drop_empty();
    (Applied { object, entries }, taken)
}

fn conflicts(taken: Vec<Taken>) -> Vec<Conflict> {
    let mut conflicts = Vec::new();
    for Taken { manager, fields } in taken {
        conflicts.extend(fields.paths().into_iter().map(|path| Conflict { manager: manager.clone(), path }));
    }
    conflicts.sort_by(|a, b| a.manager.cmp(&b.manager));
    conflicts
}
