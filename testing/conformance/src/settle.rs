//! Detection of settled namespaces: those without changes for some time.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Result, ensure};
use tokio::time::{Instant, sleep};

/// Time without changes after which a namespace is settled. The slice controller acts on events of slices after at
/// least 1 s, and its writes may cause another round.
pub const QUIET: Duration = Duration::from_millis(2600);

/// Interval at which the clock is advanced.
const TICK: Duration = Duration::from_millis(10);
/// Maximum advance of the clock per tick, however long the tick took.
const LONGEST_TICK: Duration = Duration::from_millis(15);

/// Times of the last observed changes, by namespace.
///
/// A lack of changes is meaningful only while the controllers get CPU time. It is therefore measured on a clock that
/// falls behind when the machine is overloaded: see [`keep_time`](Self::keep_time). Time limits are measured on it too:
/// otherwise a namespace that needs longer to settle for this reason alone would exceed its limit.
#[derive(Debug, Default)]
pub struct Changes {
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    clock: Duration,
    lost: Duration,
    namespaces: HashMap<String, Duration>,
    everywhere: Duration,
}

impl Changes {
    /// Records a change in `namespace`.
    pub fn note(&self, namespace: &str) {
        self.with(|seen| *seen.namespaces.entry(namespace.to_owned()).or_default() = seen.clock);
    }

    /// Records that any namespace may have changed.
    pub fn note_everywhere(&self) {
        self.with(|seen| seen.everywhere = seen.clock);
    }

    /// Advances the clock, and never returns. No namespace settles unless this runs.
    pub async fn keep_time(&self) {
        loop {
            let start = Instant::now();
            sleep(TICK).await;
            let passed = start.elapsed();
            let counted = passed.min(LONGEST_TICK);
            self.with(|seen| {
                seen.clock += counted;
                seen.lost += passed.saturating_sub(counted);
            });
        }
    }

    /// Returns the time on the clock.
    pub fn now(&self) -> Duration {
        self.with(|seen| seen.clock)
    }

    /// Returns the time by which the clock has fallen behind so far.
    pub fn lost(&self) -> Duration {
        self.with(|seen| seen.lost)
    }

    /// Returns the time of the last change in `namespace`; zero if it has not changed.
    pub fn last(&self, namespace: &str) -> Duration {
        self.with(|seen| seen.namespaces.get(namespace).copied().unwrap_or_default().max(seen.everywhere))
    }

    /// Waits for a time on the clock.
    pub async fn sleep(&self, time: Duration) {
        let end = self.now() + time;
        while self.now() < end {
            sleep(end.saturating_sub(self.now()).max(TICK)).await;
        }
    }

    /// Waits until `namespace` has not changed for `quiet`, counted from this call at the earliest.
    ///
    /// # Errors
    /// The namespace has not settled after `limit`.
    pub async fn settled(&self, namespace: &str, quiet: Duration, limit: Duration) -> Result<()> {
        let start = self.now();
        loop {
            let silent = self.now().saturating_sub(self.last(namespace).max(start));
            let lacking = quiet.saturating_sub(silent);
            if lacking.is_zero() {
                return Ok(());
            }
            ensure!(
                self.now().saturating_sub(start) < limit,
                "{namespace} still changes {} s after the last operation",
                limit.as_secs()
            );
            sleep(lacking.max(TICK)).await;
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Seen) -> T) -> T {
        act(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;
    use futures::future::join;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Returns the time until the namespace settles while `act` runs, in seconds. Times are accurate to one tick.
    async fn settles(changes: &Changes, act: impl Future<Output = ()>) -> Result<String> {
        let start = Instant::now();
        let settled = async { changes.settled("ns", 3 * SECOND, 20 * SECOND).await.map(|()| start.elapsed()) };
        let done = tokio::select! {
            biased;
            (settled, ()) = join(settled, act) => settled?,
            () = changes.keep_time() => bail!("the clock has stopped"),
        };
        Ok(format!("{:.1}", done.as_secs_f64()))
    }

    #[tokio::test(start_paused = true)]
    async fn counts_from_the_last_operation() {
        let changes = Changes::default();
        changes.note("ns");
        assert_eq!(settles(&changes, async {}).await.unwrap(), "3.0");
    }

    #[tokio::test(start_paused = true)]
    async fn counts_from_the_last_change() {
        let changes = Changes::default();
        let act = async {
            for _ in 0..3 {
                sleep(2 * SECOND).await;
                changes.note("ns");
                sleep(SECOND / 2).await;
                changes.note("elsewhere");
            }
        };
        assert_eq!(settles(&changes, act).await.unwrap(), "10.0");
    }

    #[tokio::test(start_paused = true)]
    async fn a_gap_in_what_is_seen_counts_as_a_change() {
        let changes = Changes::default();
        let act = async {
            sleep(SECOND).await;
            changes.note_everywhere();
        };
        assert_eq!(settles(&changes, act).await.unwrap(), "4.0");
    }

    #[tokio::test(start_paused = true)]
    async fn time_that_a_busy_machine_loses_does_not_count() {
        let changes = Changes::default();
        let act = async {
            sleep(SECOND).await;
            // As if no task had run for five seconds.
            tokio::time::advance(5 * SECOND).await;
        };
        assert_eq!(settles(&changes, act).await.unwrap(), "8.0");
    }

    /// Five times as long as on an idle machine, and longer than the limit.
    #[tokio::test(start_paused = true)]
    async fn time_that_a_busy_machine_loses_does_not_count_for_the_limit() {
        let changes = Changes::default();
        let act = async {
            for _ in 0..10 {
                sleep(SECOND / 10).await;
                tokio::time::advance(3 * SECOND).await;
            }
        };
        let settled = settles(&changes, act).await.unwrap();
        assert!(settled.parse::<f64>().unwrap() > 30.0, "{settled}");
    }

    #[tokio::test(start_paused = true)]
    async fn sleeps_longer_on_a_busy_machine() {
        let changes = Changes::default();
        let start = Instant::now();
        let act = async {
            sleep(SECOND).await;
            tokio::time::advance(5 * SECOND).await;
        };
        tokio::select! {
            biased;
            ((), ()) = join(changes.sleep(2 * SECOND), act) => {}
            () = changes.keep_time() => {}
        }
        let (elapsed, lost) = (start.elapsed().as_secs_f64(), changes.lost().as_secs_f64());
        assert!((6.9..7.1).contains(&elapsed) && (4.9..5.1).contains(&lost), "{elapsed} s, {lost} s lost");
    }

    #[tokio::test(start_paused = true)]
    async fn gives_up() {
        let changes = Changes::default();
        let act = async {
            for _ in 0..30 {
                sleep(SECOND).await;
                changes.note("ns");
            }
        };
        let error = settles(&changes, act).await.unwrap_err().to_string();
        assert_eq!(error, "ns still changes 20 s after the last operation");
    }
}
