//! Writes of statuses, and what is in them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_controller_client::{Client, Error};
use kube_wire::Decode;
use serde::Serialize;
use serde_json::json;

/// Returns a number of objects as that of a status.
pub(super) fn count(objects: usize) -> i32 {
    i32::try_from(objects).unwrap_or(i32::MAX)
}

/// Sets the fields of the status of an object. One that is deleted or replaced meanwhile is no error.
pub(super) async fn patch_status<T, S>(client: &Client, object: &T, status: &S) -> Result<(), Error>
where
    T: Decode + k8s_openapi::Metadata<Ty = ObjectMeta>,
    S: Serialize,
{
    // The UID: not the status of another object of the same name.
    let patch = json!({"metadata": {"uid": object.metadata().uid}, "status": status});
    match client.merge_patch::<T>(object.namespace(), object.name(), Some("status"), &patch).await {
        Err(error) if error.is_not_found() || error.is_conflict() => Ok(()),
        result => result,
    }
}
