//! A limit on the rate of something, and the queue of those that wait for it.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

/// Rate limit: at most `limit` starts in any `period`.
#[derive(Debug)]
struct Window {
    limit: usize,
    period: Duration,
    /// The last starts, at most `limit`, oldest first.
    starts: VecDeque<Instant>,
}

impl Window {
    fn new(limit: usize, period: Duration) -> Self {
        Self { limit: limit.max(1), period, starts: VecDeque::new() }
    }

    /// Returns when the next start is allowed: `now`, or later.
    fn next(&self, now: Instant) -> Instant {
        match self.starts.front() {
            Some(oldest) if self.starts.len() >= self.limit => now.max(*oldest + self.period),
            _ => now,
        }
    }

    /// Counts a start at `now`.
    fn start(&mut self, now: Instant) {
        if self.starts.len() >= self.limit {
            self.starts.pop_front();
        }
        self.starts.push_back(now);
    }
}

/// Queue of callers that are let through at a limited rate, in order of arrival.
#[derive(Debug)]
pub(crate) struct Pacer(Mutex<Window>);

impl Pacer {
    /// Returns a pacer that lets at most `limit` callers through in any `period`.
    pub(crate) fn new(limit: usize, period: Duration) -> Self {
        Self(Mutex::new(Window::new(limit, period)))
    }

    /// Waits for the turn of the caller. A caller that is cancelled uses up no turn.
    pub(crate) async fn turn(&self) {
        // The mutex is the queue: it is fair, and its holder waits for the window.
        let mut window = self.0.lock().await;
        sleep_until(window.next(Instant::now())).await;
        window.start(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::task::JoinSet;
    use tokio::time::{advance, timeout};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    proptest! {
        /// Whatever the arrivals, no period contains more than `limit` starts, and no start waits while there are fewer.
        #[test]
        fn no_period_contains_more_starts_than_the_limit(limit in 1_usize..6, gaps in prop::collection::vec(0_u64..700, 1..60)) {
            let (mut window, begin) = (Window::new(limit, SECOND), Instant::now());
            let (mut now, mut starts) = (begin, Vec::<Instant>::new());
            for gap in gaps {
                now += Duration::from_millis(gap);
                let next = window.next(now);
                let recent = starts.iter().filter(|it| now < **it + SECOND).count();
                prop_assert_eq!(next > now, recent >= limit);
                now = next;
                window.start(now);
                starts.push(now);
                let in_the_last_period = starts.iter().filter(|it| now < **it + SECOND).count();
                prop_assert!(in_the_last_period <= limit);
            }
        }
    }

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
