//! Resync periods of handlers. The current time is an argument.

use std::time::Duration;

use tokio::time::Instant;

/// Minimum resync period of a handler, as in client-go (`minimumResyncPeriod`).
const SHORTEST: Duration = Duration::from_secs(1);

/// Period at which an informer checks which handlers are due for a resync (client-go: `resyncCheckPeriod`): the
/// shortest that a handler requested before the informer was started.
#[derive(Debug)]
pub(crate) struct Check {
    /// Resync period of handlers that request none.
    default: Duration,
    /// Period of the checks; zero disables resyncs.
    every: Duration,
    started: bool,
}

/// Resync schedule of one handler.
#[derive(Debug)]
pub(crate) struct Due {
    /// Requested period; zero disables resyncs.
    asked: Duration,
    /// Effective period: the requested one, but at least the check period.
    every: Duration,
    /// The end of the period in which the next resync falls.
    next: Instant,
    syncing: bool,
}

impl Check {
    /// Returns the checks of an informer whose own resync period is `every`; zero disables resyncs.
    pub(crate) fn new(every: Duration) -> Self {
        Self { default: every, every, started: false }
    }

    pub(crate) fn default(&self) -> Duration {
        self.default
    }

    /// Lowers the check period to that of a handler. Does nothing once the informer is started or if resyncs are
    /// disabled.
    pub(crate) fn ask(&mut self, every: Duration) {
        if !self.started && every > Duration::ZERO {
            self.every = self.every.min(every.max(SHORTEST));
        }
    }

    /// Marks the informer as started and returns the check period; `None` if resyncs are disabled.
    pub(crate) fn start(&mut self) -> Option<Duration> {
        self.started = true;
        Some(self.every).filter(|every| !every.is_zero())
    }
}

impl Due {
    pub(crate) fn new(asked: Duration, check: &Check, now: Instant) -> Self {
        let asked = if asked.is_zero() { asked } else { asked.max(SHORTEST) };
        let mut due = Self { asked, every: Duration::ZERO, next: now, syncing: true };
        due.check_changed(check);
        due.next = now + due.every;
        due
    }

    /// Sets the effective period after a change of the check period.
    pub(crate) fn check_changed(&mut self, check: &Check) {
        let never = self.asked.is_zero() || check.every.is_zero();
        self.every = if never { Duration::ZERO } else { self.asked.max(check.every) };
    }

    /// Returns whether the check at `now` resyncs the handler: whether it is the last check that is not later than the
    /// end of the handler's period, or the first one after it.
    ///
    /// Periods follow each other without a gap, even if a check is late, so that none is skipped. A handler added
    /// between two checks gets its first resync within one period. client-go's `processorListener` counts each period
    /// from the previous check and skips a check that comes slightly earlier than that.
    pub(crate) fn take(&mut self, now: Instant, check: &Check) -> bool {
        self.syncing = !self.every.is_zero() && now + check.every > self.next;
        if self.syncing {
            let late = now.saturating_duration_since(self.next);
            // After a suspension there is one resync, not one per missed period.
            self.next = if late < check.every { self.next } else { now } + self.every;
        }
        self.syncing
    }

    /// Returns whether the handler gets the unchanged objects of a relist: before the first check, and after a check
    /// that resynced it. This is the flag in client-go's `sharedProcessor.listeners` (IN-38).
    pub(crate) fn is_syncing(&self) -> bool {
        self.syncing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    // client-go: TestResyncCheckPeriod (tools/cache/shared_informer_test.go)
    #[tokio::test(start_paused = true)]
    async fn the_most_eager_handler_says_how_often_the_informer_looks() {
        let (mut check, now, mut handlers) = (Check::new(seconds(12 * 3600)), Instant::now(), Vec::new());
        for (asked, looks) in [(0, 12 * 3600), (60, 60), (55, 55), (5, 5), (0, 5), (90, 5)] {
            check.ask(seconds(asked));
            handlers.push(Due::new(seconds(asked), &check, now));
            for due in &mut handlers {
                due.check_changed(&check);
            }
            assert_eq!(check.every, seconds(looks), "after a handler with a period of {asked} s");
        }
        let periods: Vec<_> = handlers.iter().map(|due| due.every.as_secs()).collect();
        assert_eq!(periods, [0, 60, 55, 5, 0, 90]);
    }

    // IN-44
    #[tokio::test(start_paused = true)]
    async fn once_started_nothing_is_done_more_often() {
        let (mut check, now) = (Check::new(seconds(30)), Instant::now());
        assert_eq!(check.start(), Some(seconds(30)));
        check.ask(seconds(10));
        assert_eq!(Due::new(seconds(10), &check, now).every, seconds(30));
        let mut none = Check::new(Duration::ZERO);
        none.ask(seconds(10));
        assert_eq!(Due::new(seconds(10), &none, now).every, Duration::ZERO);
        assert_eq!(none.start(), None);
        let mut eager = Check::new(seconds(30));
        eager.ask(Duration::from_millis(1));
        assert_eq!(eager.start(), Some(SHORTEST));
    }

    #[tokio::test(start_paused = true)]
    async fn is_due_a_period_after_it_was_due() {
        let (check, now) = (Check::new(seconds(1)), Instant::now());
        let mut due = Due::new(seconds(2), &check, now);
        let times = [1, 2, 3, 4, 7, 8, 9].map(|at| due.take(now + seconds(at), &check));
        assert_eq!(times, [false, true, false, true, true, false, true]);
        assert!(!Due::new(Duration::ZERO, &check, now).take(now + seconds(100), &check));
    }

    proptest::proptest! {
        // Checks are up to 500 ms late, and the handler is added at any time before the first one.
        #[test]
        fn no_check_is_skipped_however_late_it_wakes(
            added in 0..10_000_u64,
            lags in proptest::collection::vec(0..500_u64, 2..50),
        ) {
            let (check, start) = (Check::new(seconds(10)), Instant::now());
            let mut due = Due::new(seconds(10), &check, start + Duration::from_millis(added));
            for (number, lag) in (1..).zip(lags) {
                assert!(due.take(start + seconds(10) * number + Duration::from_millis(lag), &check), "check {number}");
            }
        }
    }
}
