//! State of a service account token: when to use it, when to request a new one. Time is an argument.

use std::time::Duration;

use http::HeaderValue;
use tokio::time::Instant;

/// Minimum lifetime assumed for a token; shorter lifetimes in the response are raised to it, as upstream does.
const LEAST_LIFETIME: Duration = Duration::from_secs(600);
/// Initial and maximum back-off after a failed token request; doubled after each failure.
const PAUSE: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(4));

/// The token of one service account.
#[derive(Debug, Default)]
pub(super) struct Token {
    current: Option<Current>,
    failure: Option<Failure>,
}

#[derive(Debug)]
struct Current {
    header: HeaderValue,
    renew_at: Instant,
}

#[derive(Debug)]
struct Failure {
    cause: String,
    pause: Duration,
    until: Instant,
}

/// Action before a request is sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Send the request with this `Authorization` header.
    Use(HeaderValue),
    /// Request a token first.
    Ask,
    /// Fail the request: the last token request failed for this reason, and its back-off is not over.
    Fail(String),
}

impl Token {
    pub(super) fn next(&self, now: Instant) -> Next {
        let current = self.current.as_ref();
        match (current, &self.failure) {
            (Some(current), _) if now < current.renew_at => Next::Use(current.header.clone()),
            (Some(current), Some(failure)) if now < failure.until => Next::Use(current.header.clone()),
            (None, Some(failure)) if now < failure.until => Next::Fail(failure.cause.clone()),
            _ => Next::Ask,
        }
    }

    /// Stores a new token with a lifetime in seconds. It is renewed after 80% of the lifetime (CM-28), measured on the
    /// local monotonic clock, so that clock skew to the server does not matter.
    pub(super) fn received(&mut self, header: HeaderValue, seconds: u64, now: Instant) {
        let lifetime = Duration::from_secs(seconds.min(u64::from(u32::MAX))).max(LEAST_LIFETIME);
        *self = Token { current: Some(Current { header, renew_at: now + lifetime * 4 / 5 }), failure: None };
    }

    /// Records a failed token request and starts the back-off. Returns the previous token, which may still be valid.
    pub(super) fn failed(&mut self, cause: String, now: Instant) -> Option<HeaderValue> {
        let (shortest, longest) = PAUSE;
        let pause = self.failure.as_ref().map_or(shortest, |last| (last.pause * 2).min(longest));
        self.failure = Some(Failure { cause, pause, until: now + pause });
        self.current.as_ref().map(|current| current.header.clone())
    }

    /// Drops the token if it is the one that the server rejected with 401.
    pub(super) fn rejected(&mut self, header: &HeaderValue) {
        if self.current.as_ref().is_some_and(|current| current.header == header) {
            self.current = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn header(text: &'static str) -> HeaderValue {
        HeaderValue::from_static(text)
    }

    fn after(start: Instant, milliseconds: u64) -> Instant {
        start + Duration::from_millis(milliseconds)
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_is_asked_for_once_and_used() {
        let (mut token, now) = (Token::default(), Instant::now());
        assert_eq!(token.next(now), Next::Ask);
        token.received(header("a"), 3_600, now);
        assert_eq!(token.next(now), Next::Use(header("a")));
    }

    #[rstest]
    #[case::an_hour(3_600, 2_880)]
    #[case::less_than_is_believed(30, 480)]
    #[case::nonsense(u64::MAX, 3_435_973_836)]
    #[tokio::test(start_paused = true)]
    async fn is_renewed_after_four_fifths(#[case] lifetime: u64, #[case] seconds: u64) {
        let (mut token, now) = (Token::default(), Instant::now());
        token.received(header("a"), lifetime, now);
        assert_eq!(token.next(after(now, seconds * 1_000 - 1)), Next::Use(header("a")));
        assert_eq!(token.next(after(now, seconds * 1_000 + 1_000)), Next::Ask);
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_failure_others_fail_too_for_a_while() {
        let (mut token, now) = (Token::default(), Instant::now());
        for (number, pause) in [500, 1_000, 2_000, 4_000, 4_000].into_iter().enumerate() {
            let cause = number.to_string();
            assert_eq!(token.failed(cause.clone(), now), None);
            assert_eq!(token.next(after(now, pause - 1)), Next::Fail(cause));
            assert_eq!(token.next(after(now, pause)), Next::Ask);
        }
        token.received(header("a"), 3_600, now);
        token.rejected(&header("a"));
        assert_eq!(token.failed("again".to_owned(), now), None);
        assert_eq!(token.next(after(now, 500)), Next::Ask, "the back-off restarts");
    }

    #[tokio::test(start_paused = true)]
    async fn an_old_token_is_used_while_there_is_no_new_one() {
        let (mut token, start) = (Token::default(), Instant::now());
        token.received(header("a"), 3_600, start);
        let late = after(start, 3_000_000);
        assert_eq!(token.next(late), Next::Ask);
        assert_eq!(token.failed("no".to_owned(), late), Some(header("a")));
        assert_eq!(token.next(after(late, 499)), Next::Use(header("a")));
        assert_eq!(token.next(after(late, 500)), Next::Ask);
        token.received(header("b"), 3_600, after(late, 500));
        assert_eq!(token.next(after(late, 500)), Next::Use(header("b")));
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_token_that_was_rejected_is_dropped() {
        let (mut token, now) = (Token::default(), Instant::now());
        token.received(header("b"), 3_600, now);
        // The response to a request that was sent with the previous token.
        token.rejected(&header("a"));
        assert_eq!(token.next(now), Next::Use(header("b")));
        token.rejected(&header("b"));
        assert_eq!(token.next(now), Next::Ask);
    }
}
