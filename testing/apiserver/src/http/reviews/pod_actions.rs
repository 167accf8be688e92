//! The subresources `binding` and `eviction` of Pods.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Binding;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cluster::{Cluster, Propagation};
use crate::http::path::ResourcePath;
use crate::http::payload::Payload;
use crate::http::query::Query;
use crate::kinds::Kind;
use crate::shared::Shared;
use crate::status::StatusError;

/// An `Eviction`. Its options are decoded like those of a delete.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Eviction {
    #[serde(default)]
    metadata: ObjectMeta,
    delete_options: Option<Value>,
}

/// Assigns a Pod to a Node, as a scheduler asks for.
///
/// # Errors
/// 404 if there is no such Pod; 409 if it has a Node, is being deleted, or has another uid than the binding; 422 without a
/// name of a Node.
pub(super) fn bind(shared: &Shared, path: &ResourcePath, binding: Binding) -> Result<Value, StatusError> {
    let (kind, namespace, name) = pod(shared, path)?;
    let node = binding.target.name.filter(|it| !it.is_empty());
    let node = node.ok_or_else(|| StatusError::bad_request("a binding needs the name of a Node in target.name"))?;
    let now = shared.now();
    shared.write(false, |cluster: &mut Cluster, write| {
        let stored = cluster.get(&kind, namespace, name)?;
        let conflict = |why: &str| Err(StatusError::conflict(&kind, name, why));
        if binding.metadata.uid.as_deref().is_some_and(|uid| !uid.is_empty() && uid != &*stored.uid) {
            return conflict("the uid of the binding is that of another Pod");
        }
        let object = stored.value()?;
        if let Some(assigned) = object["spec"]["nodeName"].as_str().filter(|it| !it.is_empty()) {
            return conflict(&format!("pod {name} is already assigned to node \"{assigned}\""));
        }
        if object["metadata"]["deletionTimestamp"].is_string() {
            return conflict(&format!("pod {name} is being deleted, cannot be assigned to a host"));
        }
        cluster.rewrite(&kind, &stored, write, |object| {
            object.entry("spec").or_insert_with(|| json!({}))["nodeName"] = json!(node);
            let scheduled = json!({"type": "PodScheduled", "status": "True", "lastTransitionTime": now});
            let status = object.entry("status").or_insert_with(|| json!({}));
            match status["conditions"].as_array_mut() {
                Some(conditions) => {
                    conditions.retain(|it| it["type"] != "PodScheduled");
                    conditions.push(scheduled);
                }
                None => status["conditions"] = json!([scheduled]),
            }
        })?;
        Ok(success())
    })
}

/// Deletes a Pod, as the eviction API does. There are no `PodDisruptionBudget`s here that could forbid it.
///
/// # Errors
/// Those of a delete.
pub(super) fn evict(shared: &Shared, path: &ResourcePath, eviction: Eviction) -> Result<Value, StatusError> {
    let (kind, namespace, name) = pod(shared, path)?;
    if eviction.metadata.name.as_deref().is_some_and(|it| !it.is_empty() && it != name) {
        return Err(StatusError::bad_request("name in URL does not match name in Eviction object"));
    }
    let options = eviction.delete_options.map(|it| it.to_string()).unwrap_or_default();
    let options = Payload::json(options.as_bytes());
    let (options, dry_run) = options.delete_options(&Query::default(), Propagation::default())?;
    shared.write(dry_run, |cluster: &mut Cluster, write| cluster.delete(&kind, namespace, name, &options, write))?;
    Ok(success())
}

fn pod<'a>(shared: &Shared, path: &'a ResourcePath) -> Result<(Arc<Kind>, &'a str, &'a str), StatusError> {
    let kind = shared.read(|cluster| cluster.kinds().find("", "v1", "pods").cloned());
    let namespace = path.namespace.as_deref().unwrap_or_default();
    Ok((kind.ok_or_else(StatusError::no_such_path)?, namespace, path.name.as_deref().unwrap_or_default()))
}

fn success() -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201})
}
