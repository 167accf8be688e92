//! Decoding of request bodies: objects, patches, applied configurations and `DeleteOptions`.

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_saphyr::DuplicateKeyPolicy;

use super::go_error::go_syntax_error;
use super::query;
use crate::cluster::{DeleteOptions, Patch, PatchChange, Propagation};
use crate::decode::decode;
use crate::document::Document;
use crate::kinds::Kind;
use crate::merge::no_object;
use crate::protobuf::{self, Malformed};
use crate::status::StatusError;

/// Number of bytes of a malformed JSON or YAML body repeated in the error message.
const MAX_QUOTED_BYTES: usize = 1024;
/// Number of bytes of a malformed protobuf body repeated in the error message, in hexadecimal.
const MAX_QUOTED_HEX_BYTES: usize = 30;

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const MERGE_PATCH: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";
const APPLY_PATCH: &str = "application/apply-patch+yaml";

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

    /// Returns a body in JSON.
    pub(super) fn json(bytes: &'a [u8]) -> Self {
        Self { media_type: JSON, bytes }
    }

    /// Decodes an object.
    ///
    /// # Errors
    /// 415 for an unsupported media type, 400 if the body cannot be decoded.
    pub(super) fn object(self, expected: Expected<'_>) -> Result<Document, StatusError> {
        let Self { media_type, bytes } = self;
        let has_protobuf = protobuf::is_supported(expected.api_version, expected.kind);
        match media_type {
            JSON => serde_json::from_slice(bytes).map_err(|error| expected.unreadable(&error.to_string(), bytes)),
            YAML => yaml(bytes).map_err(|error| expected.unreadable(&error, bytes)),
            protobuf::MEDIA_TYPE if has_protobuf => expected.read_protobuf(bytes),
            _ if has_protobuf => Err(StatusError::unsupported_media_type(&[JSON, YAML, protobuf::MEDIA_TYPE])),
            _ => Err(StatusError::unsupported_media_type(&[JSON, YAML])),
        }
    }

    /// Returns whether the body is a configuration of a server-side apply.
    pub(super) fn is_configuration(self) -> bool {
        self.media_type == APPLY_PATCH
    }

    /// Decodes the configuration of a server-side apply.
    ///
    /// # Errors
    /// 400 if it is not a YAML object.
    pub(super) fn configuration(self) -> Result<Document, StatusError> {
        let unreadable = |why: String| StatusError::bad_request(format!("error decoding YAML: {why}"));
        let document: Document = yaml(self.bytes).map_err(unreadable)?;
        match no_object(&document.value) {
            Some(why) => Err(unreadable(format!("error unmarshaling JSON: while decoding JSON: {why}"))),
            None => Ok(document),
        }
    }

    /// Decodes a patch of `kind`. Custom kinds have no strategic merge patches.
    ///
    /// # Errors
    /// 415 for an unsupported patch type, 400 if the patch cannot be decoded.
    pub(super) fn patch(self, kind: &Kind) -> Result<Patch, StatusError> {
        let Self { media_type, bytes } = self;
        // As upstream, the message about a strategic merge patch has no prefix.
        let prefix = if media_type == STRATEGIC_PATCH { "" } else { "error decoding patch: " };
        let unreadable =
            |error: serde_json::Error| StatusError::bad_request(format!("{prefix}{}", go_syntax_error(&error, bytes)));
        let is_supported = match media_type {
            MERGE_PATCH | JSON_PATCH => true,
            STRATEGIC_PATCH => !kind.is_custom(),
            _ => false,
        };
        if !is_supported {
            let supported = [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH];
            let supported = supported.into_iter().filter(|it| *it != STRATEGIC_PATCH || !kind.is_custom());
            return Err(StatusError::unsupported_media_type(&supported.collect::<Vec<_>>()));
        }
        let document: Document = serde_json::from_slice(bytes).map_err(unreadable)?;
        let mut duplicates = document.messages();
        let change = match media_type {
            MERGE_PATCH => PatchChange::Merge(document.value),
            STRATEGIC_PATCH => PatchChange::Strategic(document.value),
            _ => {
                duplicates = duplicates.into_iter().map(|message| format!("json patch {message}")).collect();
                PatchChange::Json(serde_json::from_value(document.value).map_err(unreadable)?)
            }
        };
        Ok(Patch { change, duplicates })
    }

    /// Returns the options of a delete from body and query, and whether it is a dry run. Options in the body take
    /// precedence. `default` is the propagation policy if none is given.
    pub(super) fn delete_options(
        self,
        query: &query::Query,
        default: Propagation,
    ) -> Result<(DeleteOptions, bool), StatusError> {
        use k8s_openapi::apimachinery::pkg::apis::meta::v1::DeleteOptions as Given;

        let given: Given = if self.bytes.is_empty() {
            Given::default()
        } else {
            let document = self.object(Expected { api_version: "v1", kind: "DeleteOptions" })?;
            decode(&document.value)
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
            propagation: match given.propagation_policy.as_deref() {
                Some(policy) => query::propagation(policy)?,
                None => query.propagation.unwrap_or(match given.orphan_dependents {
                    Some(true) => Propagation::Orphan,
                    Some(false) => Propagation::Background,
                    None => default,
                }),
            },
        };
        Ok((options, dry_run))
    }
}

impl Expected<'_> {
    fn read_protobuf(self, body: &[u8]) -> Result<Document, StatusError> {
        let document = protobuf::Envelope::open(body).map_err(|error| {
            StatusError::bad_request(format!(
                "the object provided is unrecognized (must be of type {}): {error} ({})",
                self.kind,
                in_hex(body)
            ))
        })?;
        // An envelope without apiVersion or kind has those of the path.
        let or =
            |given: &'_ str, expected: &'_ str| if given.is_empty() { expected.to_owned() } else { given.to_owned() };
        let (api_version, kind) = (or(document.api_version, self.api_version), or(document.kind, self.kind));
        let object = document.read(&api_version, &kind).map_err(|error| {
            let version = api_version.rsplit('/').next().unwrap_or_default();
            let why = match error {
                Malformed::UnknownKind => {
                    format!("no kind {kind:?} is registered for version {api_version:?}")
                }
                error => error.to_string(),
            };
            StatusError::bad_request(format!(
                "{kind} in version {version:?} cannot be handled as a {}: {why}",
                self.kind
            ))
        })?;
        Ok(Document { value: Value::Object(object), ..Document::default() })
    }

    fn unreadable(self, error: &str, body: &[u8]) -> StatusError {
        let quoted = String::from_utf8_lossy(&body[..body.len().min(MAX_QUOTED_BYTES)]);
        StatusError::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): couldn't get version/kind; json parse error: \
             {error} ({quoted})",
            self.kind
        ))
    }
}

/// Returns the first bytes of a binary body in hexadecimal, formatted as by upstream's `summarizeData`.
fn in_hex(body: &[u8]) -> String {
    let quoted = Bytes::copy_from_slice(&body[..body.len().min(MAX_QUOTED_HEX_BYTES)]);
    match body.len() {
        0 => "<empty>".to_owned(),
        length if length > MAX_QUOTED_HEX_BYTES => format!("{quoted:x} ..."),
        _ => format!("{quoted:x}"),
    }
}

fn yaml<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
    let options = serde_saphyr::options! { duplicate_keys: DuplicateKeyPolicy::LastWins };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())
}
