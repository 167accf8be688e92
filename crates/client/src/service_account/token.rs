//! State of a service account token: when to use it, when to request a new one. Time is an argument.

use std::time::Duration;

use http::HeaderValue;
use tokio::time::Instant;

/// Minimum lifetime assumed for a token; shorter lifetimes in the response are raised to it, as upstream does.
const MIN_LIFETIME: Duration = Duration::from_secs(600);
/// Initial and maximum back-off after a failed token request; doubled after each failure.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(4));

/// The token of one service account.
#[derive(Debug, Default)]
pub(super) struct TokenState {
    /// The `Authorization` header, and when to renew its token.
    current: Option<(HeaderValue, Instant)>,
    failure: Option<Failure>,
}

#[derive(Debug)]
struct Failure {
    cause: String,
    back_off: Duration,
    retry_at: Instant,
}

/// Action before a request is sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TokenAction {
    /// Send the request with this `Authorization` header.
    Use(HeaderValue),
    /// Request a token first.
    Request,
    /// Fail the request: the last token request failed for this reason, and its back-off is not over.
    Fail(String),
}

impl TokenState {
    pub(super) fn next_action(&self, now: Instant) -> TokenAction {
        let failure = self.failure.as_ref().filter(|failure| now < failure.retry_at);
        match (&self.current, failure) {
            (Some((header, renew_at)), failure) if now < *renew_at || failure.is_some() => {
                TokenAction::Use(header.clone())
            }
            (None, Some(failure)) => TokenAction::Fail(failure.cause.clone()),
            _ => TokenAction::Request,
        }
    }

    /// Returns whether there is a token to use if the next request for one fails.
    pub(super) fn is_renewed(&self) -> bool {
        self.current.is_some()
    }

    /// Stores a new token with a lifetime in seconds. It is renewed after 80% of the lifetime (CM-28), measured on the
    /// local monotonic clock, so that clock skew to the server does not matter.
    pub(super) fn store(&mut self, header: HeaderValue, seconds: u64, now: Instant) {
        let lifetime = Duration::from_secs(seconds.min(u64::from(u32::MAX))).max(MIN_LIFETIME);
        *self = TokenState { current: Some((header, now + lifetime * 4 / 5)), failure: None };
    }

    /// Records a failed token request and starts the back-off. Returns the previous token, which may still be valid.
    pub(super) fn record_failure(&mut self, cause: String, now: Instant) -> Option<HeaderValue> {
        let (initial, max) = BACK_OFF;
        let back_off = self.failure.as_ref().map_or(initial, |last| (last.back_off * 2).min(max));
        self.failure = Some(Failure { cause, back_off, retry_at: now + back_off });
        self.current.as_ref().map(|(header, _)| header.clone())
    }

    /// Drops the token if it is the one that the server rejected with 401.
    pub(super) fn reject(&mut self, header: &HeaderValue) {
        self.current.take_if(|(current, _)| current == header);
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

    #[rstest]
    #[case::an_hour(3_600, 2_880)]
    #[case::below_the_minimum(30, 480)]
    #[case::above_the_maximum(u64::MAX, 3_435_973_836)]
    #[tokio::test(start_paused = true)]
    async fn token_is_renewed_after_80_percent_of_its_lifetime(#[case] lifetime: u64, #[case] seconds: u64) {
        let (mut token, now) = (TokenState::default(), Instant::now());
        token.store(header("a"), lifetime, now);
        assert_eq!(token.next_action(after(now, seconds * 1_000 - 1)), TokenAction::Use(header("a")));
        assert_eq!(token.next_action(after(now, seconds * 1_000 + 1_000)), TokenAction::Request);
    }

    #[tokio::test(start_paused = true)]
    async fn requests_fail_during_the_back_off() {
        let (mut token, now) = (TokenState::default(), Instant::now());
        for (number, back_off) in [500, 1_000, 2_000, 4_000, 4_000].into_iter().enumerate() {
            let cause = number.to_string();
            assert_eq!(token.record_failure(cause.clone(), now), None);
            assert_eq!(token.next_action(after(now, back_off - 1)), TokenAction::Fail(cause));
            assert_eq!(token.next_action(after(now, back_off)), TokenAction::Request);
        }
        token.store(header("a"), 3_600, now);
        token.reject(&header("a"));
        assert_eq!(token.record_failure("again".to_owned(), now), None);
        assert_eq!(token.next_action(after(now, 500)), TokenAction::Request, "the back-off restarts");
    }

    #[tokio::test(start_paused = true)]
    async fn previous_token_is_used_while_renewal_fails() {
        let (mut token, start) = (TokenState::default(), Instant::now());
        token.store(header("a"), 3_600, start);
        let late = after(start, 3_000_000);
        assert_eq!(token.next_action(late), TokenAction::Request);
        assert_eq!(token.record_failure("no".to_owned(), late), Some(header("a")));
        assert_eq!(token.next_action(after(late, 499)), TokenAction::Use(header("a")));
        assert_eq!(token.next_action(after(late, 500)), TokenAction::Request);
        token.store(header("b"), 3_600, after(late, 500));
        assert_eq!(token.next_action(after(late, 500)), TokenAction::Use(header("b")));
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_rejected_token_is_dropped() {
        let (mut token, now) = (TokenState::default(), Instant::now());
        token.store(header("b"), 3_600, now);
        // The response to a request that was sent with the previous token.
        token.reject(&header("a"));
        assert_eq!(token.next_action(now), TokenAction::Use(header("b")));
        token.reject(&header("b"));
        assert_eq!(token.next_action(now), TokenAction::Request);
    }
}
