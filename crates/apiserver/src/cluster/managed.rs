//! `metadata.managedFields` of written objects.

use serde_json::{Map, Value, json};

use super::{Cluster, WriteOptions};
use crate::fields::{Entries, FieldTracking, Operation, Writer, update};
use crate::kinds::{Kind, Part, Prepared};
use crate::schema::Node;

/// Fields of the spec that the server assigns to a new object, and that its writer does not own.
const ASSIGNED: [&str; 5] = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort"];

/// What is known of the managed fields before the rules of a kind change an object.
pub(super) struct Tracked {
    entries: Entries,
    /// Whether the entries are complete, as an apply leaves them.
    is_applied: bool,
    /// The object before the write, if the changes decide on the entries.
    old: Option<Value>,
    /// Fields of the spec that the server assigns, since the writer left them out.
    assigned: Vec<&'static str>,
}

impl Cluster {
    /// Takes the managed fields out of a new object.
    pub(super) fn track_create(&self, kind: &Kind, body: &mut Value, options: WriteOptions<'_>) -> Tracked {
        let given = Entries::decode(&Entries::take(body));
        let Some(writer) = writer(kind, Part::Main, options) else { return Tracked::untouched(given) };
        if options.operation == Operation::Apply {
            return Tracked {
                entries: Entries::of_applied(body, kind.schema(), &writer),
                is_applied: true,
                old: None,
                assigned: Vec::new(),
            };
        }
        let is_tracked = self.field_tracking == FieldTracking::Always || !given.is_empty();
        let assigned = ASSIGNED.into_iter().filter(|field| body["spec"].get(field).is_none()).collect();
        let old = is_tracked.then(|| empty_object(kind, body));
        Tracked { entries: given, is_applied: false, old, assigned }
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
        if options.operation == Operation::Apply {
            return Tracked { entries: Entries::decode(&given), is_applied: true, old: None, assigned: Vec::new() };
        }
        let stored = old.get("metadata").and_then(|meta| meta.get("managedFields")).unwrap_or(&Value::Null);
        if given.is_null() && stored.is_null() {
            return Tracked::untouched(Entries::default());
        }
        let entries = Entries::before_write(&given, stored);
        let is_tracked = !entries.is_empty() && writer(kind, part, options).is_some();
        let old = is_tracked.then(|| {
            let mut old = old.clone();
            Entries::take(&mut old);
            old
        });
        Tracked { entries, is_applied: false, old, assigned: Vec::new() }
    }
}

impl Tracked {
    /// Returns managed fields that the write does not change.
    fn untouched(entries: Entries) -> Self {
        Self { entries, is_applied: true, old: None, assigned: Vec::new() }
    }

    /// Sets the managed fields of an object that was prepared by the rules of its kind.
    pub(super) fn finish(mut self, kind: &Kind, part: Part, prepared: &mut Prepared, options: WriteOptions<'_>) {
        if let (Some(old), false, Some(writer)) = (self.old, self.is_applied, writer(kind, part, options)) {
            let assigned: Vec<(&str, Value)> = match prepared.object.get_mut("spec") {
                Some(Value::Object(spec)) => {
                    self.assigned.iter().filter_map(|field| Some((*field, spec.remove(*field)?))).collect()
                }
                _ => Vec::new(),
            };
            let object = Value::Object(std::mem::take(&mut prepared.object));
            update(&mut self.entries, &old, &object, kind.schema(), &writer);
            if let Value::Object(object) = object {
                prepared.object = object;
            }
            if let Some(Value::Object(spec)) = prepared.object.get_mut("spec") {
                spec.extend(assigned.into_iter().map(|(field, value)| (field.to_owned(), value)));
            }
        }
        let Some(Value::Object(meta)) = prepared.object.get_mut("metadata") else { return };
        if let Some(fields) = self.entries.encode() {
            meta.insert("managedFields".to_owned(), fields);
        }
    }
}

/// Returns the client that writes; `None` for the server itself.
pub(super) fn writer<'a>(kind: &'a Kind, part: Part, options: WriteOptions<'a>) -> Option<Writer<'a>> {
    let subresource = part.subresource();
    let WriteOptions { manager, operation, now, .. } = options;
    Some(Writer { manager: manager?, operation, api_version: kind.api_version().into(), subresource, now })
}

/// Returns what a new object is compared with: the fields that an empty object of a built-in type has.
fn empty_object(kind: &Kind, body: &Value) -> Value {
    if kind.is_custom() {
        return json!({});
    }
    let mut object = Map::new();
    for field in ["metadata", "spec", "status"] {
        if kind.schema().is_some_and(|schema| schema.has_field(field)) {
            object.insert(field.to_owned(), json!({}));
        }
    }
    if let Some(Value::Object(spec)) = object.get_mut("spec") {
        let schema = kind.schema().and_then(|schema: Node<'_>| schema.field("spec"));
        for field in ["strategy", "template"] {
            if body["spec"].get(field).is_some() && schema.is_some_and(|schema| schema.has_field(field)) {
                let parts = if field == "template" { json!({"metadata": {}, "spec": {}}) } else { json!({}) };
                spec.insert(field.to_owned(), parts);
            }
        }
    }
    Value::Object(object)
}
