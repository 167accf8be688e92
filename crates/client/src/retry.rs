//! Retry rules of one request, as in client-go (`rest/with_retry.go`).
//!
//! client-go retries responses 429 and 5xx with `Retry-After`, whatever the method, and GET requests whose connection
//! was reset. `kube` retries every 429, 503 and 504, including writes without `Retry-After`, and is therefore not used
//! here.

use std::time::Duration;

use http::{HeaderMap, Method, StatusCode, header::RETRY_AFTER};
use kube_wire::retry_after_seconds;

pub(crate) const MAX_RETRIES: u32 = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A response, with the seconds of `Retry-After`.
    Answered { code: StatusCode, retry_after: Option<u32> },
    /// The connection was lost before the response.
    Reset,
    /// Any other failure.
    Failed,
}

/// Returns the delay before the next attempt, or `None` if the request is not retried.
pub(crate) fn wait_before_retry(method: &Method, retries: u32, outcome: Outcome) -> Option<Duration> {
    if retries >= MAX_RETRIES {
        return None;
    }
    match outcome {
        Outcome::Answered { code, retry_after: Some(seconds) }
            if code == StatusCode::TOO_MANY_REQUESTS || code.is_server_error() =>
        {
            Some(Duration::from_secs(u64::from(seconds)))
        }
        // An idle connection may be closed by the server just as a request is sent. A write may have been applied.
        Outcome::Reset if method == Method::GET => Some(Duration::from_secs(1)),
        _ => None,
    }
}

/// Returns the seconds of `Retry-After`, at most [`MAX_RETRY_AFTER`](kube_wire::MAX_RETRY_AFTER); `None` without the
/// header or for a date.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<u32> {
    retry_after_seconds(headers.get(RETRY_AFTER)?.to_str().ok()?)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use rstest::rstest;

    use super::*;

    fn response(code: u16, retry_after: Option<u32>) -> Outcome {
        Outcome::Answered { code: StatusCode::from_u16(code).unwrap(), retry_after }
    }

    // client-go: TestIsNextRetry (rest/with_retry_test.go)
    #[rstest]
    #[case::ok(Method::GET, 0, response(200, None), None)]
    #[case::busy(Method::POST, 0, response(429, Some(3)), Some(3))]
    #[case::busy_now(Method::PUT, 0, response(429, Some(0)), Some(0))]
    #[case::busy_without_retry_after(Method::GET, 0, response(429, None), None)]
    #[case::broken(Method::PUT, 0, response(503, Some(1)), Some(1))]
    #[case::broken_without_retry_after(Method::GET, 0, response(500, None), None)]
    #[case::not_found(Method::GET, 0, response(404, Some(1)), None)]
    #[case::last_retry(Method::GET, 9, response(429, Some(1)), Some(1))]
    #[case::retries_exhausted(Method::GET, 10, response(429, Some(1)), None)]
    #[case::read_reset(Method::GET, 0, Outcome::Reset, Some(1))]
    #[case::write_reset(Method::POST, 0, Outcome::Reset, None)]
    #[case::delete_reset(Method::DELETE, 0, Outcome::Reset, None)]
    #[case::other_failure(Method::GET, 0, Outcome::Failed, None)]
    fn requests_are_retried_as_in_client_go(
        #[case] method: Method,
        #[case] retries: u32,
        #[case] outcome: Outcome,
        #[case] expect: Option<u64>,
    ) {
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
    fn retry_after_header_is_parsed(#[case] text: &'static str, #[case] expect: Option<u32>) {
        let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(text))]);
        assert_eq!(retry_after(&headers), expect);
    }
}
