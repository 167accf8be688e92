//! Rules of custom kinds: the common rules for metadata, and the structural schema for the rest.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Map, Value};

use super::rules::{Context, Part, Prepared, Rules};
use super::{CustomSchema, Kind, KindSchema, metadata, shape};
use crate::custom_kind::CustomKind;
use crate::field::FieldErrors;
use crate::names::NameRule;
use crate::schema::{ValidationRules, check_structure, prune};
use crate::status::StatusError;

/// [`Rules`] of custom kinds.
pub(super) struct CustomRules;

impl Kind {
    /// Returns the kind for a custom definition with index `index`.
    pub(crate) fn custom(index: usize, definition: &CustomKind) -> Self {
        Self {
            index,
            group: definition.group.clone(),
            version: definition.version.clone(),
            name: definition.kind.clone(),
            plural: definition.plural.clone(),
            singular: definition.singular.clone(),
            short_names: definition.short_names.clone(),
            categories: definition.categories.clone(),
            namespaced: definition.namespaced,
            has_status: definition.has_status,
            has_scale: definition.scale.is_some(),
            returns_deleted: false,
            create_on_update: false,
            unconditional_update: false,
            blank: "",
            warning: "",
            selectable: &[],
            schema: KindSchema::Custom(Box::new(CustomSchema {
                name: definition.schema_name(),
                schema: definition.whole_schema(),
                columns: definition.columns.clone(),
                rules: ValidationRules::of(&definition.schema),
                scale: definition.scale.clone(),
                selectable: definition.selectable.clone(),
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
        let name = &kind.name;
        let bad = |why: String| {
            StatusError::bad_request(format!(
                "{name} in version \"{}\" cannot be handled as a {name}: {why}",
                kind.version
            ))
        };
        let Value::Object(mut content) = body else { return Err(bad("the body is not a JSON object".to_owned())) };
        content.remove("kind");
        content.remove("apiVersion");
        let metadata = match content.remove("metadata") {
            None | Some(Value::Null) => ObjectMeta::default(),
            Some(value) => serde_json::from_value(value).map_err(|error| bad(format!("metadata: {error}")))?,
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

    fn set_status(&mut self, status: Option<Value>) {
        self.content.remove("status");
        self.content.extend(status.map(|status| ("status".to_owned(), status)));
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
        let Some(rules) = kind.custom_schema().and_then(|custom| custom.rules.as_ref()) else { return Ok(()) };
        if errors.block_rules() {
            errors.rules_skipped();
        } else {
            let old = old.map(|old| old.whole(kind)).transpose()?;
            rules.check(&object, old.as_ref(), errors);
        }
        Ok(())
    }

    /// Returns the values of the selectable fields.
    fn fields(&self, kind: &Kind) -> Vec<(Box<str>, String)> {
        let selectable = kind.custom_schema().map(|custom| custom.selectable.as_slice()).unwrap_or_default();
        let value = |path: &str| {
            let mut names = path.split('.');
            let first = self.content.get(names.next()?)?;
            let value = names.try_fold(first, |value, name| value.get(name))?;
            Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        };
        selectable.iter().filter_map(|path| Some((path.as_str().into(), value(path)?))).collect()
    }

    fn written(&self, context: &Context<'_>) -> Result<Option<Map<String, Value>>, StatusError> {
        context.tracks.then(|| Self::encode(&self.metadata, self.content.clone())).transpose()
    }

    fn finish(
        self,
        kind: &Kind,
        generated_name: bool,
        written: Option<Map<String, Value>>,
    ) -> Result<Prepared, StatusError> {
        let custom_fields = self.fields(kind);
        let Self { metadata, content } = self;
        let object = Self::encode(&metadata, content)?;
        let (fields, allocations) = (Vec::new(), Vec::new());
        Ok(Prepared { object, metadata, fields, custom_fields, allocations, generated_name, written })
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
        if kind.has_status {
            parts.content.remove("status");
        }
        parts.metadata.generation = Some(1);
        let generated_name = metadata::assign_identity(&mut parts.metadata, context);
        let mut errors = FieldErrors::default();
        metadata::validate(&parts.metadata, NameRule::Subdomain, &mut errors);
        parts.validate(None, kind, &mut errors)?;
        metadata::check(&parts.metadata, context, errors)?;
        parts.finish(kind, generated_name, written)
    }

    fn load(&self, body: Value, context: &mut Context<'_>) -> Result<Prepared, StatusError> {
        self.create(body, context)
    }

    fn update(&self, old: Value, new: Value, part: Part, context: &mut Context<'_>) -> Result<Prepared, StatusError> {
        let kind = context.kind;
        let old = Parts::of(old, kind)?;
        let mut parts = Parts::of(new, kind)?;
        let mut errors = FieldErrors::default();
        metadata::prepare_update(&mut parts.metadata, &old.metadata, &mut errors);
        parts.prune_content(kind);
        let written = parts.written(context)?;
        match part {
            Part::Main | Part::Scale if kind.has_status => parts.set_status(old.content.get("status").cloned()),
            Part::Main | Part::Scale => {}
            Part::Status => {
                // As upstream, only the status is written.
                let status = parts.content.remove("status");
                parts.content.clone_from(&old.content);
                parts.metadata = old.metadata.clone();
                parts.metadata.resource_version = None;
                parts.set_status(status);
            }
        }
        let without_status = |content: &Map<String, Value>| {
            let mut without_status = content.clone();
            if kind.has_status {
                without_status.remove("status");
            }
            without_status
        };
        let has_changed = without_status(&parts.content) != without_status(&old.content);
        metadata::count_generation(&mut parts.metadata, &old.metadata, has_changed);
        metadata::validate_after_create(&parts.metadata, &mut errors);
        parts.validate(Some(&old), kind, &mut errors)?;
        metadata::check(&parts.metadata, context, errors)?;
        parts.finish(kind, false, written)
    }

    fn touch(&self, object: Value, kind: &Kind) -> Result<Prepared, StatusError> {
        let mut parts = Parts::of(object, kind)?;
        parts.metadata.resource_version = None;
        parts.finish(kind, false, None)
    }

    fn grace(&self, _object: &Value, _kind: &Kind, _requested: Option<i64>) -> Result<Option<i64>, StatusError> {
        Ok(None)
    }
}
