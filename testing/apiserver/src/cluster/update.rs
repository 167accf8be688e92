//! Updates: of an object, or of the part of it that a subresource writes.

use std::sync::Arc;

use serde_json::Value;

use super::admitted::AdmittedWrite;
use super::ownership::Ownership;
use super::{Cluster, Stored, WriteOptions, WriteTarget, Written};
use crate::admission::Operation;
use crate::kinds::{Part, Prepared};
use crate::status::StatusError;

impl Cluster {
    /// Replaces the target by an object. Creates it if it does not exist and its kind allows that.
    pub(crate) fn update(
        &mut self,
        target: WriteTarget<'_>,
        object: Value,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        let (body, warnings) = options.field_validation.object(target.body_kind(), object)?;
        Written::warned(self.update_or_create(target, body, options), warnings)
    }

    fn update_or_create(
        &mut self,
        target: WriteTarget<'_>,
        mut body: Value,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        target.check_identity(&body)?;
        let WriteTarget { kind, namespace, name, part } = target;
        if let Some(stored) = self.find(kind, namespace, name) {
            let old = stored.value();
            return self.update_stored(target, &stored, old, body, options);
        }
        if kind.create_on_update {
            target.check_uid(&body, "")?;
        }
        if !kind.create_on_update || part != Part::Main {
            return Err(target.not_found());
        }
        if let Some(meta) = body.get_mut("metadata").and_then(Value::as_object_mut) {
            meta.remove("resourceVersion");
        }
        self.create_stored(kind, namespace, body, options)
    }

    /// Replaces a stored object, whose value is `old`, by one that has been checked.
    pub(super) fn update_stored(
        &mut self,
        target: WriteTarget<'_>,
        stored: &Arc<Stored>,
        mut old: Value,
        mut body: Value,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        if target.part == Part::Scale {
            body = target.scaled(&body, old.clone())?;
        }
        let ownership = Ownership::of_update(target, &mut old, &mut body, options);
        self.replace(target, stored, old, body, ownership, options)
    }

    /// Runs mutations, rules and validations on the new state of an object in its stored form, and stores it if anything
    /// has changed. Neither `old` nor `body` has managed fields.
    pub(super) fn replace(
        &mut self,
        target: WriteTarget<'_>,
        stored: &Arc<Stored>,
        old: Value,
        mut body: Value,
        mut ownership: Ownership<'_>,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        let WriteTarget { kind, namespace, part, .. } = target;
        target.check_uid(&body, &stored.uid)?;
        // Decoded again, with its managed fields, only for admission rules.
        let admission_old = if self.is_subject_to_admission(options) { stored.value() } else { Value::Null };
        let write = AdmittedWrite { operation: Operation::Update, target, old: Some(&admission_old) };
        self.mutate(write, &mut body, options)?;
        target.check_version(&body, stored)?;
        let context = self.context(kind, namespace, options, ownership.compares());
        let mut prepared = context.update(old, body, part)?;
        ownership.finish(kind, &mut prepared);
        self.validate(write, Some(&prepared), options)?;
        let object = if ownership.is_unchanged(kind, stored, &mut prepared.object) {
            Arc::clone(stored)
        } else {
            self.store_changed(target, stored, &mut prepared, options)
        };
        Ok(Written { object, created: false, warnings: Vec::new() })
    }

    fn store_changed(
        &mut self,
        WriteTarget { kind, .. }: WriteTarget<'_>,
        stored: &Stored,
        prepared: &mut Prepared,
        options: WriteOptions<'_>,
    ) -> Arc<Stored> {
        let meta = &prepared.metadata;
        let is_released = meta.deletion_timestamp.is_some()
            && meta.finalizers.as_ref().is_none_or(Vec::is_empty)
            && meta.deletion_grace_period_seconds.unwrap_or_default() == 0
            && kind.namespaced;
        if is_released && !options.dry_run {
            // The update removed the last finalizer: the object is deleted. The answer is the update, which watches do not get
            // (`deleteWithoutFinalizers` in Go).
            let answer = self.store(kind, prepared, Some(stored), WriteOptions { dry_run: true, ..options });
            self.remove(kind, stored);
            return answer;
        }
        let object = self.store(kind, prepared, Some(stored), options);
        if !kind.namespaced && !options.dry_run {
            self.remove_if_finished(kind, &object);
        }
        object
    }
}
