//! The subresource `binding` of Pods, by which a scheduler assigns a Pod to a Node.

use std::sync::Arc;

use http::request::Parts;
use k8s_openapi::api::core::v1::Binding;
use serde_json::{Value, json};

use super::decode;
use crate::http::path::ResourcePath;
use crate::http::query::Query;
use crate::http::request::LoggedWrite;
use crate::shared::Shared;
use crate::status::StatusError;

/// Assigns a Pod to a Node. Fails with 404 without the Pod; 409 if it is bound, deleted or another one.
pub(super) fn bind(
    shared: &Shared,
    path: &ResourcePath,
    parts: &Parts,
    mut binding: Value,
) -> Result<LoggedWrite, StatusError> {
    let (namespace, name) = (path.namespace.as_deref().unwrap_or_default(), path.name.as_deref().unwrap_or_default());
    let query = Query::parse(parts.uri.query())?;
    let ((), unlogged) = shared.write_unlogged(query.dry_run, |cluster, write| {
        let write = query.options(write);
        let kind = cluster.kinds().find("", "v1", "pods").map(Arc::clone).ok_or_else(StatusError::no_such_path)?;
        cluster.admit_binding(&kind, namespace, name, &mut binding, write)?;
        let binding: Binding = decode(&binding)?;
        let stored = cluster.get(&kind, namespace, name)?;
        let object = stored.value();
        let is_other = binding.metadata.uid.as_deref().is_some_and(|uid| uid != &*stored.uid);
        let is_assigned = object["spec"]["nodeName"].as_str().is_some_and(|node| !node.is_empty());
        if is_other || is_assigned || object["metadata"]["deletionTimestamp"].is_string() {
            let why = format!("pod {name} is already assigned to a node, is being deleted, or has another uid");
            return Err(StatusError::conflict(&kind, name, &why));
        }
        cluster.rewrite(&kind, &stored, write, |object| {
            object.entry("spec").or_insert_with(|| json!({}))["nodeName"] = json!(binding.target.name);
        })?;
        Ok(())
    })?;
    Ok(LoggedWrite::new(name, query.dry_run, unlogged))
}
