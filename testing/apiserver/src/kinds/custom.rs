//! Rules of custom kinds: the common rules for metadata, and the structural schema for the rest.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Map, Value, json};

use super::rules::{Context, Part, Prepared, Rules};
use super::{CustomSchema, Kind, metadata, shape};
use crate::custom_kind::CustomKind;
use crate::field::FieldErrors;
use crate::names::NameRule;
use crate::schema::{ValidationRules, check_structure, prune};
use crate::status::StatusError;

pub(super) struct CustomRules;

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
            rules: Box::new(CustomRules),
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
            Some(value) => serde_json::from_value(value).map_err(|error| bad(&format!("metadata: {error}")))?,
        };
        Ok(Self { metadata, content })
    }

    fn prune_content(&mut self, kind: &Kind) {
        let Some(schema) = kind.schema() else { return };
        let mut content = Value::Object(std::mem::take(&mut self.content));
        prune(&mut content, schema);
        if let Value::Object(content) = content {
            self.content = content;
        }
        // The schema may define defaults for fields that were removed above.
        for name in ["kind", "apiVersion", "metadata"] {
            self.content.remove(name);
        }
    }

    /// Removes the status of a kind with the subresource, and returns it with its name.
    fn take_status(&mut self, kind: &Kind) -> Option<(String, Value)> {
        if kind.has_status { self.content.remove_entry("status") } else { None }
    }

    /// Returns the object with kind and apiVersion, as the schema describes it.
    fn whole(&self, kind: &Kind) -> Result<Value, StatusError> {
        let mut object = Self::encode(&self.metadata, self.content.clone())?;
        object.insert("kind".to_owned(), Value::String(kind.name.clone()));
        object.insert("apiVersion".to_owned(), Value::String(kind.api_version()));
        Ok(Value::Object(object))
    }

    /// Validates an object by the schema of its kind, in upstream's order. `old` is the object that is updated.
    fn validate(&self, old: Option<&Self>, kind: &Kind, errors: &mut FieldErrors) -> Result<(), StatusError> {
        let Some(schema) = kind.schema() else { return Ok(()) };
        let object = self.whole(kind)?;
        check_structure(&object, schema, "", errors);
        let Some(rules) = kind.custom.as_ref().and_then(|custom| custom.rules.as_ref()) else { return Ok(()) };
        if errors.block_rules() {
            errors.rules_skipped();
        } else {
            let old = old.map(|old| old.whole(kind)).transpose()?;
            rules.check(&object, old.as_ref(), errors);
        }
        Ok(())
    }

    fn written(&self, context: &Context<'_>) -> Result<Option<Map<String, Value>>, StatusError> {
        context.tracks.then(|| Self::encode(&self.metadata, self.content.clone())).transpose()
    }

    fn finish(self, generated_name: bool, written: Option<Map<String, Value>>) -> Result<Prepared, StatusError> {
        let Self { metadata, content } = self;
        let object = Self::encode(&metadata, content)?;
        Ok(Prepared { object, metadata, allocations: Vec::new(), generated_name, written })
    }

    fn encode(metadata: &ObjectMeta, mut object: Map<String, Value>) -> Result<Map<String, Value>, StatusError> {
        let mut meta = serde_json::to_value(metadata).map_err(|error| StatusError::internal(error.to_string()))?;
        if let Value::Object(meta) = &mut meta {
            shape::prune(meta);
        }
        object.insert("metadata".to_owned(), meta);
        Ok(object)
    }
}

impl Rules for CustomRules {
    fn create(&self, body: Value, context: &mut Context<'_>) -> Result<Prepared, StatusError> {
        let kind = context.kind;
        let mut parts = Parts::of(body, kind)?;
        metadata::prepare_create(&mut parts.metadata, context)?;
        parts.prune_content(kind);
        let written = parts.written(context)?;
        parts.take_status(kind);
        parts.metadata.generation = Some(1);
        let generated_name = metadata::assign_identity(&mut parts.metadata, context);
        let mut errors = FieldErrors::default();
        metadata::validate(&parts.metadata, NameRule::Subdomain, &mut errors);
        parts.validate(None, kind, &mut errors)?;
        metadata::check(&parts.metadata, context, errors)?;
        parts.finish(generated_name, written)
    }

    fn load(&self, body: Value, context: &mut Context<'_>) -> Result<Prepared, StatusError> {
        self.create(body, context)
    }

    fn update(&self, old: Value, new: Value, part: Part, context: &mut Context<'_>) -> Result<Prepared, StatusError> {
        let kind = context.kind;
        let mut old = Parts::of(old, kind)?;
        let mut parts = Parts::of(new, kind)?;
        let mut errors = FieldErrors::default();
        metadata::prepare_update(&mut parts.metadata, &old.metadata, &mut errors);
        parts.prune_content(kind);
        let written = parts.written(context)?;
        let (old_status, mut status) = (old.take_status(kind), parts.take_status(kind));
        if part == Part::Status {
            // As upstream, only the status is written.
            parts.content.clone_from(&old.content);
            parts.metadata = old.metadata.clone();
            parts.metadata.resource_version = None;
        } else {
            status.clone_from(&old_status);
        }
        metadata::count_generation(&mut parts.metadata, &old.metadata, parts.content != old.content);
        parts.content.extend(status);
        old.content.extend(old_status);
        metadata::validate_after_create(&parts.metadata, &mut errors);
        parts.validate(Some(&old), kind, &mut errors)?;
        metadata::check(&parts.metadata, context, errors)?;
        parts.finish(false, written)
    }

    fn touch(&self, object: Value, kind: &Kind) -> Result<Prepared, StatusError> {
        let mut parts = Parts::of(object, kind)?;
        parts.metadata.resource_version = None;
        parts.finish(false, None)
    }
}
