//! The [`Error`] of a request.

use http::StatusCode;
use kube_wire::{Encoding, Status, reason};
use tower::BoxError;

use crate::Call;

/// Error of a request, with its [`Call`].
///
/// The message of [`Error::Api`] is the server's message only, because events show it to users; [`Error::call`] names
/// the request. All other messages begin with the [`Call`]. A message does not contain that of its source: print the
/// whole [source chain](std::error::Error::source), as `{:#}` of `anyhow` does.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server returned an error status.
    #[error("{status}")]
    Api {
        /// The failed request.
        call: Call,
        /// Status from the response body, or built from the HTTP status code if the body contains none.
        status: Box<Status>,
    },
    /// The request was not sent or its response not received: connection, TLS, proxy, timeout or service account token.
    #[error("{call}")]
    Transport {
        /// The failed request.
        call: Call,
        /// Class of the failure.
        kind: TransportKind,
        /// Error of the connection, or the reason why the request was not sent.
        source: BoxError,
    },
    /// The [gate](crate::Client::gated) of the client is closed: this process is not the leader. The request was not
    /// sent, or was dropped before the response; in the latter case the server may have applied it.
    #[error("{call}: not sent, or no answer waited for: this process does not lead")]
    Gated {
        /// The failed request.
        call: Call,
    },
    /// The request was not sent, or not sent again, because the client is [shutting down](crate::Client::with_shutdown).
    #[error("{call}: not sent: the process is about to end{}", call.earlier_attempt())]
    ShuttingDown {
        /// The failed request.
        call: Call,
    },
    /// The client is [read-only](crate::ClientOptions::read_only) and the request is a write. It was not sent.
    #[error("{call}: not sent: the client is read-only")]
    ReadOnly {
        /// The failed request.
        call: Call,
    },
    /// The object could not be encoded as JSON, or the request is invalid.
    #[error("{call}: cannot build the request")]
    Request {
        /// The failed request.
        call: Call,
        /// Reason.
        source: BoxError,
    },
    /// The response was successful, but its body or content type is not as expected. The server may have applied the
    /// request.
    #[error("{call}: invalid response")]
    InvalidResponse {
        /// The failed request.
        call: Call,
        /// Reason.
        source: BoxError,
    },
}

/// Class of a transport failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransportKind {
    /// No connection: the server or proxy is unreachable, or the TLS handshake failed. The request was not sent.
    Connect,
    /// The connection was lost. The server may have applied the request.
    Reset,
    /// The request timed out. The server may have applied it.
    Timeout,
    /// Any other failure.
    Other,
}

impl Error {
    /// Returns the verb, resource, namespace and name of the failed request.
    pub fn call(&self) -> &Call {
        match self {
            Self::Api { call, .. }
            | Self::Transport { call, .. }
            | Self::Gated { call }
            | Self::ShuttingDown { call }
            | Self::ReadOnly { call }
            | Self::Request { call, .. }
            | Self::InvalidResponse { call, .. } => call,
        }
    }

    /// Returns the error status that the server sent; `None` unless the error is [`Error::Api`].
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Api { status, .. } => Some(status),
            _ => None,
        }
    }

    /// Returns whether the server returned `NotFound`.
    pub fn is_not_found(&self) -> bool {
        self.status().is_some_and(Status::is_not_found)
    }

    /// Returns whether the server returned `AlreadyExists`.
    pub fn is_already_exists(&self) -> bool {
        self.status().is_some_and(|status| status.reason == reason::ALREADY_EXISTS)
    }

    /// Returns whether the server may have applied the request despite the error: there was no response, an invalid one
    /// or a 5xx, or the write gate was closed. Also if that holds for an earlier attempt that the client has repeated: a
    /// create may fail with `AlreadyExists` because of itself.
    pub fn may_have_been_applied(&self) -> bool {
        self.call().is_repeated
            || match self {
                Self::Api { status, .. } => status.code >= 500,
                Self::Transport { kind, .. } => *kind != TransportKind::Connect,
                Self::Gated { .. } | Self::InvalidResponse { .. } => true,
                Self::ShuttingDown { .. } | Self::ReadOnly { .. } | Self::Request { .. } => false,
            }
    }

    /// Returns whether the request failed because of the server or the credentials, not because of what it contains: no
    /// response, an invalid one, 401, 429, or a status of 500 or above. A webhook that is down is answered with 500, one that
    /// denies a request with a status below.
    pub fn is_server_failure(&self) -> bool {
        match self {
            Self::Api { status, .. } => status.code >= 500 || matches!(status.code, 401 | 429),
            Self::Transport { .. } | Self::InvalidResponse { .. } => true,
            Self::Gated { .. } | Self::ShuttingDown { .. } | Self::ReadOnly { .. } | Self::Request { .. } => false,
        }
    }

    /// Returns whether the server returned `Unauthorized`: the credentials are not valid.
    pub fn is_unauthorized(&self) -> bool {
        self.status().is_some_and(|status| status.code == 401)
    }

    /// Returns whether there was no connection to the server, see [`TransportKind::Connect`].
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Transport { kind: TransportKind::Connect, .. })
    }

    /// Returns whether the server returned `Conflict`: the resource version is not the current one, or a precondition
    /// does not hold.
    pub fn is_conflict(&self) -> bool {
        self.status().is_some_and(Status::is_conflict)
    }

    /// Returns whether the server returned `Forbidden`: RBAC or admission rejected the request.
    pub fn is_forbidden(&self) -> bool {
        self.status().is_some_and(Status::is_forbidden)
    }

    /// Returns whether the requested resource version or continue token has expired (410), which requires a relist.
    pub fn is_expired(&self) -> bool {
        self.status().is_some_and(Status::is_expired)
    }

    /// Returns whether a create failed because the namespace is terminating. Retries cannot succeed.
    pub fn is_namespace_terminating(&self) -> bool {
        self.is_forbidden() && self.status().is_some_and(|status| status.has_cause(reason::NAMESPACE_TERMINATING))
    }
}

pub(crate) fn status_of(code: StatusCode, retry_after: Option<u32>, encoding: Encoding, body: &[u8]) -> Status {
    let phrase = code.canonical_reason().unwrap_or("<unknown status code>");
    let mut status = Status::of_response(code.as_u16(), phrase, encoding, body);
    if let Some(seconds) = retry_after {
        status.set_retry_after(seconds);
    }
    status
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
    #[case::not_found_without_status(404, "404 page not found", "not_found")]
    #[case::not_found(404, r#"{"kind":"Status","reason":"NotFound","code":404}"#, "not_found")]
    #[case::unknown_reason(404, r#"{"kind":"Status","reason":"Unknown","code":404}"#, "not_found")]
    #[case::other_known_reason(404, r#"{"kind":"Status","reason":"BadRequest","code":404}"#, "")]
    #[case::already_exists(409, r#"{"kind":"Status","reason":"AlreadyExists","code":409}"#, "already_exists")]
    #[case::conflict(409, r#"{"kind":"Status","reason":"Conflict","code":409}"#, "conflict")]
    #[case::forbidden(403, r#"{"kind":"Status","reason":"Forbidden","code":403}"#, "forbidden")]
    #[case::terminating(
        403,
        r#"{"reason":"Forbidden","code":403,"details":{"causes":[{"reason":"NamespaceTerminating"}]}}"#,
        "forbidden namespace_terminating"
    )]
    #[case::code_of_a_proxy(503, r#"{"code":14,"message":"upstream connect error"}"#, "unanswered server")]
    #[case::status_code_of_a_proxy(503, r#"{"code":404,"message":"no route"}"#, "unanswered server")]
    #[case::invalid_code(503, r#"{"kind":"Status","status":"Failure","code":14}"#, "unanswered server")]
    #[case::code_of_a_status(503, r#"{"kind":"Status","status":"Failure","code":404}"#, "not_found")]
    #[case::expired(410, r#"{"reason":"Expired","code":410}"#, "expired")]
    #[case::too_many_requests(429, "{}", "server")]
    #[case::unauthorized(401, "{}", "server")]
    #[case::quota(403, r#"{"reason":"Forbidden","code":403}"#, "forbidden")]
    #[case::invalid(422, "{}", "")]
    #[case::no_space(500, r#"{"message":"etcdserver: mvcc: database space exceeded","code":500}"#, "unanswered server")]
    #[case::other(503, "{}", "unanswered server")]
    fn predicates_match_the_api_error(#[case] code: u16, #[case] body: &str, #[case] expect: &str) {
        let error = api(code, body);
        let classes = [
            (error.is_not_found(), "not_found"),
            (error.is_already_exists(), "already_exists"),
            (error.is_conflict(), "conflict"),
            (error.is_forbidden(), "forbidden"),
            (error.is_namespace_terminating(), "namespace_terminating"),
            (error.is_expired(), "expired"),
            (error.may_have_been_applied(), "unanswered"),
            (error.is_server_failure(), "server"),
            (error.is_unreachable(), "unreachable"),
        ];
        let classes: Vec<_> = classes.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect();
        assert_eq!(classes.join(" "), expect);
    }

    #[rstest]
    #[case(r#"{"message":"endpoints \"web\" not found","code":404}"#, "endpoints \"web\" not found")]
    #[case("\n<html>gateway</html>\n", "the server answered 404 Not Found: <html>gateway</html>")]
    #[case("", "the server answered 404 Not Found")]
    fn display_is_the_message_of_the_server(#[case] body: &str, #[case] expect: &str) {
        assert_eq!(api(404, body).to_string(), expect);
    }
}
