//! Reading what a client sent.

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use serde_json::Value;

use super::query;
use crate::cluster::{DeleteOptions, Patch, Propagation};
use crate::kinds::Kind;
use crate::status::StatusError;

/// As a real server limits it.
const MAX_BODY: usize = 3 * 1024 * 1024;
/// How much of a body that does not parse is repeated in the answer.
const SHOWN: usize = 1024;

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const MERGE_PATCH: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";
const APPLY_PATCH: &str = "application/apply-patch+yaml";

/// Reads a body to its end.
pub(super) async fn collect(body: Incoming) -> Result<Bytes, StatusError> {
    match Limited::new(body, MAX_BODY).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => Err(StatusError::too_large_body(MAX_BODY)),
        Err(error) => Err(StatusError::bad_request(format!("the body cannot be read: {error}"))),
    }
}

/// The media type without its parameters; JSON when none is given.
fn media_type(headers: &HeaderMap) -> &str {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match value.split(';').next().unwrap_or_default().trim() {
        "" => JSON,
        other => other,
    }
}

/// An object in JSON or YAML.
pub(super) fn object(kind: &Kind, headers: &HeaderMap, body: &[u8]) -> Result<Value, StatusError> {
    let unreadable = |error: String| {
        let shown = String::from_utf8_lossy(&body[..body.len().min(SHOWN)]);
        StatusError::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): couldn't get version/kind; json parse error: \
             {error} ({shown})",
            kind.name
        ))
    };
    match media_type(headers) {
        JSON => serde_json::from_slice(body).map_err(|error| unreadable(error.to_string())),
        YAML => yaml(body).map_err(unreadable),
        other => Err(StatusError::unsupported_media_type(other, &[JSON, YAML])),
    }
}

/// A review, in JSON or YAML.
pub(super) fn review(headers: &HeaderMap, body: &[u8]) -> Result<Value, StatusError> {
    let unreadable = |error: String| StatusError::bad_request(format!("the review cannot be read: {error}"));
    match media_type(headers) {
        JSON => serde_json::from_slice(body).map_err(|error| unreadable(error.to_string())),
        YAML => yaml(body).map_err(unreadable),
        other => Err(StatusError::unsupported_media_type(other, &[JSON, YAML])),
    }
}

fn yaml(body: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
    serde_saphyr::from_str(text).map_err(|error| error.to_string())
}

/// A patch, of the type that its media type says.
pub(super) fn patch(headers: &HeaderMap, body: &[u8]) -> Result<Patch, StatusError> {
    let unreadable = |error: serde_json::Error| StatusError::bad_request(format!("error decoding patch: {error}"));
    match media_type(headers) {
        MERGE_PATCH => Ok(Patch::Merge(serde_json::from_slice(body).map_err(unreadable)?)),
        JSON_PATCH => Ok(Patch::Json(serde_json::from_slice(body).map_err(unreadable)?)),
        STRATEGIC_PATCH => Ok(Patch::Strategic(serde_json::from_slice(body).map_err(unreadable)?)),
        APPLY_PATCH => {
            let object =
                yaml(body).map_err(|error| StatusError::bad_request(format!("error decoding YAML: {error}")))?;
            Ok(Patch::Apply(object))
        }
        other => {
            let supported = [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH];
            Err(StatusError::unsupported_media_type(other, &supported))
        }
    }
}

/// The options of a delete, from body and parameters, and whether it is a rehearsal.
pub(super) fn delete_options(
    headers: &HeaderMap,
    body: &[u8],
    query: &query::Query,
) -> Result<(DeleteOptions, bool), StatusError> {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::DeleteOptions as Given;

    let given: Given = match media_type(headers) {
        _ if body.is_empty() => Given::default(),
        JSON => {
            let decoder = &mut serde_json::Deserializer::from_slice(body);
            serde_path_to_error::deserialize(decoder).map_err(|error| {
                StatusError::bad_request(format!("DeleteOptions cannot be read: {}: {}", error.path(), error.inner()))
            })?
        }
        other => return Err(StatusError::unsupported_media_type(other, &[JSON])),
    };
    let mut dry_run = query.dry_run;
    for value in given.dry_run.iter().flatten() {
        dry_run |= query::dry_run(value)?;
    }
    let preconditions = given.preconditions.unwrap_or_default();
    let options = DeleteOptions {
        grace_period_seconds: given.grace_period_seconds.or(query.grace_period_seconds),
        uid: preconditions.uid,
        resource_version: preconditions.resource_version,
        propagation: match given.propagation_policy.as_deref() {
            Some(policy) => query::propagation(policy)?,
            None => query.propagation.unwrap_or(match given.orphan_dependents {
                Some(true) => Propagation::Orphan,
                _ => Propagation::Background,
            }),
        },
    };
    Ok((options, dry_run))
}
