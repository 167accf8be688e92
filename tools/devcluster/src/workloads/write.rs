//! Writes of statuses, and what is in them.

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
    T: Decode,
    S: Serialize,
{
    // The UID: not the status of another object of the same name.
    let patch = json!({"metadata": {"uid": object.uid().to_string()}, "status": status});
    match client.merge_patch::<T>(object.namespace(), object.name(), Some("status"), &patch).await {
        Err(error) if error.is_not_found() || error.is_conflict() => Ok(()),
        result => result,
    }
}
