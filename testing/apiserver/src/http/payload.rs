//! Decoding of request bodies: objects, patches, applied configurations and `DeleteOptions`.

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_saphyr::DuplicateKeyPolicy;

use super::query;
use crate::cluster::{DeleteOptions, Patch};
use crate::kinds::Kind;
use crate::protobuf;
use crate::status::StatusError;

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const MERGE_PATCH: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
pub(super) const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";
const APPLY_PATCH: &str = "application/apply-patch+yaml";

/// Types of patches. Custom kinds have no strategic merge patches.
pub(super) const PATCHES: [&str; 4] = [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH];

/// Media type and bytes of a request body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Payload<'a> {
    media_type: &'a str,
    bytes: &'a [u8],
}

/// apiVersion and kind that a request body must have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected<'a> {
    pub(super) api_version: &'a str,
    pub(super) kind: &'a str,
}

impl<'a> Payload<'a> {
    /// Returns the body of a request with these headers. Without `Content-Type`, it is JSON.
    pub(super) fn new(headers: &'a HeaderMap, bytes: &'a [u8]) -> Self {
        let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let media_type = value.split(';').next().unwrap_or_default().trim();
        Self { media_type: if media_type.is_empty() { JSON } else { media_type }, bytes }
    }

    /// Decodes an object. Fails with 415 for an unsupported media type, 400 if the body cannot be decoded.
    pub(super) fn object(self, expected: Expected<'_>) -> Result<Value, StatusError> {
        let Self { media_type, bytes } = self;
        let has_protobuf = protobuf::is_supported(expected.api_version, expected.kind);
        match media_type {
            JSON => serde_json::from_slice(bytes).map_err(|error| expected.unreadable(&error.to_string())),
            YAML => yaml(bytes).map_err(|error| expected.unreadable(&error)),
            protobuf::MEDIA_TYPE if has_protobuf => expected.read_protobuf(bytes),
            _ if has_protobuf => Err(StatusError::unsupported_media_type(&[JSON, YAML, protobuf::MEDIA_TYPE])),
            _ => Err(StatusError::unsupported_media_type(&[JSON, YAML])),
        }
    }

    /// Returns whether the body is a configuration of a server-side apply.
    pub(super) fn is_configuration(self) -> bool {
        self.media_type == APPLY_PATCH
    }

    /// Decodes the configuration of a server-side apply. Fails with 400 if it is not a YAML object.
    pub(super) fn configuration(self) -> Result<Value, StatusError> {
        yaml(self.bytes).map_err(|why| StatusError::bad_request(format!("error decoding YAML: {why}")))
    }

    /// Decodes a patch of `kind`. Custom kinds have no strategic merge patches. Fails with 415 for an unsupported patch
    /// type, 400 if the patch cannot be decoded.
    pub(super) fn patch(self, kind: &Kind) -> Result<Patch, StatusError> {
        let Self { media_type, bytes } = self;
        let decoded = match media_type {
            MERGE_PATCH => serde_json::from_slice(bytes).map(Patch::Merge),
            JSON_PATCH => serde_json::from_slice(bytes).map(Patch::Json),
            STRATEGIC_PATCH if !kind.is_custom() => serde_json::from_slice(bytes).map(Patch::Strategic),
            _ => {
                let supported = PATCHES.into_iter().filter(|it| *it != STRATEGIC_PATCH || !kind.is_custom());
                return Err(StatusError::unsupported_media_type(&supported.collect::<Vec<_>>()));
            }
        };
        decoded.map_err(|error| StatusError::bad_request(format!("error decoding patch: {error}")))
    }

    /// Returns the options of a delete and whether it is a dry run. The body takes precedence over the query.
    pub(super) fn delete_options(self, query: &query::Query) -> Result<(DeleteOptions, bool), StatusError> {
        use k8s_openapi::apimachinery::pkg::apis::meta::v1::DeleteOptions as Given;

        let given: Given = if self.bytes.is_empty() {
            Given::default()
        } else {
            let document = self.object(Expected { api_version: "v1", kind: "DeleteOptions" })?;
            Given::deserialize(&document)
                .map_err(|error| StatusError::bad_request(format!("DeleteOptions cannot be read: {error}")))?
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
            foreground: given.propagation_policy.as_deref() == Some("Foreground"),
        };
        Ok((options, dry_run))
    }
}

impl Expected<'_> {
    fn read_protobuf(self, body: &[u8]) -> Result<Value, StatusError> {
        let document = protobuf::Envelope::open(body).map_err(|error| {
            StatusError::bad_request(format!(
                "the object provided is unrecognized (must be of type {}): {error}",
                self.kind
            ))
        })?;
        // An envelope without apiVersion or kind has those of the path.
        let or =
            |given: &'_ str, expected: &'_ str| if given.is_empty() { expected.to_owned() } else { given.to_owned() };
        let (api_version, kind) = (or(document.api_version, self.api_version), or(document.kind, self.kind));
        let object = document.read(&api_version, &kind).map_err(|error| {
            let version = api_version.rsplit('/').next().unwrap_or_default();
            StatusError::bad_request(format!(
                "{kind} in version {version:?} cannot be handled as a {}: {error}",
                self.kind
            ))
        })?;
        Ok(Value::Object(object))
    }

    fn unreadable(self, error: &str) -> StatusError {
        StatusError::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): couldn't get version/kind; json parse error: \
             {error}",
            self.kind
        ))
    }
}

fn yaml<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
    let options = serde_saphyr::options! { duplicate_keys: DuplicateKeyPolicy::LastWins };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())
}
