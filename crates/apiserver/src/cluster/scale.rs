//! Reads and writes of the subresource `scale`, which changes the number of replicas of an object.

use serde_json::{Value, json};

use super::apply::check_configuration;
use super::target::metadata_text;
use super::{Applier, Cluster, Patch, WriteOptions, WriteTarget, Written};
use crate::kinds::{Kind, requested_replicas};
use crate::status::StatusError;

impl Cluster {
    /// Returns the Scale of an object.
    pub(crate) fn scale(&self, target: WriteTarget<'_>) -> Result<Value, StatusError> {
        let WriteTarget { kind, namespace, name, .. } = target;
        Ok(kind.scale_of(&self.get(kind, namespace, name)?.value()?))
    }

    /// Sets the number of replicas to that of a Scale. A resource version or uid in it is a precondition.
    pub(crate) fn update_scale(
        &mut self,
        target: WriteTarget<'_>,
        scale: &Value,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        target.check_identity(scale)?;
        let replicas = requested_replicas(scale)?;
        let WriteTarget { kind, namespace, name, .. } = target;
        let stored = self.get(kind, namespace, name)?;
        let old = stored.value()?;
        let mut body = old.clone();
        kind.set_replicas(&mut body, replicas);
        if let Some(meta) = body["metadata"].as_object_mut() {
            for field in ["uid", "resourceVersion"] {
                let given = metadata_text(scale, field);
                if !given.is_empty() {
                    meta.insert(field.to_owned(), json!(given));
                }
            }
        }
        self.update_stored(target, &stored, old, body, options)
    }

    /// Applies a patch to the Scale of an object.
    pub(crate) fn patch_scale(
        &mut self,
        target: WriteTarget<'_>,
        patch: &Patch,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        let mut scale = self.scale(target)?;
        patch.change.apply(&mut scale, Kind::scale())?;
        self.update_scale(target, &scale, options)
    }

    /// Applies a configuration of the Scale of an object.
    pub(crate) fn apply_scale(
        &mut self,
        target: WriteTarget<'_>,
        scale: &Value,
        applier: Applier<'_>,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        check_configuration(WriteTarget { kind: Kind::scale(), ..target }, scale)?;
        let WriteTarget { kind, name, .. } = target;
        let mut configuration =
            json!({"apiVersion": kind.api_version(), "kind": kind.name, "metadata": {"name": name}});
        if scale["spec"].get("replicas").is_some() {
            kind.set_replicas(&mut configuration, requested_replicas(scale)?);
        }
        self.apply_checked(target, configuration, applier, options)
    }
}
