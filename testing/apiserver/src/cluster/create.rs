//! Creates: of a client, of the server itself, and of objects that are loaded.

use std::sync::Arc;

use serde_json::Value;

use super::admitted::AdmittedWrite;
use super::ownership::Ownership;
use super::target::metadata_text;
use super::{Cluster, Stored, WriteOptions, Written};
use crate::kinds::{Kind, Prepared};
use crate::names;
use crate::status::StatusError;

/// Maximum number of new names for a generated name that is taken.
const NAME_ATTEMPTS: usize = 8;

impl Cluster {
    /// Creates an object. `namespace` is that of the path, empty for cluster-scoped kinds.
    pub(crate) fn create(
        &mut self,
        kind: &Kind,
        namespace: &str,
        object: Value,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        let (body, warnings) = options.field_validation.object(kind, object)?;
        Written::warned(self.create_stored(kind, namespace, body, options), warnings)
    }

    /// Creates an object that has been checked, in its stored form.
    pub(super) fn create_stored(
        &mut self,
        kind: &Kind,
        namespace: &str,
        mut body: Value,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        let ownership = Ownership::of_create(kind, &mut body, self.config.field_tracking, options);
        self.insert(kind, namespace, body, ownership, options)
    }

    /// Runs mutations, rules and validations on a new object in its stored form, and stores it.
    pub(super) fn insert(
        &mut self,
        kind: &Kind,
        namespace: &str,
        mut body: Value,
        mut ownership: Ownership<'_>,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        self.check_namespace_accepts(kind, namespace, &body)?;
        if self.is_subject_to_admission(options) {
            let name = metadata_text(&body, "name").to_owned();
            self.mutate(AdmittedWrite::create(kind, namespace, &name), &mut body, options)?;
        }
        let mut prepared = self.context(kind, namespace, options, ownership.compares()).create(body)?;
        ownership.finish(kind, &mut prepared);
        self.add(kind, namespace, prepared, options)
    }

    /// Creates an object by the load rules of its kind, which keep the status of a Pod, without admission rules.
    pub(crate) fn load(
        &mut self,
        kind: &Kind,
        namespace: &str,
        body: Value,
        options: WriteOptions<'_>,
    ) -> Result<Arc<Stored>, StatusError> {
        self.check_namespace_accepts(kind, namespace, &body)?;
        let prepared = self.context(kind, namespace, options, false).load(body)?;
        self.add(kind, namespace, prepared, options).map(|written| written.object)
    }

    fn add(
        &mut self,
        kind: &Kind,
        namespace: &str,
        mut prepared: Prepared,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        self.ensure_free_name(kind, namespace, &mut prepared)?;
        if let Some(error) = options.refused_create {
            return Err(error.clone());
        }
        let name = prepared.metadata.name.as_deref().unwrap_or_default();
        self.validate(AdmittedWrite::create(kind, namespace, name), Some(&prepared), options)?;
        Ok(Written { object: self.store(kind, &mut prepared, None, options), created: true, warnings: Vec::new() })
    }

    /// Checks that the name is free. A generated name that is taken is replaced.
    fn ensure_free_name(&mut self, kind: &Kind, namespace: &str, prepared: &mut Prepared) -> Result<(), StatusError> {
        let mut attempts = 0;
        while let Some(taken) = self.find(kind, namespace, prepared.metadata.name.as_deref().unwrap_or_default()) {
            if !prepared.generated_name {
                return Err(StatusError::already_exists(kind, &taken.name));
            }
            if attempts == NAME_ATTEMPTS {
                return Err(StatusError::generated_name_taken(kind, &taken.name));
            }
            attempts += 1;
            let base = prepared.metadata.generate_name.as_deref().unwrap_or_default();
            let another = names::generate(base, &mut self.rng);
            prepared.object["metadata"]["name"] = another.as_str().into();
            prepared.metadata.name = Some(another);
        }
        Ok(())
    }
}
