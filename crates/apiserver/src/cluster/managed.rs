//! `metadata.managedFields` of written objects.

use serde_json::{Map, Value};

use super::{Cluster, WriteOptions};
use crate::fields::{Entries, FieldTracking, Operation, Writer, update};
use crate::kinds::{Kind, Part, Prepared};
use crate::status::StatusError;

/// What is known of the managed fields before the rules of a kind change an object.
pub(super) struct Tracked {
    entries: Entries,
    /// The object before the write, if the changes decide on the entries; `None` if the entries are final.
    old: Option<Value>,
    /// `metadata.managedFields` of the stored object; null without one.
    stored: Value,
}

impl Cluster {
    /// Takes the managed fields out of a new object.
    pub(super) fn track_create(&self, kind: &Kind, body: &mut Value, options: WriteOptions<'_>) -> Tracked {
        let given = Entries::decode(&Entries::take(body));
        let Some(writer) = writer(kind, Part::Main, options) else { return Tracked::of(given, None) };
        if options.operation == Operation::Apply {
            return Tracked::of(Entries::of_applied(body, kind.schema(), &writer), None);
        }
        let is_tracked = self.field_tracking == FieldTracking::Always || !given.is_empty();
        Tracked::of(given, is_tracked.then(|| kind.empty_object()))
    }

    /// Takes the managed fields out of the new state of an object.
    pub(super) fn track_update(
        kind: &Kind,
        part: Part,
        old: &Value,
        body: &mut Value,
        options: WriteOptions<'_>,
    ) -> Tracked {
        let given = Entries::take(body);
        let stored = old.get("metadata").and_then(|meta| meta.get("managedFields")).unwrap_or(&Value::Null);
        let tracked = |entries, old| Tracked { entries, old, stored: stored.clone() };
        if options.operation == Operation::Apply {
            return tracked(Entries::decode(&given), None);
        }
        if given.is_null() && stored.is_null() {
            return Tracked::of(Entries::default(), None);
        }
        // As upstream, a request for a subresource cannot set managed fields.
        let given = if part == Part::Main { &given } else { &Value::Null };
        let entries = Entries::before_write(given, stored);
        let is_tracked = !entries.is_empty() && writer(kind, part, options).is_some();
        let old = is_tracked.then(|| {
            let mut old = old.clone();
            Entries::take(&mut old);
            old
        });
        tracked(entries, old)
    }
}

impl Tracked {
    fn of(entries: Entries, old: Option<Value>) -> Self {
        Self { entries, old, stored: Value::Null }
    }

    /// Returns whether [`finish`](Self::finish) needs [`Prepared::written`].
    pub(super) fn compares(&self) -> bool {
        self.old.is_some()
    }

    /// Returns `metadata.managedFields` of the stored object; null without one.
    pub(super) fn stored_fields(&self) -> Value {
        self.stored.clone()
    }

    /// Sets the managed fields of an object that was prepared by the rules of its kind.
    pub(super) fn finish(mut self, kind: &Kind, part: Part, prepared: &mut Prepared, options: WriteOptions<'_>) {
        if let (Some(old), Some(new), Some(writer)) = (&self.old, prepared.written.take(), writer(kind, part, options))
        {
            update(&mut self.entries, old, &Value::Object(new), kind.schema(), &writer);
        }
        let Some(Value::Object(meta)) = prepared.object.get_mut("metadata") else { return };
        if let Some(fields) = self.entries.encode() {
            meta.insert("managedFields".to_owned(), fields);
        }
    }
}

/// Calls `is_unchanged` with the object as if its managed fields had the times in `stored`, if nothing else about them
/// changed. New times alone are no change, as in upstream's `IgnoreManagedFieldsTimestampsTransformer`.
pub(super) fn with_fields(
    object: &mut Map<String, Value>,
    stored: Value,
    is_unchanged: impl FnOnce(&mut Map<String, Value>) -> Result<bool, StatusError>,
) -> Result<bool, StatusError> {
    let Some(Value::Object(meta)) = object.get_mut("metadata") else { return Ok(false) };
    let Some(new) = meta.get("managedFields").filter(|new| Entries::differ_in_times(new, &stored)).cloned() else {
        return Ok(false);
    };
    meta.insert("managedFields".to_owned(), stored);
    let result = is_unchanged(object);
    if let Some(Value::Object(meta)) = object.get_mut("metadata") {
        meta.insert("managedFields".to_owned(), new);
    }
    result
}

/// Returns the client that writes; `None` for the server itself.
pub(super) fn writer<'a>(kind: &'a Kind, part: Part, options: WriteOptions<'a>) -> Option<Writer<'a>> {
    let subresource = part.subresource();
    let WriteOptions { manager, operation, now, .. } = options;
    let (api_version, reset) = (kind.api_version().into(), kind.reset_fields(part));
    Some(Writer { manager: manager?, operation, api_version, subresource, reset, now })
}
