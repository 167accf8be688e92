//! When a request is sent again, as client-go decides it.
//!
//! `kube`'s own rule repeats any 429, 503 or 504, writes included. client-go repeats only what the server asked to have
//! repeated with `Retry-After`, and reads whose connection broke; that is what a drop-in replacement must do.

use std::time::Duration;

use http::{HeaderMap, Method, StatusCode, header::RETRY_AFTER};
use kube_ambient::{Defect, has};

/// How often one request is sent again at most.
pub(crate) const MAX_RETRIES: u32 = 10;

/// Longest wait that is accepted from a server's `Retry-After` or `Status.details.retryAfterSeconds`: 30 s.
///
/// kube-apiserver asks for seconds (1 s when priority and fairness rejects a request). A longer value comes from a proxy or
/// a broken server, and without a bound stops a worker or an informer for as long as it says. client-go has no bound. 30 s
/// is the longest back-off of its reflector, so such a server is asked no more often than one that only fails.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(30);

/// The wait for a server that asks for `asked`.
pub(crate) fn bounded(asked: Duration) -> Duration {
    if has(Defect::LongRetryAfter) { asked } else { asked.min(MAX_RETRY_AFTER) }
}

/// What came of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// An answer; with what `Retry-After` says.
    Answered { code: StatusCode, retry_after: Option<u32> },
    /// The connection broke under the request.
    Reset,
    /// Another failure.
    Failed,
}

/// How long to wait before sending again; `None` when the outcome stands.
pub(crate) fn wait_before_retry(method: &Method, retries: u32, outcome: Outcome) -> Option<Duration> {
    if retries >= MAX_RETRIES {
        return None;
    }
    match outcome {
        Outcome::Answered { code, retry_after: Some(seconds) }
            if code == StatusCode::TOO_MANY_REQUESTS || code.is_server_error() =>
        {
            Some(bounded(Duration::from_secs(u64::from(seconds))))
        }
        // A read may have been answered by a connection that the server was closing; a write may have been carried out.
        Outcome::Reset if method == Method::GET => Some(Duration::from_secs(1)),
        _ => None,
    }
}

/// Seconds in `Retry-After`, at most [`MAX_RETRY_AFTER`]. `None` for a date, which client-go ignores too.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<u32> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Digits alone fail to parse only if the number is too large for a `u64`.
    let seconds = bounded(Duration::from_secs(text.parse().unwrap_or(u64::MAX))).as_secs();
    u32::try_from(seconds).ok()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use rstest::rstest;

    use super::*;

    fn answered(code: u16, retry_after: Option<u32>) -> Outcome {
        Outcome::Answered { code: StatusCode::from_u16(code).unwrap(), retry_after }
    }

    // client-go: TestIsNextRetry (rest/with_retry_test.go)
    #[rstest]
    #[case::ok(Method::GET, 0, answered(200, None), None)]
    #[case::busy(Method::POST, 0, answered(429, Some(3)), Some(3))]
    #[case::busy_now(Method::PUT, 0, answered(429, Some(0)), Some(0))]
    #[case::busy_without_word(Method::GET, 0, answered(429, None), None)]
    #[case::broken(Method::PUT, 0, answered(503, Some(1)), Some(1))]
    #[case::broken_without_word(Method::GET, 0, answered(500, None), None)]
    #[case::refused(Method::GET, 0, answered(404, Some(1)), None)]
    #[case::a_day(Method::POST, 0, answered(429, Some(86_400)), Some(30))]
    #[case::last(Method::GET, 9, answered(429, Some(1)), Some(1))]
    #[case::given_up(Method::GET, 10, answered(429, Some(1)), None)]
    #[case::read_reset(Method::GET, 0, Outcome::Reset, Some(1))]
    #[case::write_reset(Method::POST, 0, Outcome::Reset, None)]
    #[case::delete_reset(Method::DELETE, 0, Outcome::Reset, None)]
    #[case::away(Method::GET, 0, Outcome::Failed, None)]
    fn rule(#[case] method: Method, #[case] retries: u32, #[case] outcome: Outcome, #[case] expect: Option<u64>) {
        assert_eq!(wait_before_retry(&method, retries, outcome), expect.map(Duration::from_secs));
    }

    #[rstest]
    #[case("5", Some(5))]
    #[case(" 0 ", Some(0))]
    #[case("-1", None)]
    #[case("86400", Some(30))]
    #[case("4294967295", Some(30))]
    #[case("99999999999999999999", Some(30))]
    #[case("Wed, 21 Oct 2026 07:28:00 GMT", None)]
    fn header(#[case] text: &'static str, #[case] expect: Option<u32>) {
        let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(text))]);
        assert_eq!(retry_after(&headers), expect);
    }
}
