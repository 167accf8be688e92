//! `metav1.Status`, the body of an error response.

use std::{fmt, time::Duration};

use serde::{Deserialize, Deserializer};

use crate::{
    Encoding,
    json::nullable,
    protobuf::{Envelope, Fields, MalformedProtobuf},
};

/// Upper bound of the delay from `Retry-After` or [`Details::retry_after_seconds`] that clients and informers obey: 30 s.
///
/// kube-apiserver sends values of a few seconds (1 s if API priority and fairness rejects a request). A longer value
/// comes from a proxy or a broken server, and without a bound would block a worker or an informer for that time.
/// client-go has no bound. 30 s is the maximum back-off of its reflector, so a server with a longer value gets no more
/// requests than a failing one.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(30);

/// Parses the seconds of a header `Retry-After`, at most [`MAX_RETRY_AFTER`]. Ignores dates, as client-go.
///
/// ```
/// use kube_wire::retry_after_seconds;
///
/// assert_eq!([" 5 ", "86400", "soon"].map(retry_after_seconds), [Some(5), Some(30), None]);
/// ```
pub fn retry_after_seconds(header: &str) -> Option<u32> {
    let text = header.trim();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // A string of digits fails to parse only if it overflows `u64`.
    u32::try_from(text.parse().unwrap_or(u64::MAX).min(MAX_RETRY_AFTER.as_secs())).ok()
}

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

/// `metav1.Status`: the API server's description of a failed request, without the fields that no client decides by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// HTTP status code; 0 if absent or out of range.
    #[serde(deserialize_with = "number")]
    pub code: u16,
    /// Machine-readable reason, see [`reason`].
    #[serde(deserialize_with = "nullable")]
    pub reason: String,
    /// Human-readable message.
    #[serde(deserialize_with = "nullable")]
    pub message: String,
    /// Object and causes.
    pub details: Option<Details>,
}

/// `metav1.StatusDetails`: the object and the causes of a [`Status`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Details {
    /// Name of the object.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Causes of the error, such as one per invalid field.
    #[serde(deserialize_with = "nullable")]
    pub causes: Vec<Cause>,
    /// Seconds to wait before a retry; 0 if absent or negative.
    #[serde(deserialize_with = "number")]
    pub retry_after_seconds: u32,
}

/// `metav1.StatusCause`: one cause of a [`Status`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Cause {
    /// Machine-readable reason.
    #[serde(deserialize_with = "nullable")]
    pub reason: String,
}

impl Status {
    /// Returns the status in the body of a response with this status code and reason phrase. If the body is not a
    /// status, such as a proxy's page, returns one with the code and the first line of the body.
    ///
    /// The code is that of the response unless the body is of the kind `Status` and has a code from 400 to 599: proxies
    /// also send JSON with a `code`, for example one of gRPC.
    pub fn of_response(code: u16, phrase: &str, encoding: Encoding, body: &[u8]) -> Self {
        let decoded = match encoding {
            Encoding::Json => in_json(body).ok(),
            Encoding::Protobuf => in_protobuf(body).ok(),
        };
        let mut status: Status = match decoded {
            Some(status) if status != Status::default() => status,
            _ => without_status(code, phrase, body),
        };
        if !(400..600).contains(&status.code) {
            status.code = code;
        }
        status
    }

    /// Sets [`Details::retry_after_seconds`] from the header `Retry-After`, unless the server has set it.
    pub fn set_retry_after(&mut self, seconds: u32) {
        let details = self.details.get_or_insert_default();
        if details.retry_after_seconds == 0 {
            details.retry_after_seconds = seconds;
        }
    }

    /// Returns whether one of the causes has this reason.
    pub fn has_cause(&self, reason: &str) -> bool {
        self.details.iter().flat_map(|details| &details.causes).any(|cause| cause.reason == reason)
    }

    /// Returns whether the object does not exist.
    pub fn is_not_found(&self) -> bool {
        self.has_reason(reason::NOT_FOUND, 404)
    }

    /// Returns whether the resource version of a write is not the current one, or a precondition does not hold.
    pub fn is_conflict(&self) -> bool {
        self.has_reason(reason::CONFLICT, 409)
    }

    /// Returns whether RBAC or admission rejected the request.
    pub fn is_forbidden(&self) -> bool {
        self.has_reason(reason::FORBIDDEN, 403)
    }

    /// Compares the reason, or the code if the reason is empty or unknown, as client-go does (`apierrors.IsNotFound`).
    fn has_reason(&self, reason: &str, code: u16) -> bool {
        self.reason == reason || (self.code == code && !KNOWN_REASONS.contains(&self.reason.as_str()))
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

/// Status reasons defined by Kubernetes (`metav1.StatusReason`).
const KNOWN_REASONS: [&str; 18] = [
    "AlreadyExists",
    "BadRequest",
    "Conflict",
    "Expired",
    "Forbidden",
    "Gone",
    "InternalError",
    "Invalid",
    "MethodNotAllowed",
    "NotAcceptable",
    "NotFound",
    "RequestEntityTooLarge",
    "ServerTimeout",
    "ServiceUnavailable",
    "Timeout",
    "TooManyRequests",
    "Unauthorized",
    "UnsupportedMediaType",
];

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

fn in_json(body: &[u8]) -> serde_json::Result<Status> {
    #[derive(Deserialize)]
    struct Body {
        kind: Option<String>,
        #[serde(flatten)]
        status: Status,
    }

    let Body { kind, status } = serde_json::from_slice(body)?;
    Ok(if kind.as_deref() == Some("Status") { status } else { Status { code: 0, ..status } })
}

fn in_protobuf(body: &[u8]) -> Result<Status, MalformedProtobuf> {
    match Envelope::open(body)? {
        Envelope { kind: "Status", object, .. } => Status::from_fields(Fields::new(object)),
        _ => Ok(Status::default()),
    }
}

fn without_status(code: u16, phrase: &str, body: &[u8]) -> Status {
    // The first 200 bytes identify a proxy's page without flooding the log.
    let text = String::from_utf8_lossy(&body[..body.len().min(200)]);
    let text = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let colon = if text.is_empty() { "" } else { ": " };
    let message = format!("the server answered {code} {phrase}{colon}{text}");
    Status { code, message, ..Status::default() }
}

/// For `deserialize_with`: an `int32` in Go; 0 for `null` and for a value out of range of `N`.
fn number<'de, D: Deserializer<'de>, N: TryFrom<i64> + Default>(deserializer: D) -> Result<N, D::Error> {
    let number: i64 = nullable(deserializer)?;
    Ok(N::try_from(number).unwrap_or_default())
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
    #[case::nulls(r#"{"code":null,"reason":null,"message":null,"details":null}"#, Status::default())]
    #[case::nulls_in_details(
        r#"{"details":{"name":null,"causes":[{"reason":null}],"retryAfterSeconds":null}}"#,
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
    #[case::status(b"k8s\0\x0a\x08\x12\x06Status\x12\x04\x1a\x02no", "no")]
    #[case::other(b"k8s\0\x0a\x05\x12\x03Pod\x12\x04\x1a\x02no", "the server answered 404 Not Found: k8s\0")]
    #[case::broken(b"k8s\0\x0a", "the server answered 404 Not Found: k8s\0")]
    fn status_is_decoded_from_protobuf(#[case] body: &[u8], #[case] expect: &str) {
        let status = Status::of_response(404, "Not Found", Encoding::Protobuf, body);
        assert!(status.to_string().starts_with(expect), "{status}");
        assert_eq!(status.code, 404);
    }

    #[rstest]
    #[case(r#"{"code":502}"#, "the server answered with status code 502")]
    #[case(r#"{"code":404,"reason":"NotFound"}"#, "NotFound")]
    fn display_is_never_empty(#[case] text: &str, #[case] expect: &str) {
        assert_eq!(read(text).to_string(), expect);
    }
}
