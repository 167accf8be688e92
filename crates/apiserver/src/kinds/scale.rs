//! `autoscaling/v1` Scale: the subresource `scale` of Deployments and `ReplicaSet`s.

use std::sync::LazyLock;

use k8s_openapi::api::autoscaling::v1::Scale;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use serde_json::{Map, Value, json};

use super::{Kind, Resource};
use crate::field::FieldErrors;
use crate::selector::format_meta;
use crate::status::StatusError;

impl Resource for Scale {
    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

impl Kind {
    /// Returns the kind of the subresource `scale`, which is not stored.
    pub(crate) fn scale() -> &'static Kind {
        static SCALE: LazyLock<Kind> = LazyLock::new(|| Kind::builtin::<Scale>("scales", "scale", &[]));
        &SCALE
    }
}

/// Returns the Scale of an object.
pub(crate) fn scale_of(object: &Value) -> Value {
    let meta = &object["metadata"];
    let fields = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"];
    let meta: Map<String, Value> =
        fields.iter().filter_map(|field| Some(((*field).to_owned(), meta.get(field)?.clone()))).collect();
    let selector = serde_json::from_value::<LabelSelector>(object["spec"]["selector"].clone()).unwrap_or_default();
    let selector = format_meta(&selector).filter(|text| text != "<none>");
    let mut scale = json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": meta,
        "spec": {},
        "status": {"replicas": object["status"]["replicas"].as_i64().unwrap_or_default()},
    });
    if let Some(replicas) = object["spec"]["replicas"].as_i64().filter(|it| *it != 0) {
        scale["spec"]["replicas"] = json!(replicas);
    }
    if let Some(selector) = selector {
        scale["status"]["selector"] = json!(selector);
    }
    scale
}

/// Returns the number of replicas that a Scale asks for.
///
/// # Errors
/// 400 if the Scale cannot be decoded, 422 if the number is negative.
pub(crate) fn requested_replicas(scale: &Value) -> Result<i32, StatusError> {
    let decoded: Scale = serde_path_to_error::deserialize(scale).map_err(|error| {
        let (path, error) = (error.path(), error.inner());
        StatusError::bad_request(format!("Scale in version \"v1\" cannot be handled as a Scale: {path}: {error}"))
    })?;
    let replicas = decoded.spec.and_then(|spec| spec.replicas).unwrap_or_default();
    if replicas >= 0 {
        return Ok(replicas);
    }
    let mut errors = FieldErrors::default();
    errors.invalid("spec.replicas", replicas, "must be greater than or equal to 0");
    Err(StatusError::invalid(Kind::scale(), decoded.metadata.name.as_deref().unwrap_or_default(), errors))
}
