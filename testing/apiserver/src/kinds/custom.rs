//! Custom kinds, whose objects have the rules of their structural schema.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::rules::{Draft, Part, Write};
use super::{CustomSchema, Kind, metadata, shape};
use crate::custom_kind::CustomKind;
use crate::field::FieldErrors;
use crate::names::NameRule;
use crate::schema::{ValidationRules, check_structure, prune};
use crate::status::StatusError;

impl Kind {
    pub(crate) fn custom(index: usize, definition: &CustomKind) -> Self {
        let names = definition.names.clone();
        Self {
            index,
            group: definition.group.clone(),
            version: definition.version.clone(),
            singular: names.singular.unwrap_or_else(|| names.kind.to_lowercase()),
            name: names.kind,
            plural: names.plural,
            short_names: names.short_names.unwrap_or_default(),
            categories: names.categories.unwrap_or_default(),
            namespaced: definition.namespaced,
            has_status: definition.has_status,
            has_scale: definition.scale.is_some(),
            has_grace: false,
            returns_deleted: false,
            create_on_update: false,
            unconditional_update: false,
            blank: json!({}),
            warning: "",
            selectable: definition.selectable.clone(),
            schema_name: definition.schema_name(),
            custom: Some(Box::new(CustomSchema {
                definition: definition.clone(),
                schema: definition.whole_schema(),
                rules: ValidationRules::of(&definition.schema),
            })),
            name_rule: NameRule::Subdomain,
            decode,
            add_schema: |_| {},
        }
    }
}

/// An object split into metadata and content.
struct Parts {
    metadata: ObjectMeta,
    /// All fields except `metadata`, `kind` and `apiVersion`.
    content: Map<String, Value>,
}

impl Parts {
    fn of(body: Value, kind: &Kind) -> Result<Self, StatusError> {
        let bad = |why: &str| StatusError::undecodable(kind, why);
        let Value::Object(mut content) = body else { return Err(bad("the body is not a JSON object")) };
        content.remove("kind");
        content.remove("apiVersion");
        let metadata = match content.remove("metadata") {
            None | Some(Value::Null) => ObjectMeta::default(),
            Some(value) => ObjectMeta::deserialize(&value).map_err(|error| bad(&format!("metadata: {error}")))?,
        };
        Ok(Self { metadata, content })
    }

    /// Removes the status of a kind with the subresource, and returns it with its name.
    fn take_status(&mut self, kind: &Kind) -> Option<(String, Value)> {
        if kind.has_status { self.content.remove_entry("status") } else { None }
    }

    fn encode(&self) -> Result<Map<String, Value>, StatusError> {
        let mut object = self.content.clone();
        let mut meta =
            serde_json::to_value(&self.metadata).map_err(|error| StatusError::internal(error.to_string()))?;
        if let Value::Object(meta) = &mut meta {
            shape::prune(meta);
        }
        object.insert("metadata".to_owned(), meta);
        Ok(object)
    }

    /// Returns the object with kind and apiVersion, as the schema describes it.
    fn whole(&self, kind: &Kind) -> Result<Value, StatusError> {
        let mut object = self.encode()?;
        object.insert("kind".to_owned(), Value::String(kind.name.clone()));
        object.insert("apiVersion".to_owned(), Value::String(kind.api_version()));
        Ok(Value::Object(object))
    }
}

/// [`Draft`] of a custom resource.
struct Change<'a> {
    kind: &'a Kind,
    new: Parts,
    old: Option<Parts>,
}

fn decode(kind: &Kind, old: Option<Value>, new: Value) -> Result<Box<dyn Draft + '_>, StatusError> {
    let old = old.map(|old| Parts::of(old, kind)).transpose()?;
    Ok(Box::new(Change { kind, new: Parts::of(new, kind)?, old }))
}

impl Draft for Change<'_> {
    fn metadata(&mut self) -> (&mut ObjectMeta, Option<&ObjectMeta>) {
        (&mut self.new.metadata, self.old.as_ref().map(|old| &old.metadata))
    }

    /// Also removes unknown fields.
    fn apply_defaults(&mut self) {
        let Some(schema) = self.kind.schema() else { return };
        let mut content = Value::Object(std::mem::take(&mut self.new.content));
        prune(&mut content, schema);
        if let Value::Object(content) = content {
            self.new.content = content;
        }
        // The schema may define defaults for fields that the content does not have.
        for name in ["kind", "apiVersion", "metadata"] {
            self.new.content.remove(name);
        }
    }

    fn prepare(&mut self, write: Write) {
        let Self { kind, new, old } = self;
        let mut status = new.take_status(kind);
        let Some(old) = old else {
            new.metadata.generation = Some(1);
            return;
        };
        let old_status = old.take_status(kind);
        if write == Write::Update(Part::Status) {
            // As upstream, only the status is written.
            new.content.clone_from(&old.content);
            new.metadata = old.metadata.clone();
            new.metadata.resource_version = None;
        } else {
            status.clone_from(&old_status);
        }
        metadata::count_generation(&mut new.metadata, &old.metadata, new.content != old.content);
        new.content.extend(status);
        old.content.extend(old_status);
    }

    /// Validates the object by the schema of its kind, in upstream's order.
    fn validate(&self, _write: Write, errors: &mut FieldErrors) -> Result<(), StatusError> {
        let Self { kind, new, old } = self;
        let Some(schema) = kind.schema() else { return Ok(()) };
        let object = new.whole(kind)?;
        check_structure(&object, schema, "", errors);
        let Some(rules) = kind.custom.as_ref().and_then(|custom| custom.rules.as_ref()) else { return Ok(()) };
        if errors.block_rules() {
            errors.rules_skipped();
        } else {
            let old = old.as_ref().map(|old| old.whole(kind)).transpose()?;
            rules.check(&object, old.as_ref(), errors);
        }
        Ok(())
    }

    fn encode(&self) -> Result<Map<String, Value>, StatusError> {
        self.new.encode()
    }
}
