//! The subresource `scale`: its requests contain a Scale, and change the number of replicas of an object.

use serde_json::{Value, json};

use super::WriteTarget;
use super::target::metadata_text;
use crate::kinds::requested_replicas;
use crate::status::StatusError;

impl WriteTarget<'_> {
    /// Returns a stored object with the replicas of a Scale, whose uid and version are preconditions.
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
}
