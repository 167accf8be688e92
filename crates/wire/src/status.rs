//! `metav1.Status`, the body of an error response.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::json::nullable;

/// Values of [`Status::reason`] and [`Cause::reason`] (Go: `metav1.StatusReason`, `metav1.CauseType`).
pub mod reason {
    /// The object does not exist.
    pub const NOT_FOUND: &str = "NotFound";
    /// The object exists already.
    pub const ALREADY_EXISTS: &str = "AlreadyExists";
    /// The write was based on an outdated resource version, or a precondition failed.
    pub const CONFLICT: &str = "Conflict";
    /// The request is not authorized, or admission rejected it.
    pub const FORBIDDEN: &str = "Forbidden";
    /// The resource version or continue token is too old.
    pub const EXPIRED: &str = "Expired";
    /// The resource, or the requested resource version, is no longer available.
    pub const GONE: &str = "Gone";
    /// The server could not complete the request in time.
    pub const TIMEOUT: &str = "Timeout";
    /// Cause of a [`FORBIDDEN`] create in a terminating namespace.
    pub const NAMESPACE_TERMINATING: &str = "NamespaceTerminating";
    /// Cause of a [`TIMEOUT`]: the requested resource version is newer than the server's.
    pub const RESOURCE_VERSION_TOO_LARGE: &str = "ResourceVersionTooLarge";
}

/// `metav1.Status`: the API server's description of a failed request, or of a successful delete.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// `Failure` or `Success`.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub status: String,
    /// HTTP status code; 0 if absent or out of range.
    #[serde(deserialize_with = "number")]
    pub code: u16,
    /// Machine-readable reason, see [`reason`].
    #[serde(deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Human-readable message.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Object and causes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
}

/// `metav1.StatusDetails`: the object and the causes of a [`Status`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Details {
    /// Name of the object.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// API group of the resource.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// Resource, usually the plural in spite of the field's name.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// UID of the object.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// Causes of the error, such as one per invalid field.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// Seconds to wait before a retry; 0 if absent or negative.
    #[serde(deserialize_with = "number", skip_serializing_if = "is_zero")]
    pub retry_after_seconds: u32,
}

/// `metav1.StatusCause`: one cause of a [`Status`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cause {
    /// Machine-readable reason.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Human-readable message.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Path of the invalid field.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub field: String,
}

impl Status {
    /// Returns whether one of the causes has this reason.
    pub fn has_cause(&self, reason: &str) -> bool {
        self.details.iter().flat_map(|details| &details.causes).any(|cause| cause.reason == reason)
    }

    /// Returns whether the requested resource version is no longer available, so that the client has to relist.
    pub fn is_expired(&self) -> bool {
        self.code == 410 || self.reason == reason::EXPIRED || self.reason == reason::GONE
    }

    /// Returns whether the requested resource version is newer than the server's: the server was restored from a
    /// backup, or its watch cache lags behind that of another replica.
    pub fn is_too_large_resource_version(&self) -> bool {
        // Servers before 1.17 send only the message, without the cause.
        self.has_cause(reason::RESOURCE_VERSION_TOO_LARGE)
            || (self.reason == reason::TIMEOUT && self.message.contains("Too large resource version"))
    }
}

/// Formats the message; if it is empty, the reason; if both are empty, the code.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.message.as_str(), self.reason.as_str()) {
            ("", "") => write!(f, "the server answered with status code {}", self.code),
            ("", reason) => f.write_str(reason),
            (message, _) => f.write_str(message),
        }
    }
}

/// For `deserialize_with`: an `int32` in Go; 0 for `null` and for a value out of range of `N`.
fn number<'de, D: Deserializer<'de>, N: TryFrom<i64> + Default>(deserializer: D) -> Result<N, D::Error> {
    let number: i64 = nullable(deserializer)?;
    Ok(N::try_from(number).unwrap_or_default())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_zero(seconds: &u32) -> bool {
    *seconds == 0
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn read(text: &str) -> Status {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn decodes_a_forbidden_status() {
        let status = read(
            r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":403,"reason":"Forbidden",
                "message":"namespaces \"x\" is being terminated","details":{"name":"web","kind":"endpointslices",
                "causes":[{"reason":"NamespaceTerminating","message":"m","field":"metadata.namespace"}]}}"#,
        );
        assert!(status.has_cause(reason::NAMESPACE_TERMINATING) && !status.is_expired());
        assert_eq!(status.to_string(), "namespaces \"x\" is being terminated");
    }

    #[rstest]
    #[case::code(r#"{"code":410}"#, true)]
    #[case::expired(r#"{"reason":"Expired"}"#, true)]
    #[case::gone(r#"{"reason":"Gone"}"#, true)]
    #[case::other(r#"{"code":404,"reason":"NotFound"}"#, false)]
    fn is_expired_by_code_or_reason(#[case] text: &str, #[case] expect: bool) {
        assert_eq!(read(text).is_expired(), expect);
    }

    #[rstest]
    #[case::cause(r#"{"reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}}"#, true)]
    #[case::old_server(r#"{"reason":"Timeout","message":"Too large resource version: 5, current: 3"}"#, true)]
    #[case::plain_timeout(r#"{"reason":"Timeout","details":{"causes":null}}"#, false)]
    fn is_too_large_by_cause_or_message(#[case] text: &str, #[case] expect: bool) {
        assert_eq!(read(text).is_too_large_resource_version(), expect);
    }

    #[rstest]
    #[case::nulls(r#"{"status":null,"code":null,"reason":null,"message":null,"details":null}"#, Status::default())]
    #[case::nulls_in_details(
        r#"{"details":{"name":null,"group":null,"kind":null,"uid":null,"causes":[{"reason":null,"message":null,"field":null}],
            "retryAfterSeconds":null}}"#,
        Status { details: Some(Details { causes: vec![Cause::default()], ..Details::default() }), ..Status::default() }
    )]
    #[case::out_of_range(
        r#"{"code":70000,"details":{"retryAfterSeconds":-1}}"#,
        Status { details: Some(Details::default()), ..Status::default() }
    )]
    fn decodes_like_go(#[case] text: &str, #[case] expect: Status) {
        assert_eq!(read(text), expect);
    }

    #[rstest]
    #[case(r#"{"code":502}"#, "the server answered with status code 502")]
    #[case(r#"{"code":404,"reason":"NotFound"}"#, "NotFound")]
    fn display_is_never_empty(#[case] text: &str, #[case] expect: &str) {
        assert_eq!(read(text).to_string(), expect);
    }
}
