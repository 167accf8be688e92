//! Server-side apply, which merges a configuration and creates the object if it does not exist.

use serde_json::{Value, json};

use super::ownership::{Ownership, writer};
use super::target::metadata_text;
use super::{Cluster, WriteOptions, WriteTarget, Written};
use crate::fields::{Applied, Entries, Live, ManagedFields, Operation, Writer, apply};
use crate::kinds::Part;
use crate::schema::unknown_fields;
use crate::status::StatusError;

/// Client that applies a configuration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Applier<'a> {
    pub(crate) manager: &'a str,
    /// Whether it takes fields from other managers.
    pub(crate) force: bool,
}

impl Cluster {
    /// Applies a configuration to the target.
    pub(crate) fn apply(
        &mut self,
        target: WriteTarget<'_>,
        mut configuration: Value,
        Applier { manager, force }: Applier<'_>,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        check_configuration(target, &configuration)?;
        let WriteTarget { kind, namespace, name, part } = target;
        let writer = writer(kind, part, manager, Operation::Apply, options.now);
        if part == Part::Scale {
            return Err(StatusError::bad_request("a Scale cannot be applied"));
        }
        Entries::take(&mut configuration);
        let Some(stored) = self.find(kind, namespace, name) else {
            return self.create_applied(target, configuration, &writer, options);
        };
        let mut old = stored.value();
        let managed = ManagedFields::take(&mut old);
        let live = old.clone();
        let live = Live { object: &live, empty: &kind.empty_object(), schema: kind.schema() };
        let Applied { object: body, entries } = apply(live, managed.entries.clone(), &configuration, &writer, force)
            .map_err(StatusError::apply_conflict)?;
        let ownership = Ownership::of_apply(entries, managed);
        self.replace(target, &stored, old, body, ownership, options)
    }

    fn create_applied(
        &mut self,
        target: WriteTarget<'_>,
        mut body: Value,
        writer: &Writer<'_>,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        let WriteTarget { kind, namespace, name, part } = target;
        let uid = metadata_text(&body, "uid");
        if !uid.is_empty() {
            // A configuration with a uid is meant for an existing object.
            let why =
                format!("uid mismatch: the provided object specified uid {uid}, and no existing object was found");
            return Err(StatusError::conflict(kind, name, &why));
        }
        if part != Part::Main {
            return Err(target.not_found());
        }
        let meta = body.as_object_mut().map(|object| object.entry("metadata").or_insert_with(|| json!({})));
        if let Some(Value::Object(meta)) = meta {
            meta.insert("name".to_owned(), json!(name));
        }
        let entries = Entries::of_applied(&body, kind.schema(), writer);
        self.insert(kind, namespace, body, Ownership::of_apply(entries, ManagedFields::default()), options)
    }
}

/// Checks an applied configuration, in upstream's order: its kind, that it has no managed fields, that the schema of the
/// kind allows it, whatever `fieldValidation` is, and that namespace and name are those of the target.
fn check_configuration(target: WriteTarget<'_>, configuration: &Value) -> Result<(), StatusError> {
    let kind = target.body_kind();
    let type_field = |field: &str| configuration.get(field).and_then(Value::as_str).unwrap_or_default();
    let (version, kind_name) = (type_field("apiVersion"), type_field("kind"));
    if version != kind.api_version() || kind_name != kind.name {
        return Err(StatusError::bad_request(format!("invalid object type: {}", go_kind(version, kind_name))));
    }
    let meta = configuration.get("metadata");
    if meta.and_then(|meta| meta.get("managedFields")).is_some_and(Value::is_array) {
        return Err(StatusError::bad_request("metadata.managedFields must be nil"));
    }
    let (namespace, name) = (metadata_text(configuration, "namespace"), metadata_text(configuration, "name"));
    let found = kind.schema().map(|schema| unknown_fields(configuration, schema)).unwrap_or_default();
    if let Some(path) = found.first() {
        return Err(StatusError::untyped(format!(
            "failed to create typed patch object ({namespace}/{name}; {}): .{path}: field not declared in schema",
            go_kind(version, kind_name),
        )));
    }
    target.check_namespace(namespace)?;
    if name.is_empty() { Ok(()) } else { target.check_name(name) }
}

/// Formats the kind of an object as Go's `GroupVersionKind`, such as `/v1, Kind=Service`.
fn go_kind(api_version: &str, kind: &str) -> String {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    format!("{group}/{version}, Kind={kind}")
}
