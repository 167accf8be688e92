//! Tracks whether the API server accepts the credentials of a configuration.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::StatusCode;
use tokio::{sync::Notify, time::Instant};

/// State of the credentials of a configuration: whether the API server accepts them, from the status codes of the
/// responses to all its clients. Clones share the state.
#[derive(Debug, Clone, Default)]
pub struct Credentials(Arc<State>);

#[derive(Debug, Default)]
struct State {
    rejected_since: Mutex<Option<Instant>>,
    /// Notifies of each rejection, rather than of the first: what a credential plugin has returned then may be rejected too.
    rejection: Notify,
}

impl Credentials {
    /// Returns the time of the first 401 response since the credentials were last accepted. `None` while they are
    /// accepted, and before the first response.
    ///
    /// Requests without a response and 5xx responses, which may come from a load balancer, do not change the state.
    pub fn rejected_since(&self) -> Option<Instant> {
        *self.rejected()
    }

    pub(crate) fn record_response(&self, code: StatusCode, now: Instant) {
        if code == StatusCode::UNAUTHORIZED {
            self.rejected().get_or_insert(now);
            self.0.rejection.notify_one();
        } else if !code.is_server_error() {
            *self.rejected() = None;
        }
    }

    /// Waits for a 401 response after the end of the last call.
    pub(crate) async fn next_rejection(&self) {
        self.0.rejection.notified().await;
    }

    fn rejected(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.rejected_since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rstest::rstest;

    use super::*;

    /// Responses one second apart; expected second of `rejected_since`.
    #[rstest]
    #[case::none(&[], None)]
    #[case::accepted(&[200, 200], None)]
    #[case::rejected(&[200, 401, 401], Some(1))]
    #[case::never_accepted(&[401, 401], Some(0))]
    #[case::renewed(&[401, 200], None)]
    #[case::forbidden_counts_as_accepted(&[401, 403], None)]
    #[case::server_errors_change_nothing(&[401, 503, 500], Some(0))]
    #[tokio::test(start_paused = true)]
    async fn status_codes_update_the_state(#[case] codes: &[u16], #[case] rejected: Option<u64>) {
        let (credentials, start) = (Credentials::default(), Instant::now());
        let at = |second| start + Duration::from_secs(second);
        for (second, code) in (0..).zip(codes) {
            credentials.record_response(StatusCode::from_u16(*code).unwrap(), at(second));
        }
        assert_eq!(credentials.rejected_since(), rejected.map(at));
    }
}
