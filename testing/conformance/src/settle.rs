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
    use futures::future::join;
    use rstest::rstest;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const HALF: Duration = Duration::from_millis(500);

    #[derive(Clone, Copy)]
    enum Step {
        Sleep(Duration),
        /// A change in this namespace.
        Change(&'static str),
        /// Changes may have been missed.
        Gap,
        /// No task runs for this time.
        Busy(Duration),
    }
    use Step::{Busy, Change, Gap, Sleep};

    async fn run(changes: &Changes, steps: impl IntoIterator<Item = Step>) {
        for step in steps {
            match step {
                Sleep(time) => sleep(time).await,
                Change(namespace) => changes.note(namespace),
                Gap => changes.note_everywhere(),
                Busy(time) => tokio::time::advance(time).await,
            }
        }
    }

    /// Time until the namespace settles while the steps are repeated, in seconds. Times are accurate to one tick.
    #[rstest]
    #[case::counts_from_the_last_operation(1, &[Change("ns")], "3.0")]
    #[case::counts_from_the_last_change(3, &[Sleep(2 * SECOND), Change("ns"), Sleep(HALF), Change("elsewhere")], "10.0")]
    #[case::a_gap_in_what_is_seen_counts_as_a_change(1, &[Sleep(SECOND), Gap], "4.0")]
    #[case::time_that_a_busy_machine_loses_does_not_count(1, &[Sleep(SECOND), Busy(5 * SECOND)], "8.0")]
    #[case::nor_for_the_limit(10, &[Sleep(SECOND / 10), Busy(3 * SECOND)], "33.0")]
    #[case::gives_up(30, &[Sleep(SECOND), Change("ns")], "ns still changes 20 s after the last operation")]
    #[tokio::test(start_paused = true)]
    async fn settles(#[case] rounds: usize, #[case] steps: &[Step], #[case] expected: &str) {
        let changes = Changes::default();
        let start = Instant::now();
        let settled = async { changes.settled("ns", 3 * SECOND, 20 * SECOND).await.map(|()| start.elapsed()) };
        let steps = (0..rounds).flat_map(|_| steps.iter().copied());
        let settled = tokio::select! {
            biased;
            (settled, ()) = join(settled, run(&changes, steps)) => settled,
            () = changes.keep_time() => unreachable!("never ends"),
        };
        let actual = settled.map_or_else(|error| error.to_string(), |time| format!("{:.1}", time.as_secs_f64()));
        assert_eq!(actual, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn sleeps_longer_on_a_busy_machine() {
        let changes = Changes::default();
        let start = Instant::now();
        tokio::select! {
            biased;
            ((), ()) = join(changes.sleep(2 * SECOND), run(&changes, [Sleep(SECOND), Busy(5 * SECOND)])) => {}
            () = changes.keep_time() => {}
        }
        let (elapsed, lost) = (start.elapsed().as_secs_f64(), changes.lost().as_secs_f64());
        assert!((6.9..7.1).contains(&elapsed) && (4.9..5.1).contains(&lost), "{elapsed} s, {lost} s lost");
    }
}
