//! The subresource `scale`: its requests contain a Scale, and change the number of replicas of an object.

use serde_json::{Value, json};

use super::WriteTarget;
use super::target::metadata_text;
use crate::kinds::requested_replicas;
use crate::status::StatusError;

impl WriteTarget<'_> {
    /// Returns a stored object with the number of replicas in a Scale. Uid and resource version of the Scale are
    /// preconditions.
    pub(super) fn scaled(self, scale: &Value, mut object: Value) -> Result<Value, StatusError> {
        self.kind.set_replicas(&mut object, requested_replicas(scale)?);
        if let Some(meta) = object["metadata"].as_object_mut() {
            for field in ["uid", "resourceVersion"] {
                let given = metadata_text(scale, field);
                if !given.is_empty() {
                    meta.insert(field.to_owned(), json!(given));
                }
            }
        }
        Ok(object)
    }

    /// Returns the configuration of the object for an applied Scale.
    pub(super) fn scale_configuration(self, scale: &Value) -> Result<Value, StatusError> {
        let Self { kind, name, .. } = self;
        let mut configuration =
            json!({"apiVersion": kind.api_version(), "kind": kind.name, "metadata": {"name": name}});
        if scale["spec"].get("replicas").is_some() {
            kind.set_replicas(&mut configuration, requested_replicas(scale)?);
        }
        Ok(configuration)
    }
}
