//! A limit on the rate of something, and the queue of callers that wait for it.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

/// Queue of callers that are let through at a limited rate, in order of arrival: at most `limit` in any `period`.
#[derive(Debug)]
pub(crate) struct Pacer {
    limit: usize,
    period: Duration,
    /// The last times at which a caller was let through, at most `limit`, oldest first. The mutex is the queue: it is fair,
    /// and its holder waits.
    passed: Mutex<VecDeque<Instant>>,
}

impl Pacer {
    pub(crate) fn new(limit: usize, period: Duration) -> Self {
        Self { limit, period, passed: Mutex::default() }
    }

    /// Waits for the turn of the caller. A caller that is cancelled uses up no turn.
    pub(crate) async fn turn(&self) {
        let mut passed = self.passed.lock().await;
        if passed.len() >= self.limit {
            sleep_until(passed[0] + self.period).await;
            passed.pop_front();
        }
        passed.push_back(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::JoinSet;
    use tokio::time::{advance, timeout};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn callers_go_through_in_order_at_the_limited_rate() {
        let (pacer, start) = (std::sync::Arc::new(Pacer::new(2, SECOND)), Instant::now());
        let mut callers = JoinSet::new();
        for caller in 0..6_u64 {
            let pacer = std::sync::Arc::clone(&pacer);
            callers.spawn(async move {
                pacer.turn().await;
                (caller, start.elapsed().as_secs())
            });
        }
        let mut through = callers.join_all().await;
        through.sort_unstable();
        assert_eq!(through, [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (5, 2)]);
    }

    #[tokio::test(start_paused = true)]
    async fn cancelled_caller_uses_up_no_turn() {
        let pacer = Pacer::new(1, SECOND);
        pacer.turn().await;
        for _ in 0..10 {
            assert!(timeout(Duration::from_millis(10), pacer.turn()).await.is_err());
        }
        advance(Duration::from_millis(900)).await;
        timeout(Duration::ZERO, pacer.turn()).await.unwrap();
    }
}
