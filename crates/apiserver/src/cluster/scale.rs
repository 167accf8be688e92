//! Reads and writes of the subresource `scale`, which changes the number of replicas of an object.

use serde_json::{Value, json};

use super::patch::check_applied;
use super::write::{check_identity, text};
use super::{Cluster, FieldValidation, Patch, WriteOptions, Written};
use crate::kinds::{Kind, Part, requested_replicas};
use crate::status::StatusError;

impl Cluster {
    /// Returns the Scale of an object.
    pub(crate) fn scale(&self, kind: &Kind, namespace: &str, name: &str) -> Result<Value, StatusError> {
        Ok(kind.scale_of(&self.get(kind, namespace, name)?.value()?))
    }

    /// Sets the number of replicas to that of a Scale. A resource version or uid in it is a precondition.
    pub(crate) fn update_scale(
        &mut self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        scale: &Value,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        check_identity(kind, namespace, name, scale)?;
        let replicas = requested_replicas(scale)?;
        let mut object = self.get(kind, namespace, name)?.value()?;
        kind.set_replicas(&mut object, replicas);
        if let Some(meta) = object["metadata"].as_object_mut() {
            for field in ["uid", "resourceVersion"] {
                if let Some(given) = text(scale, field).filter(|it| !it.is_empty()) {
                    meta.insert(field.to_owned(), json!(given));
                }
            }
        }
        let options = WriteOptions { field_validation: FieldValidation::Ignore, ..options };
        self.update(kind, namespace, name, object, Part::Scale, options)
    }

    /// Applies a patch to the Scale of an object.
    pub(crate) fn patch_scale(
        &mut self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        patch: &Patch,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        let Patch::Apply(applied) = patch else {
            let mut scale = self.scale(kind, namespace, name)?;
            patch.change(&mut scale, Kind::scale())?;
            return self.update_scale(kind, namespace, name, &scale, options);
        };
        check_applied(Kind::scale(), namespace, name, applied)?;
        let mut config = json!({"apiVersion": kind.api_version(), "kind": kind.name, "metadata": {"name": name}});
        if applied["spec"].get("replicas").is_some() {
            kind.set_replicas(&mut config, requested_replicas(applied)?);
        }
        self.patch(kind, namespace, name, &Patch::Apply(config), Part::Scale, options)
    }
}
