//! `metav1.Status`: what the server says when it refuses.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::json::nullable;

/// The values of [`Status::reason`] and [`Cause::reason`] that controllers tell apart.
pub mod reason {
    /// The object does not exist.
    pub const NOT_FOUND: &str = "NotFound";
    /// The object exists already.
    pub const ALREADY_EXISTS: &str = "AlreadyExists";
    /// The write was based on an old resourceVersion, or a precondition failed.
    pub const CONFLICT: &str = "Conflict";
    /// The caller may not do this.
    pub const FORBIDDEN: &str = "Forbidden";
    /// The resourceVersion or continue token is too old.
    pub const EXPIRED: &str = "Expired";
    /// The resource or history is gone.
    pub const GONE: &str = "Gone";
    /// The server could not answer in time.
    pub const TIMEOUT: &str = "Timeout";
    /// Cause of a [`FORBIDDEN`] write into a namespace that is going away.
    pub const NAMESPACE_TERMINATING: &str = "NamespaceTerminating";
    /// Cause of a [`TIMEOUT`]: the server has not yet seen the resourceVersion asked for.
    pub const RESOURCE_VERSION_TOO_LARGE: &str = "ResourceVersionTooLarge";
}

/// An error (or, rarely, a success) as the API server states it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// `Failure` or `Success`.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub status: String,
    /// The HTTP status code; 0 for a number that is none.
    #[serde(deserialize_with = "number")]
    pub code: u16,
    /// A word for programs, see [`reason`].
    #[serde(deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// A sentence for people.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
}

/// What a [`Status`] is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Details {
    /// Name of the object.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// API group of the resource.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The resource; in spite of the field's name usually the plural.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Identity of the object.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// Single reasons, such as one per invalid field.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// Seconds to wait before the next try; 0 if absent or negative.
    #[serde(deserialize_with = "number", skip_serializing_if = "is_zero")]
    pub retry_after_seconds: u32,
}

/// One reason among several.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cause {
    /// A word for programs.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// A sentence for people.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The field at fault.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "String::is_empty")]
    pub field: String,
}

impl Status {
    /// Whether a cause of this reason is given.
    pub fn has_cause(&self, reason: &str) -> bool {
        self.details.iter().flat_map(|details| &details.causes).any(|cause| cause.reason == reason)
    }

    /// Whether the version asked for is no longer in the server's history, so that only a new list helps.
    pub fn is_expired(&self) -> bool {
        self.code == 410 || self.reason == reason::EXPIRED || self.reason == reason::GONE
    }

    /// Whether the version asked for is ahead of the server: it was restored, or another replica lags.
    pub fn is_too_large_resource_version(&self) -> bool {
        // Servers before 1.17 give no cause, only the text.
        self.has_cause(reason::RESOURCE_VERSION_TOO_LARGE)
            || (self.reason == reason::TIMEOUT && self.message.contains("Too large resource version"))
    }
}

/// The server's message as it stands; its reason or code when there is none.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.message.as_str(), self.reason.as_str()) {
            ("", "") => write!(f, "the server answered with status code {}", self.code),
            ("", reason) => f.write_str(reason),
            (message, _) => f.write_str(message),
        }
    }
}

/// For `deserialize_with`: a number that Go holds in 32 bits with a sign; 0 for null and for a number out of range.
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
    fn reads_a_forbidden_write() {
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
    fn expired(#[case] text: &str, #[case] expect: bool) {
        assert_eq!(read(text).is_expired(), expect);
    }

    #[rstest]
    #[case::cause(r#"{"reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}}"#, true)]
    #[case::old_server(r#"{"reason":"Timeout","message":"Too large resource version: 5, current: 3"}"#, true)]
    #[case::plain_timeout(r#"{"reason":"Timeout","details":{"causes":null}}"#, false)]
    fn too_large(#[case] text: &str, #[case] expect: bool) {
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
    fn reads_what_go_reads(#[case] text: &str, #[case] expect: Status) {
        assert_eq!(read(text), expect);
    }

    #[rstest]
    #[case(r#"{"code":502}"#, "the server answered with status code 502")]
    #[case(r#"{"code":404,"reason":"NotFound"}"#, "NotFound")]
    fn always_says_something(#[case] text: &str, #[case] expect: &str) {
        assert_eq!(read(text).to_string(), expect);
    }
}
