//! Resync periods of handlers. The current time is an argument.

use std::time::Duration;

use tokio::time::Instant;

/// Minimum resync period of a handler, as in client-go (`minimumResyncPeriod`).
const MIN_PERIOD: Duration = Duration::from_secs(1);

/// Period at which an informer checks which handlers are due for a resync (client-go: `resyncCheckPeriod`): the
/// shortest that a handler requested before the informer was started.
#[derive(Debug)]
pub(crate) struct ResyncCheck {
    /// Resync period of handlers that request none.
    default: Duration,
    /// Period of the checks; zero disables resyncs.
    period: Duration,
    started: bool,
}

/// Resync schedule of one handler.
#[derive(Debug)]
pub(crate) struct ResyncSchedule {
    /// Requested period; zero disables resyncs.
    requested: Duration,
    /// Effective period: the requested one, but at least the check period.
    period: Duration,
    /// The end of the period in which the next resync falls.
    next: Instant,
    syncing: bool,
}

impl ResyncCheck {
    /// Returns the checks of an informer whose own resync period is `period`; zero disables resyncs.
    pub(crate) fn new(period: Duration) -> Self {
        Self { default: period, period, started: false }
    }

    pub(crate) fn default(&self) -> Duration {
        self.default
    }

    /// Lowers the check period to that of a handler. Does nothing once the informer is started or if resyncs are
    /// disabled.
    pub(crate) fn request(&mut self, period: Duration) {
        if !self.started && period > Duration::ZERO {
            self.period = self.period.min(period.max(MIN_PERIOD));
        }
    }

    /// Marks the informer as started and returns the check period; `None` if resyncs are disabled.
    pub(crate) fn start(&mut self) -> Option<Duration> {
        self.started = true;
        Some(self.period).filter(|period| !period.is_zero())
    }
}

impl ResyncSchedule {
    pub(crate) fn new(requested: Duration, check: &ResyncCheck, now: Instant) -> Self {
        let requested = if requested.is_zero() { requested } else { requested.max(MIN_PERIOD) };
        let mut schedule = Self { requested, period: Duration::ZERO, next: now, syncing: true };
        schedule.check_changed(check);
        schedule.next = now + schedule.period;
        schedule
    }

    /// Sets the effective period after a change of the check period.
    pub(crate) fn check_changed(&mut self, check: &ResyncCheck) {
        let never = self.requested.is_zero() || check.period.is_zero();
        self.period = if never { Duration::ZERO } else { self.requested.max(check.period) };
    }

    /// Returns whether the check at `now` resyncs the handler: whether it is the last check that is not later than the
    /// end of the handler's period, or the first one after it.
    ///
    /// Periods follow each other without a gap, even if a check is late, so that none is skipped. A handler added
    /// between two checks gets its first resync within one period. client-go's `processorListener` counts each period
    /// from the previous check and skips a check that comes slightly earlier than that.
    pub(crate) fn take(&mut self, now: Instant, check: &ResyncCheck) -> bool {
        self.syncing = !self.period.is_zero() && now + check.period > self.next;
        if self.syncing {
            let late = now.saturating_duration_since(self.next);
            // After a suspension there is one resync, not one per missed period.
            self.next = if late < check.period { self.next } else { now } + self.period;
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
    async fn check_period_is_the_shortest_requested() {
        let (mut check, now, mut handlers) = (ResyncCheck::new(seconds(12 * 3600)), Instant::now(), Vec::new());
        for (requested, check_period) in [(0, 12 * 3600), (60, 60), (55, 55), (5, 5), (0, 5), (90, 5)] {
            check.request(seconds(requested));
            handlers.push(ResyncSchedule::new(seconds(requested), &check, now));
            for schedule in &mut handlers {
                schedule.check_changed(&check);
            }
            assert_eq!(check.period, seconds(check_period), "after a handler with a period of {requested} s");
        }
        let periods: Vec<_> = handlers.iter().map(|schedule| schedule.period.as_secs()).collect();
        assert_eq!(periods, [0, 60, 55, 5, 0, 90]);
    }

    // IN-44
    #[tokio::test(start_paused = true)]
    async fn check_period_is_fixed_after_start() {
        let (mut check, now) = (ResyncCheck::new(seconds(30)), Instant::now());
        assert_eq!(check.start(), Some(seconds(30)));
        check.request(seconds(10));
        assert_eq!(ResyncSchedule::new(seconds(10), &check, now).period, seconds(30));
        let mut none = ResyncCheck::new(Duration::ZERO);
        none.request(seconds(10));
        assert_eq!(ResyncSchedule::new(seconds(10), &none, now).period, Duration::ZERO);
        assert_eq!(none.start(), None);
        let mut frequent = ResyncCheck::new(seconds(30));
        frequent.request(Duration::from_millis(1));
        assert_eq!(frequent.start(), Some(MIN_PERIOD));
    }

    #[tokio::test(start_paused = true)]
    async fn next_resync_is_due_one_period_after_the_last() {
        let (check, now) = (ResyncCheck::new(seconds(1)), Instant::now());
        let mut schedule = ResyncSchedule::new(seconds(2), &check, now);
        let times = [1, 2, 3, 4, 7, 8, 9].map(|at| schedule.take(now + seconds(at), &check));
        assert_eq!(times, [false, true, false, true, true, false, true]);
        assert!(!ResyncSchedule::new(Duration::ZERO, &check, now).take(now + seconds(100), &check));
    }

    proptest::proptest! {
        // Checks are up to 500 ms late, and the handler is added at any time before the first one.
        #[test]
        fn late_checks_skip_no_resync(
            added in 0..10_000_u64,
            lags in proptest::collection::vec(0..500_u64, 2..50),
        ) {
            let (check, start) = (ResyncCheck::new(seconds(10)), Instant::now());
            let mut schedule = ResyncSchedule::new(seconds(10), &check, start + Duration::from_millis(added));
            for (number, lag) in (1..).zip(lags) {
                assert!(schedule.take(start + seconds(10) * number + Duration::from_millis(lag), &check), "check {number}");
            }
        }
    }
}
