//! `metadata.managedFields` of an object during a write: decoded once before it, and encoded once after it.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{Stored, WriteOptions, WriteTarget};
use crate::fields::{Entries, FieldTracking, ManagedFields, Operation, Writer, update};
use crate::kinds::{Kind, Part, Prepared};

/// Managed fields of an object that is written.
#[derive(Default)]
pub(super) struct Ownership<'a> {
    entries: Entries,
    /// What changes the entries; `None` if they are final.
    change: Option<OwnerChange<'a>>,
    /// Those of the stored object.
    stored: ManagedFields,
}

/// Change of the entries by a client that owns what it changes.
struct OwnerChange<'a> {
    writer: Writer<'a>,
    /// The object before the write, without managed fields.
    old: Value,
}

impl<'a> Ownership<'a> {
    /// Takes the managed fields out of a new object.
    pub(super) fn of_create(kind: &Kind, body: &mut Value, tracking: FieldTracking, options: WriteOptions<'a>) -> Self {
        let ManagedFields { entries, .. } = ManagedFields::take(body);
        let is_tracked = tracking == FieldTracking::Always || !entries.is_empty();
        let change = options.manager.filter(|_| is_tracked).map(|manager| OwnerChange {
            writer: writer(kind, Part::Main, manager, Operation::Update, options.now),
            old: kind.empty_object(),
        });
        Self { entries, change, stored: ManagedFields::default() }
    }

    /// Takes the managed fields out of both states of an object that is replaced.
    pub(super) fn of_update(
        WriteTarget { kind, part, .. }: WriteTarget<'_>,
        old: &mut Value,
        body: &mut Value,
        options: WriteOptions<'a>,
    ) -> Self {
        let (given, stored) = (Entries::take(body), ManagedFields::take(old));
        // As upstream, a request for a subresource cannot set managed fields.
        let entries = if part == Part::Main { stored.before_update(&given) } else { stored.entries.clone() };
        let change = options.manager.filter(|_| !entries.is_empty()).map(|manager| OwnerChange {
            writer: writer(kind, part, manager, Operation::Update, options.now),
            old: old.clone(),
        });
        Self { entries, change, stored }
    }

    /// Returns the entries that an apply has decided; `stored` are those before it.
    pub(super) fn of_apply(entries: Entries, stored: ManagedFields) -> Self {
        Self { entries, change: None, stored }
    }

    /// Returns whether [`finish`](Self::finish) needs [`Prepared::written`].
    pub(super) fn compares(&self) -> bool {
        self.change.is_some()
    }

    /// Sets the managed fields of an object that was prepared by the rules of its kind.
    pub(super) fn finish(&mut self, kind: &Kind, prepared: &mut Prepared) {
        if let (Some(OwnerChange { writer, old }), Some(new)) = (&self.change, prepared.written.take()) {
            update(&mut self.entries, old, &Value::Object(new), kind.schema(), writer);
        }
        set_fields(&mut prepared.object, self.entries.encode().unwrap_or_default());
    }

    /// Returns whether an object equals the stored one, except for its resource version. New times of managed fields alone
    /// are no change, as in upstream's `IgnoreManagedFieldsTimestampsTransformer`.
    pub(super) fn is_unchanged(&self, kind: &Kind, stored: &Stored, object: &mut Map<String, Value>) -> bool {
        if !self.entries.equal_but_for_times(&self.stored.entries) {
            return false;
        }
        let new = set_fields(object, self.stored.value.clone());
        let is_unchanged = stored.is_encoded_as(kind, object);
        set_fields(object, new);
        is_unchanged
    }
}

/// Sets `metadata.managedFields`, null for none, and returns the previous value.
fn set_fields(object: &mut Map<String, Value>, fields: Value) -> Value {
    let Some(Value::Object(meta)) = object.get_mut("metadata") else { return Value::Null };
    let previous = match fields {
        Value::Null => meta.remove("managedFields"),
        fields => meta.insert("managedFields".to_owned(), fields),
    };
    previous.unwrap_or_default()
}

/// Returns the client that writes a part of an object.
pub(super) fn writer<'a>(
    kind: &Kind,
    part: Part,
    manager: &'a str,
    operation: Operation,
    now: Timestamp,
) -> Writer<'a> {
    let (api_version, subresource, reset) = (kind.api_version().into(), part.subresource(), kind.reset_fields(part));
    Writer { manager, operation, api_version, subresource, reset, now }
}
