//! `autoscaling/v1` Scale: the subresource `scale` of Deployments, `ReplicaSet`s and custom kinds.

use std::sync::LazyLock;

use k8s_openapi::api::autoscaling::v1::Scale;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::{Kind, Part, Resource};
use crate::field::FieldErrors;
use crate::selector::format_meta;
use crate::status::StatusError;

impl Resource for Scale {}

impl Kind {
    pub(crate) fn subresources(&self) -> impl Iterator<Item = Part> {
        let parts = [(self.has_status, Part::Status), (self.has_scale, Part::Scale)];
        parts.into_iter().filter_map(|(is_served, part)| is_served.then_some(part))
    }

    /// Returns the kind of the objects in requests for a part.
    pub(crate) fn of_part(&self, part: Part) -> &Self {
        if part == Part::Scale { Self::scale() } else { self }
    }

    /// Returns the kind of the subresource `scale`, which is not stored.
    pub(crate) fn scale() -> &'static Kind {
        static SCALE: LazyLock<Kind> =
            LazyLock::new(|| Kind { plural: "scales".to_owned(), ..Kind::builtin::<Scale>(&[]) });
        &SCALE
    }

    pub(crate) fn scale_of(&self, object: &Value) -> Value {
        let meta = &object["metadata"];
        let fields = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"];
        let meta: Map<String, Value> =
            fields.iter().filter_map(|field| Some(((*field).to_owned(), meta.get(field)?.clone()))).collect();
        let custom = self.custom.as_ref().and_then(|custom| custom.definition.scale.as_ref());
        let (wanted, found, selector) = match custom {
            None => {
                let selector = LabelSelector::deserialize(&object["spec"]["selector"]);
                let selector = format_meta(&selector.unwrap_or_default()).filter(|text| text != "<none>");
                (&object["spec"]["replicas"], &object["status"]["replicas"], selector)
            }
            Some(paths) => {
                let at = |path: &str| object.pointer(&pointer(path)).unwrap_or(&Value::Null);
                let selector = paths.label_selector_path.as_deref().and_then(|path| at(path).as_str());
                (at(&paths.spec_replicas_path), at(&paths.status_replicas_path), selector.map(str::to_owned))
            }
        };
        let mut scale = json!({
            "kind": "Scale",
            "apiVersion": "autoscaling/v1",
            "metadata": meta,
            "spec": {},
            "status": {"replicas": found.as_i64().unwrap_or_default()},
        });
        if let Some(replicas) = wanted.as_i64().filter(|it| *it != 0) {
            scale["spec"]["replicas"] = json!(replicas);
        }
        if let Some(selector) = selector.filter(|selector| !selector.is_empty()) {
            scale["status"]["selector"] = json!(selector);
        }
        scale
    }

    pub(crate) fn set_replicas(&self, object: &mut Value, replicas: i32) {
        let custom = self.custom.as_ref().and_then(|custom| custom.definition.scale.as_ref());
        let path = custom.map_or(".spec.replicas", |paths| &paths.spec_replicas_path);
        let at = path.split('.').filter(|name| !name.is_empty()).fold(object, |value, name| {
            if !value.is_object() {
                *value = json!({});
            }
            &mut value[name]
        });
        *at = json!(replicas);
    }
}

/// Converts a path such as `.spec.replicas` to a JSON pointer.
fn pointer(path: &str) -> String {
    path.split('.').filter(|name| !name.is_empty()).fold(String::new(), |pointer, name| pointer + "/" + name)
}

/// Returns the replicas of a Scale. Fails with 400 if it cannot be decoded, 422 for a negative number.
pub(crate) fn requested_replicas(scale: &Value) -> Result<i32, StatusError> {
    let decoded =
        Scale::deserialize(scale).map_err(|error| StatusError::undecodable(Kind::scale(), &error.to_string()))?;
    let replicas = decoded.spec.and_then(|spec| spec.replicas).unwrap_or_default();
    if replicas >= 0 {
        return Ok(replicas);
    }
    let mut errors = FieldErrors::default();
    errors.invalid("spec.replicas", replicas, "must be greater than or equal to 0");
    Err(StatusError::invalid(Kind::scale(), decoded.metadata.name.as_deref().unwrap_or_default(), &errors))
}
