//! Create and update.

use std::sync::Arc;

use serde_json::Value;

use super::admitted::AdmissionTarget;
use super::{Cluster, FieldValidation, Stored, WriteOptions, managed};
use crate::admission::Operation;
use crate::kinds::{Context, Kind, Part, Prepared, Rules};
use crate::names;
use crate::schema::unknown_fields;
use crate::status::StatusError;

/// Maximum number of new names for a generated name that is taken.
const NAME_ATTEMPTS: usize = 8;

/// Result of a write.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) object: Arc<Stored>,
    pub(crate) created: bool,
    /// Warnings for the client.
    pub(crate) warnings: Vec<String>,
}

impl Written {
    /// Adds warnings to the result of a write, before those that it has.
    fn warned(result: Result<Self, StatusError>, mut warnings: Vec<String>) -> Result<Self, StatusError> {
        match result {
            Ok(mut written) => {
                warnings.append(&mut written.warnings);
                Ok(Self { warnings, ..written })
            }
            Err(error) => Err(error.warned(&warnings)),
        }
    }
}

impl Cluster {
    /// Creates an object. `namespace` is that of the path, empty for cluster-scoped kinds.
    pub(crate) fn create(
        &mut self,
        kind: &Kind,
        namespace: &str,
        mut body: Value,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        complete_type(kind, &mut body)?;
        let warnings = check_fields(kind, &body, options)?;
        Written::warned(self.create_checked(kind, namespace, body, options), warnings)
    }

    fn create_checked(
        &mut self,
        kind: &Kind,
        namespace: &str,
        mut body: Value,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        kind.to_stored(&mut body);
        let tracked = self.track_create(kind, &mut body, options);
        if self.is_subject_to_admission(options) {
            if kind.namespaced {
                self.check_namespace_accepts(kind, namespace, text(&body, "name"))?;
            }
            let name = text(&body, "name").unwrap_or_default().to_owned();
            let target =
                AdmissionTarget { operation: Operation::Create, part: Part::Main, namespace, name: &name, old: None };
            self.mutate(kind, target, &mut body, options)?;
        }
        let rules = |rules: &dyn Rules, body, context: &mut Context<'_>| {
            context.tracks = tracked.compares();
            let mut prepared = rules.create(body, context)?;
            tracked.finish(kind, Part::Main, &mut prepared, options);
            Ok(prepared)
        };
        self.add(kind, namespace, body, options, rules)
    }

    /// Creates an object by the load rules of its kind, which keep the status of a Pod, without admission rules.
    pub(crate) fn load(
        &mut self,
        kind: &Kind,
        namespace: &str,
        body: Value,
        options: WriteOptions<'_>,
    ) -> Result<Arc<Stored>, StatusError> {
        self.add(kind, namespace, body, options, |rules, body, context| rules.load(body, context)).map(|it| it.object)
    }

    fn add(
        &mut self,
        kind: &Kind,
        namespace: &str,
        body: Value,
        options: WriteOptions<'_>,
        rules: impl FnOnce(&dyn Rules, Value, &mut Context<'_>) -> Result<Prepared, StatusError>,
    ) -> Result<Written, StatusError> {
        if kind.namespaced {
            self.check_namespace_accepts(kind, namespace, text(&body, "name"))?;
        }
        let mut prepared = self.prepare(kind, namespace, options, |context| rules(&*kind.rules, body, context))?;
        self.ensure_free_name(kind, namespace, &mut prepared)?;
        if let Some(error) = options.refused_create {
            return Err(error.clone());
        }
        let name = prepared.metadata.name.as_deref().unwrap_or_default();
        let target = AdmissionTarget { operation: Operation::Create, part: Part::Main, namespace, name, old: None };
        self.validate(kind, target, Some(&prepared), options)?;
        let warnings = std::mem::take(&mut prepared.warnings);
        Ok(Written { object: self.store(kind, &mut prepared, None, options)?, created: true, warnings })
    }

    /// Checks that the name is free. A generated name that is taken is replaced.
    fn ensure_free_name(&mut self, kind: &Kind, namespace: &str, prepared: &mut Prepared) -> Result<(), StatusError> {
        let taken = |cluster: &Self, prepared: &Prepared| {
            let name = prepared.metadata.name.as_deref().unwrap_or_default();
            cluster.find(kind, namespace, name).map(|_| name.to_owned())
        };
        for _ in 0..NAME_ATTEMPTS {
            let Some(name) = taken(self, prepared) else { return Ok(()) };
            if !prepared.generated_name {
                return Err(StatusError::already_exists(kind, &name));
            }
            let base = prepared.metadata.generate_name.as_deref().unwrap_or_default();
            let another = names::generate(base, &mut self.rng);
            if let Some(Value::Object(meta)) = prepared.object.get_mut("metadata") {
                meta.insert("name".to_owned(), Value::String(another.clone()));
            }
            prepared.metadata.name = Some(another);
        }
        match taken(self, prepared) {
            None => Ok(()),
            Some(name) => Err(StatusError::generated_name_taken(kind, &name)),
        }
    }

    /// Replaces an object, or the part of it that `part` selects.
    pub(crate) fn update(
        &mut self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        mut body: Value,
        part: Part,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        complete_type(kind, &mut body)?;
        let warnings = check_fields(kind, &body, options)?;
        Written::warned(self.update_checked(kind, namespace, name, body, part, options), warnings)
    }

    fn update_checked(
        &mut self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        mut body: Value,
        part: Part,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        kind.to_stored(&mut body);
        check_identity(kind, namespace, name, &body)?;
        let stored = self.find(kind, namespace, name);
        if let Some(requested) = text(&body, "uid").filter(|uid| !uid.is_empty()) {
            let found = stored.as_ref().map_or("", |stored| &stored.uid);
            if requested != found && (stored.is_some() || kind.create_on_update) {
                let why = format!("Precondition failed: UID in precondition: {requested}, UID in object meta: {found}");
                return Err(StatusError::conflict(kind, name, &why));
            }
        }
        let Some(stored) = stored else {
            if !kind.create_on_update || part != Part::Main {
                return Err(StatusError::not_found(kind, name));
            }
            if let Some(meta) = body.get_mut("metadata").and_then(Value::as_object_mut) {
                meta.remove("resourceVersion");
            }
            return self.create_checked(kind, namespace, body, options);
        };
        let old = stored.value()?;
        let tracked = Self::track_update(kind, part, &old, &mut body, options);
        // Copied only for admission rules.
        let admission_old = if self.is_subject_to_admission(options) { old.clone() } else { Value::Null };
        let target = AdmissionTarget { operation: Operation::Update, part, namespace, name, old: Some(&admission_old) };
        self.mutate(kind, target, &mut body, options)?;
        check_version(kind, &stored, text(&body, "resourceVersion"))?;
        let mut prepared = self.prepare(kind, namespace, options, |context| {
            context.tracks = tracked.compares();
            kind.rules.update(old, body, part, context)
        })?;
        let warnings = std::mem::take(&mut prepared.warnings);
        let updated = |object: Arc<Stored>| Written { object, created: false, warnings };
        let stored_fields = tracked.stored_fields();
        tracked.finish(kind, part, &mut prepared, options);
        self.validate(kind, target, Some(&prepared), options)?;
        if stored.is_encoded_as(kind, &mut prepared.object)?
            || managed::with_fields(&mut prepared.object, stored_fields, |object| stored.is_encoded_as(kind, object))?
        {
            return Ok(updated(stored));
        }
        let meta = &prepared.metadata;
        let released = meta.deletion_timestamp.is_some()
            && meta.finalizers.as_ref().is_none_or(Vec::is_empty)
            && meta.deletion_grace_period_seconds.unwrap_or_default() == 0
            && kind.namespaced;
        if released && !options.dry_run {
            // The update removed the last finalizer: the object is deleted, and watches do not get the update.
            return self.remove(kind, &stored).map(updated);
        }
        let object = self.store(kind, &mut prepared, Some(&stored), options)?;
        if !kind.namespaced && !options.dry_run {
            self.remove_if_finished(kind, &object)?;
        }
        Ok(updated(object))
    }

    /// Runs the rules of a kind with a [`Context`].
    fn prepare(
        &mut self,
        kind: &Kind,
        namespace: &str,
        options: WriteOptions<'_>,
        rules: impl FnOnce(&mut Context<'_>) -> Result<Prepared, StatusError>,
    ) -> Result<Prepared, StatusError> {
        rules(&mut Context {
            kind,
            namespace: kind.namespaced.then_some(namespace),
            now: options.now,
            rng: &mut self.rng,
            addresses: &self.addresses,
            tracks: false,
        })
    }

    /// Stores a prepared object in place of `old`. With a dry run it is not stored, and has the resource version of `old`,
    /// or none.
    pub(super) fn store(
        &mut self,
        kind: &Kind,
        prepared: &mut Prepared,
        old: Option<&Stored>,
        options: WriteOptions<'_>,
    ) -> Result<Arc<Stored>, StatusError> {
        if options.dry_run {
            let revision = old.map_or(0, |it| it.revision);
            return Ok(Arc::new(Stored::new(kind, prepared, revision)?));
        }
        let object = Stored::new(kind, prepared, self.revision + 1)?;
        self.next_revision();
        Ok(self.put(kind, object))
    }
}

/// Returns a string field of the metadata.
pub(super) fn text<'a>(body: &'a Value, field: &str) -> Option<&'a str> {
    body.get("metadata")?.get(field)?.as_str()
}

/// Sets kind and apiVersion if absent, and rejects those of another kind with 400.
fn complete_type(kind: &Kind, body: &mut Value) -> Result<(), StatusError> {
    let Value::Object(object) = body else {
        return Err(StatusError::bad_request(format!(
            "{} in version \"{}\" cannot be handled as a {}: the body is not a JSON object",
            kind.name, kind.version, kind.name
        )));
    };
    let expected = kind.api_version();
    match object.get("apiVersion").and_then(Value::as_str) {
        None | Some("") => {
            object.insert("apiVersion".to_owned(), Value::String(expected));
        }
        Some(found) if found != expected => {
            return Err(StatusError::bad_request(format!(
                "the API version in the data ({found}) does not match the expected API version ({expected})"
            )));
        }
        Some(_) => {}
    }
    match object.get("kind").and_then(Value::as_str) {
        None | Some("") => {
            object.insert("kind".to_owned(), Value::String(kind.name.clone()));
        }
        Some(found) if found != kind.name => {
            return Err(StatusError::bad_request(format!(
                "{found} in version \"{}\" cannot be handled as a {}: the resource of the path is {}",
                kind.version, kind.name, kind.plural
            )));
        }
        Some(_) => {}
    }
    Ok(())
}

/// Returns warnings about fields outside of the schema.
///
/// # Errors
/// 400 if there are such fields and the field validation is strict.
fn check_fields(kind: &Kind, body: &Value, options: WriteOptions<'_>) -> Result<Vec<String>, StatusError> {
    if options.field_validation == FieldValidation::Ignore {
        return Ok(Vec::new());
    }
    let unknown = unknown_in(kind, body);
    match options.field_validation {
        FieldValidation::Strict if !unknown.is_empty() => Err(StatusError::strict_decoding(kind, &unknown)),
        _ => Ok(unknown),
    }
}

/// Returns upstream's message for each field of `object` outside of the schema of its kind.
pub(crate) fn unknown_in(kind: &Kind, object: &Value) -> Vec<String> {
    let unknown = kind.schema().map(|schema| unknown_fields(object, schema)).unwrap_or_default();
    unknown.into_iter().map(|path| format!("unknown field {path:?}")).collect()
}

/// Checks that namespace and name of an object are those of the path.
///
/// # Errors
/// 400 if they are not.
pub(super) fn check_identity(kind: &Kind, namespace: &str, name: &str, body: &Value) -> Result<(), StatusError> {
    let given = text(body, "namespace").unwrap_or_default();
    if kind.namespaced && !given.is_empty() && given != namespace {
        return Err(StatusError::other_namespace());
    }
    let given = text(body, "name").unwrap_or_default();
    if given != name {
        return Err(StatusError::other_name(given, name));
    }
    Ok(())
}

fn check_version(kind: &Kind, stored: &Stored, requested: Option<&str>) -> Result<(), StatusError> {
    match requested {
        None | Some("" | "0") if kind.unconditional_update => Ok(()),
        None | Some("" | "0") => {
            let mut errors = crate::field::FieldErrors::default();
            errors.invalid("metadata.resourceVersion", 0, "must be specified for an update");
            Err(StatusError::invalid(kind, &stored.name, errors))
        }
        Some(requested) => match requested.parse::<u64>() {
            Ok(requested) if requested == stored.revision => Ok(()),
            Ok(_) => Err(StatusError::stale(kind, &stored.name)),
            Err(_) => {
                let mut errors = crate::field::FieldErrors::default();
                errors.invalid("metadata.resourceVersion", requested, "must be an unsigned integer");
                Err(StatusError::invalid(kind, &stored.name, errors))
            }
        },
    }
}
