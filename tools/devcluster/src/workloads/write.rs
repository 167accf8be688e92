//! Writes of statuses, and what is in them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_controller_client::{Client, Error};
use kube_wire::Decode;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Returns a number of objects as that of a status.
pub(super) fn count(objects: usize) -> i32 {
    i32::try_from(objects).unwrap_or(i32::MAX)
}

/// Returns `None` for 0, which the API omits.
pub(super) fn non_zero(count: i32) -> Option<i32> {
    Some(count).filter(|it| *it != 0)
}

/// Replaces the status of an object. One that is deleted or replaced meanwhile is no error.
pub(super) async fn patch_status<T, S>(client: &Client, object: &T, before: Option<&S>, status: &S) -> Result<(), Error>
where
    T: Decode + k8s_openapi::Metadata<Ty = ObjectMeta>,
    S: Serialize,
{
    // The UID: not the status of another object of the same name.
    let patch = json!({"metadata": {"uid": object.metadata().uid}, "status": difference(before, status)});
    match client.merge_patch::<T>(object.namespace(), object.name(), Some("status"), &patch).await {
        Err(error) if error.is_not_found() || error.is_conflict() => Ok(()),
        result => result.map(drop),
    }
}

/// Returns the fields of `after`, and null for those that only `before` has.
fn difference<S: Serialize>(before: Option<&S>, after: &S) -> Value {
    // A status is always encodable as an object.
    let fields = |status: Value| match status {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    let mut patch = fields(serde_json::to_value(before).unwrap_or_default());
    patch.values_mut().for_each(|value| *value = Value::Null);
    patch.extend(fields(serde_json::to_value(after).unwrap_or_default()));
    Value::Object(patch)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::apps::v1::ReplicaSetStatus;

    use super::*;

    #[test]
    fn removed_fields_are_null() {
        let before = ReplicaSetStatus { replicas: 1, ready_replicas: Some(1), ..ReplicaSetStatus::default() };
        let after = ReplicaSetStatus { replicas: 0, observed_generation: Some(2), ..ReplicaSetStatus::default() };
        let expect = json!({"replicas": 0, "readyReplicas": null, "observedGeneration": 2});
        assert_eq!(difference(Some(&before), &after), expect);
    }
}
