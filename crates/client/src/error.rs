//! What can go wrong with a request.

use std::time::Duration;

use http::StatusCode;
use kube_wire::{
    Encoding, Status,
    protobuf::{Envelope, Fields, MalformedProtobuf},
    reason,
};

use crate::{Call, retry::bounded};

/// A request that did not do what was asked.
///
/// The text of [`Error::Api`] is the server's message and nothing else, because events repeat it to users; what was asked is in
/// [`Error::call`]. All other texts begin with the request. Causes are part of the text, not a source chain.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server refused.
    #[error("{status}")]
    Api {
        /// What was asked.
        call: Call,
        /// What the server said.
        status: Box<Status>,
    },
    /// The request or its answer did not get through.
    #[error("{call}: {cause}")]
    Transport {
        /// What was asked.
        call: Call,
        /// What kind of failure, as far as callers care.
        kind: TransportKind,
        /// What happened, outermost first.
        cause: String,
    },
    /// The [gate](crate::Client::gated) of the client is closed: this process no longer leads, or does not yet.
    #[error("{call}: not sent, or no answer waited for: this process does not lead")]
    Gated {
        /// What was asked.
        call: Call,
    },
    /// The client [is to end](crate::Client::until), and this was not sent yet.
    #[error("{call}: not sent: the process is about to end")]
    Ended {
        /// What was asked.
        call: Call,
    },
    /// The object could not be written as JSON, or the request could not be built.
    #[error("{call}: cannot build the request: {cause}")]
    Request {
        /// What was asked.
        call: Call,
        /// What is wrong with it.
        cause: String,
    },
    /// The server answered with something else than expected.
    #[error("{call}: cannot read the answer: {cause}")]
    Answer {
        /// What was asked.
        call: Call,
        /// What is wrong with the answer.
        cause: String,
    },
}

/// How a request failed to get through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransportKind {
    /// No connection: the server is away, or the TLS handshake failed. The request was not sent.
    Connect,
    /// The connection was lost; the server may or may not have acted.
    Reset,
    /// No answer in time; the server may or may not have acted.
    Timeout,
    /// Anything else.
    Other,
}

impl Error {
    /// What was asked.
    pub fn call(&self) -> &Call {
        match self {
            Self::Api { call, .. }
            | Self::Transport { call, .. }
            | Self::Gated { call }
            | Self::Ended { call }
            | Self::Request { call, .. }
            | Self::Answer { call, .. } => call,
        }
    }

    /// What the server said, when it was the server who refused.
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Api { status, .. } => Some(status),
            _ => None,
        }
    }

    /// The object does not exist.
    pub fn is_not_found(&self) -> bool {
        self.is(reason::NOT_FOUND, StatusCode::NOT_FOUND)
    }

    /// The object exists already.
    pub fn is_already_exists(&self) -> bool {
        self.status().is_some_and(|status| status.reason == reason::ALREADY_EXISTS)
    }

    /// Whether the server may have carried out the request nevertheless: no answer arrived, or that of an internal error.
    pub fn is_unanswered(&self) -> bool {
        match self {
            Self::Api { status, .. } => status.code >= 500,
            Self::Transport { kind, .. } => *kind != TransportKind::Connect,
            Self::Gated { .. } | Self::Answer { .. } => true,
            Self::Ended { .. } | Self::Request { .. } => false,
        }
    }

    /// Somebody else wrote first, or a precondition does not hold.
    pub fn is_conflict(&self) -> bool {
        self.is(reason::CONFLICT, StatusCode::CONFLICT)
    }

    /// The server does not allow this.
    pub fn is_forbidden(&self) -> bool {
        self.is(reason::FORBIDDEN, StatusCode::FORBIDDEN)
    }

    /// The version or continue token asked for is no longer in the server's history.
    pub fn is_expired(&self) -> bool {
        self.status().is_some_and(Status::is_expired)
    }

    /// The namespace of the object to create is going away: trying again is pointless.
    pub fn is_namespace_terminating(&self) -> bool {
        self.is_forbidden() && self.status().is_some_and(|status| status.has_cause(reason::NAMESPACE_TERMINATING))
    }

    /// The server asks to slow down.
    pub fn is_too_many_requests(&self) -> bool {
        self.status().is_some_and(|status| status.code == StatusCode::TOO_MANY_REQUESTS.as_u16())
    }

    /// How long the server asks to wait before the next try, at most [`MAX_RETRY_AFTER`](crate::MAX_RETRY_AFTER). `None` if it
    /// does not ask.
    pub fn retry_after(&self) -> Option<Duration> {
        let seconds = self.status()?.details.as_ref()?.retry_after_seconds;
        (seconds > 0).then(|| bounded(Duration::from_secs(u64::from(seconds))))
    }

    /// As client-go: by reason, and by code only where none is given or it means nothing.
    fn is(&self, reason: &str, code: StatusCode) -> bool {
        self.status().is_some_and(|status| {
            status.reason == reason
                || (status.code == code.as_u16() && !KNOWN_REASONS.contains(&status.reason.as_str()))
        })
    }
}

/// The reasons that upstream's servers give.
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

/// The status in the body of an answer; one made from the code where the body is not a status (a proxy's page, say).
pub(crate) fn status_of(code: StatusCode, retry_after: Option<u32>, encoding: Encoding, body: &[u8]) -> Status {
    let read = match encoding {
        Encoding::Json => serde_json::from_slice(body).ok(),
        Encoding::Protobuf => protobuf_status(body).ok(),
    };
    let mut status: Status = match read {
        Some(status) if status.code != 0 || !status.message.is_empty() || !status.reason.is_empty() => status,
        _ => unexplained(code, body),
    };
    if status.code == 0 {
        status.code = code.as_u16();
    }
    if let Some(seconds) = retry_after {
        let details = status.details.get_or_insert_default();
        if details.retry_after_seconds == 0 {
            details.retry_after_seconds = seconds;
        }
    }
    status
}

fn protobuf_status(body: &[u8]) -> Result<Status, MalformedProtobuf> {
    match Envelope::open(body)? {
        Envelope { kind: "Status", object, .. } => Status::from_fields(Fields::new(object)),
        _ => Ok(Status::default()),
    }
}

fn unexplained(code: StatusCode, body: &[u8]) -> Status {
    // Enough of a proxy's page to recognise it; the rest would drown the log.
    let text = String::from_utf8_lossy(&body[..body.len().min(200)]);
    let text = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let colon = if text.is_empty() { "" } else { ": " };
    let message = format!("the server answered {code}{colon}{text}");
    Status { status: "Failure".to_owned(), code: code.as_u16(), message, ..Status::default() }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn api(code: u16, body: &str) -> Error {
        let status = status_of(StatusCode::from_u16(code).unwrap(), None, Encoding::Json, body.as_bytes());
        Error::Api { call: Call::new("update", "endpoints", "shop", "web"), status: Box::new(status) }
    }

    #[rstest]
    #[case::plain_404(404, "404 page not found", "not_found")]
    #[case::not_found(404, r#"{"kind":"Status","reason":"NotFound","code":404}"#, "not_found")]
    #[case::odd_reason(404, r#"{"kind":"Status","reason":"Unknown","code":404}"#, "not_found")]
    #[case::another_reason(404, r#"{"kind":"Status","reason":"BadRequest","code":404}"#, "")]
    #[case::exists(409, r#"{"kind":"Status","reason":"AlreadyExists","code":409}"#, "already_exists")]
    #[case::conflict(409, r#"{"kind":"Status","reason":"Conflict","code":409}"#, "conflict")]
    #[case::forbidden(403, r#"{"kind":"Status","reason":"Forbidden","code":403}"#, "forbidden")]
    #[case::terminating(
        403,
        r#"{"reason":"Forbidden","code":403,"details":{"causes":[{"reason":"NamespaceTerminating"}]}}"#,
        "forbidden namespace_terminating"
    )]
    #[case::expired(410, r#"{"reason":"Expired","code":410}"#, "expired")]
    #[case::busy(429, "{}", "too_many_requests")]
    #[case::other(500, "{}", "unanswered")]
    fn classes(#[case] code: u16, #[case] body: &str, #[case] expect: &str) {
        let error = api(code, body);
        let classes = [
            (error.is_not_found(), "not_found"),
            (error.is_already_exists(), "already_exists"),
            (error.is_conflict(), "conflict"),
            (error.is_forbidden(), "forbidden"),
            (error.is_namespace_terminating(), "namespace_terminating"),
            (error.is_expired(), "expired"),
            (error.is_too_many_requests(), "too_many_requests"),
            (error.is_unanswered(), "unanswered"),
        ];
        let classes: Vec<_> = classes.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect();
        assert_eq!(classes.join(" "), expect);
    }

    #[rstest]
    #[case(r#"{"message":"endpoints \"web\" not found","code":404}"#, "endpoints \"web\" not found")]
    #[case("\n<html>gateway</html>\n", "the server answered 404 Not Found: <html>gateway</html>")]
    #[case("", "the server answered 404 Not Found")]
    fn repeats_the_server(#[case] body: &str, #[case] expect: &str) {
        assert_eq!(api(404, body).to_string(), expect);
    }

    #[rstest]
    #[case::status(b"k8s\0\x0a\x08\x12\x06Status\x12\x04\x1a\x02no", "no")]
    #[case::other(b"k8s\0\x0a\x05\x12\x03Pod\x12\x04\x1a\x02no", "the server answered 404 Not Found: k8s\0")]
    #[case::broken(b"k8s\0\x0a", "the server answered 404 Not Found: k8s\0")]
    fn reads_protobuf(#[case] body: &[u8], #[case] expect: &str) {
        let status = status_of(StatusCode::NOT_FOUND, None, Encoding::Protobuf, body);
        assert!(status.to_string().starts_with(expect), "{status}");
        assert_eq!(status.code, 404);
    }

    #[rstest]
    #[case(0, None)]
    #[case(7, Some(7))]
    #[case(86_400, Some(30))]
    #[case(u32::MAX, Some(30))]
    fn retry_after_of_the_status_is_capped(#[case] seconds: u32, #[case] expect: Option<u64>) {
        let error = api(429, &format!(r#"{{"code":429,"details":{{"retryAfterSeconds":{seconds}}}}}"#));
        assert_eq!(error.retry_after(), expect.map(Duration::from_secs));
    }

    #[test]
    fn retry_after_comes_from_the_header_too() {
        let status = status_of(StatusCode::TOO_MANY_REQUESTS, Some(7), Encoding::Json, b"busy");
        let error = Error::Api { call: Call::new("list", "pods", "", ""), status: Box::new(status) };
        assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    }
}
