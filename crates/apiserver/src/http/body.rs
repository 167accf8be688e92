//! Decoding of request bodies: objects, patches and `DeleteOptions`.

use std::io;

use bytes::{Buf as _, Bytes};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body::Body;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_saphyr::DuplicateKeyPolicy;
use tower::BoxError;

use super::go_error::go_syntax_error;
use super::query;
use crate::cluster::{DeleteOptions, Patch, Propagation};
use crate::decode::decode;
use crate::document::Document;
use crate::kinds::Kind;
use crate::merge::no_object;
use crate::protobuf::{self, Malformed};
use crate::status::StatusError;

/// Maximum size of a request body in bytes, as `MaxRequestBodyBytes` of `k8s.io/apiserver`.
const MAX_BODY: usize = 3 * 1024 * 1024;
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

/// Body of a request.
pub(super) enum RequestBody {
    /// Body received from a connection.
    Received(Incoming),
    /// Body passed to an [`InProcess`](super::InProcess) service.
    InProcess(UnsyncBoxBody<Bytes, io::Error>),
}

impl RequestBody {
    /// Wraps the body of an in-process call.
    pub(super) fn in_process<B>(body: B) -> Self
    where
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        // `copy_to_bytes` passes `Bytes` on without a copy.
        let body = body.map_frame(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining())));
        Self::InProcess(body.map_err(io::Error::other).boxed_unsync())
    }
}

/// Reads a body to its end.
///
/// # Errors
/// 413 if it exceeds 3 MiB, 400 if reading fails.
pub(super) async fn collect(body: RequestBody) -> Result<Bytes, StatusError> {
    let collected = match body {
        RequestBody::Received(body) => Limited::new(body, MAX_BODY).collect().await,
        RequestBody::InProcess(body) => Limited::new(body, MAX_BODY).collect().await,
    };
    match collected {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => Err(StatusError::too_large_body(MAX_BODY)),
        Err(error) => Err(StatusError::bad_request(format!("the body cannot be read: {error}"))),
    }
}

/// Returns the media type without its parameters; `application/json` if there is no `Content-Type`.
fn media_type(headers: &HeaderMap) -> &str {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match value.split(';').next().unwrap_or_default().trim() {
        "" => JSON,
        other => other,
    }
}

/// Group, version and kind that a request body must have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected<'a> {
    pub(super) api_version: &'a str,
    pub(super) kind: &'a str,
}

impl Expected<'_> {
    /// Decodes a body in the encoding given by `Content-Type`.
    ///
    /// # Errors
    /// 415 for an unsupported media type, 400 if the body cannot be decoded.
    pub(super) fn read(self, headers: &HeaderMap, body: &[u8]) -> Result<Document, StatusError> {
        match media_type(headers) {
            JSON => serde_json::from_slice(body).map_err(|error| self.unreadable(&error.to_string(), body)),
            YAML => yaml(body).map_err(|error| self.unreadable(&error, body)),
            protobuf::MEDIA_TYPE if protobuf::is_supported(self.api_version, self.kind) => self.read_protobuf(body),
            _ if protobuf::is_supported(self.api_version, self.kind) => {
                Err(StatusError::unsupported_media_type(&[JSON, YAML, protobuf::MEDIA_TYPE]))
            }
            _ => Err(StatusError::unsupported_media_type(&[JSON, YAML])),
        }
    }

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

/// Decodes a patch of the type given by `Content-Type`. Also returns one message for each duplicate field. Custom kinds
/// have no strategic merge patches.
///
/// # Errors
/// 415 for an unsupported patch type, 400 if the patch cannot be decoded.
pub(super) fn patch(headers: &HeaderMap, body: &[u8], kind: &Kind) -> Result<(Patch, Vec<String>), StatusError> {
    // As upstream, the message about a strategic merge patch has no prefix.
    let prefix = if media_type(headers) == STRATEGIC_PATCH { "" } else { "error decoding patch: " };
    let unreadable =
        |error: serde_json::Error| StatusError::bad_request(format!("{prefix}{}", go_syntax_error(&error, body)));
    let read = || serde_json::from_slice::<Document>(body).map_err(unreadable);
    match media_type(headers) {
        MERGE_PATCH => {
            let document = read()?;
            let messages = document.messages();
            Ok((Patch::Merge(document.value), messages))
        }
        JSON_PATCH => {
            let document = read()?;
            let messages = document.messages().into_iter().map(|it| format!("json patch {it}")).collect();
            Ok((Patch::Json(serde_json::from_value(document.value).map_err(unreadable)?), messages))
        }
        STRATEGIC_PATCH if !kind.is_custom() => {
            let document = read()?;
            let messages = document.messages();
            Ok((Patch::Strategic(document.value), messages))
        }
        APPLY_PATCH => {
            let document: Document =
                yaml(body).map_err(|error| StatusError::bad_request(format!("error decoding YAML: {error}")))?;
            if let Some(why) = no_object(&document.value) {
                let message = format!("error decoding YAML: error unmarshaling JSON: while decoding JSON: {why}");
                return Err(StatusError::bad_request(message));
            }
            let messages = document.messages();
            Ok((Patch::Apply(document.value), messages))
        }
        _ if kind.is_custom() => Err(StatusError::unsupported_media_type(&[JSON_PATCH, MERGE_PATCH, APPLY_PATCH])),
        _ => Err(StatusError::unsupported_media_type(&[JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH])),
    }
}

/// Returns the options of a delete from body and query, and whether it is a dry run. Options in the body take
/// precedence. `default` is the propagation policy if none is given.
pub(super) fn delete_options(
    headers: &HeaderMap,
    body: &[u8],
    query: &query::Query,
    default: Propagation,
) -> Result<(DeleteOptions, bool), StatusError> {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::DeleteOptions as Given;

    let given: Given = if body.is_empty() {
        Given::default()
    } else {
        let document = Expected { api_version: "v1", kind: "DeleteOptions" }.read(headers, body)?;
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
