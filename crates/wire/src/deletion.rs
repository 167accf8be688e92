//! The responses to deletions.

use serde::Deserialize;

use crate::json::nullable;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Response {
    kind: String,
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    deletion_timestamp: Option<String>,
    deletion_grace_period_seconds: Option<i64>,
    #[serde(deserialize_with = "nullable")]
    finalizers: Vec<String>,
}

/// A Namespace, which has finalizers of its own.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Namespace {
    spec: NamespaceSpec,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NamespaceSpec {
    #[serde(deserialize_with = "nullable")]
    finalizers: Vec<String>,
}

fn has_namespace_finalizers(response: &[u8]) -> bool {
    serde_json::from_slice::<Namespace>(response).is_ok_and(|it| !it.spec.finalizers.is_empty())
}

/// Returns whether the response to the deletion of an object of this kind, in JSON, shows that the object waits for finalizers or
/// its grace period.
///
/// For a removed object, the server returns a `Status`, or for some kinds the last state of the object.
///
/// ```
/// use kube_wire::deletion_is_pending;
///
/// let waits = br#"{"kind":"Pod","metadata":{"deletionTimestamp":"2026-02-03T04:05:06Z","deletionGracePeriodSeconds":30}}"#;
/// assert!(deletion_is_pending("Pod", waits));
/// let waits = br#"{"kind":"Namespace","metadata":{"deletionTimestamp":"2026-02-03T04:05:06Z"},"spec":{"finalizers":["kubernetes"]}}"#;
/// assert!(deletion_is_pending("Namespace", waits));
/// assert!(!deletion_is_pending("Pod", br#"{"kind":"Status","status":"Success"}"#));
/// ```
pub fn deletion_is_pending(kind: &str, response: &[u8]) -> bool {
    let Ok(Response { kind: found, metadata }) = serde_json::from_slice(response) else { return false };
    let has_grace = metadata.deletion_grace_period_seconds.is_some_and(|seconds| seconds > 0);
    let waits =
        || has_grace || !metadata.finalizers.is_empty() || (kind == "Namespace" && has_namespace_finalizers(response));
    found == kind && metadata.deletion_timestamp.is_some() && waits()
}
