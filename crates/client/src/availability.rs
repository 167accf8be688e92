//! Whether the API server answers, shared by all clients of one configuration: a circuit breaker.

mod breaker;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, sleep, sleep_until},
};

use self::breaker::Breaker;
pub(crate) use self::breaker::{Attempt, Change};

/// Maximum random delay of a retry after a failure for which the server requests no delay.
const MAX_DELAY: Duration = Duration::from_secs(2);

/// Whether the API server answers: a circuit breaker that all clients of one configuration and its clones share, among
/// them those of its [service accounts](crate::Config::as_service_account).
///
/// Every attempt of a request updates it. The server is *unavailable* after three consecutive attempts of any client
/// that got no response (refused, lost or timed out) or a status of 500 or above, and *available* again after the first
/// other response, also an error such as 403 or 429. It is available at first.
///
/// Requests are not held back: a caller that wants to repeat one awaits [`wait_to_retry`](Self::wait_to_retry). While the server is
/// unavailable, one request at a time is retried, every 2 s at the latest. Its success ends the waits of all others, so
/// that an outage is over for every caller within 2 s of its end, with less than two requests a second in between.
///
/// Clones share the state.
#[derive(Clone, Default)]
pub struct Availability {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    breaker: Mutex<Breaker>,
    /// Notified by each recovery. Not a `watch` channel, which wakes its receivers in random order.
    recovered: Notify,
    /// Held while a caller waits for its turn to retry. First come, first served.
    turn: tokio::sync::Mutex<()>,
}

impl Availability {
    /// Returns whether the server is available.
    pub fn is_available(&self) -> bool {
        self.locked().is_available()
    }

    /// Returns when the server became available again after its last outage; `None` before the first.
    pub fn recovered_at(&self) -> Option<Instant> {
        self.locked().recovered_at
    }

    /// Returns a future that ends when the server becomes available after it was unavailable. Pending while it stays
    /// available.
    pub fn recovery(&self) -> impl Future<Output = ()> + Send + use<> {
        let (availability, before) = (self.clone(), self.locked().recoveries);
        async move {
            loop {
                let changed = availability.shared.recovered.notified();
                if availability.locked().recoveries != before {
                    return;
                }
                changed.await;
            }
        }
    }

    /// Waits before a request is repeated whose failure was the server's: no response, 429, or a status of 500 or above.
    ///
    /// Waits for `requested`, the delay that the server requests with `Retry-After`, or for a random time below 2 s, and then
    /// for the turn of this caller: retries of all callers are 0.5 s apart, less if more than five wait, and 0.5 s to 1.5 s
    /// while the server is unavailable. Without `requested`, the wait ends at once when the server becomes available.
    pub async fn wait_to_retry(&self, requested: Option<Duration>) {
        let (recovery, _waiting) = (self.recovery(), Waiting::new(self));
        let delay = requested.unwrap_or_else(|| MAX_DELAY.mul_f64(kube_ambient::random()));
        let turn = async {
            sleep(delay).await;
            let _turn = self.shared.turn.lock().await;
            let next = self.locked().next_retry(kube_ambient::random());
            if let Some(next) = next {
                sleep_until(next).await;
            }
            self.locked().retried(Instant::now());
        };
        tokio::select! {
            biased;
            () = recovery, if requested.is_none() => {}
            () = turn => {}
        }
    }

    /// Records the result of an attempt. Returns the change to report, if any.
    pub(crate) fn record(&self, attempt: Attempt, now: Instant) -> Option<Change> {
        let mut breaker = self.locked();
        let recoveries = breaker.recoveries;
        let change = breaker.record(attempt, now);
        let has_recovered = breaker.recoveries != recoveries;
        drop(breaker);
        if has_recovered {
            self.shared.recovered.notify_waiters();
        }
        change
    }

    fn locked(&self) -> MutexGuard<'_, Breaker> {
        self.shared.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A caller that waits for a retry.
struct Waiting<'a>(&'a Availability);

impl<'a> Waiting<'a> {
    fn new(availability: &'a Availability) -> Self {
        availability.locked().waiting += 1;
        Self(availability)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.locked().waiting -= 1;
    }
}

impl fmt::Debug for Availability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Availability").field("is_available", &self.is_available()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use tokio::task::JoinSet;

    use super::*;

    /// Callers that retry during an outage of 20 s: times of their attempts in milliseconds, and of the first success of
    /// each.
    async fn outage(callers: usize, requested: Option<Duration>, fails: bool) -> (Vec<u128>, Vec<u128>) {
        let (availability, start) = (Availability::default(), Instant::now());
        let attempts = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = JoinSet::new();
        for _ in 0..callers {
            let (availability, attempts) = (availability.clone(), Arc::clone(&attempts));
            tasks.spawn(async move {
                loop {
                    let now = start.elapsed();
                    if now >= Duration::from_secs(20) {
                        availability.record(Attempt::Answered, Instant::now());
                        return now.as_millis();
                    }
                    attempts.lock().unwrap().push(now.as_millis());
                    let attempt = if fails { Attempt::Failed } else { Attempt::Answered };
                    availability.record(attempt, Instant::now());
                    availability.wait_to_retry(requested).await;
                }
            });
        }
        let mut successes = tasks.join_all().await;
        successes.sort_unstable();
        (attempts.lock().unwrap().clone(), successes)
    }

    #[rstest]
    #[case::one(1, None, true, 2_000)]
    #[case::five(5, None, true, 2_000)]
    #[case::fifty(50, None, true, 2_000)]
    // The server answers, but not to these requests: with 429, or with an ERROR event of a watch.
    #[case::five_with_errors_of_a_watch(5, None, false, 3_000)]
    #[case::one_with_retry_after(1, Some(Duration::from_secs(1)), false, 1_001)]
    #[case::five_with_retry_after(5, Some(Duration::from_secs(1)), false, 3_000)]
    // The delay, and two rounds.
    #[case::fifty_with_retry_after(50, Some(Duration::from_secs(1)), false, 6_000)]
    #[tokio::test(start_paused = true)]
    async fn an_outage_is_over_for_all_callers_soon_after_its_end(
        #[case] callers: usize,
        #[case] requested: Option<Duration>,
        #[case] fails: bool,
        #[case] within: u128,
    ) {
        let (attempts, successes) = outage(callers, requested, fails).await;
        let last = *successes.last().unwrap();
        assert!(last <= 20_000 + within, "{successes:?}");
        // The first attempts are not retries.
        let retries = &attempts[callers..];
        if callers <= 5 || fails {
            assert!(retries.len() <= 40, "{} retries in 20 s", retries.len());
            assert!(retries.windows(2).all(|pair| pair[1] - pair[0] >= 499), "{retries:?}");
        }
        if fails && callers > 1 {
            assert!(retries.len() <= 25, "{} retries in 20 s", retries.len());
        }
    }
}
