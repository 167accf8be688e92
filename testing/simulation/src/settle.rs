//! The end of a run: the state must meet the rules, writes must end, and work queues must be empty.

use std::time::Duration;

use tokio::time::Instant;

use crate::pending;
use crate::run::{Limits, Run};
use crate::run_state::RunState;

/// Interval between checks of the state.
const LOOK: Duration = Duration::from_millis(500);
/// Interval between checks of the work queues once writes have ended.
const WAIT: Duration = Duration::from_secs(10);

impl Run {
    /// Returns a violation for each controller with more pending keys than the rules allow.
    fn waiting(&self) -> Vec<String> {
        let too_many = |(controller, count): (String, usize)| {
            let may = self.state.rules.max_pending(&controller, &self.state.server);
            (count > may).then(|| format!("{count} keys of {controller} are pending at the end, {may} are expected"))
        };
        pending::keys(self.processes.metrics()).into_iter().filter_map(too_many).collect()
    }

    /// Waits until the state meets the rules, writes have ended and no queue has keys that the rules do not allow.
    ///
    /// Returns the time until the state met the rules. After [`Limits::settle`], reports violations and returns `None`.
    pub(crate) async fn settle(&mut self, limits: Limits) -> Option<Duration> {
        let began = Instant::now();
        let mut look = Look::default();
        loop {
            look.again(&self.state);
            if look.is_still && look.differences.is_empty() {
                let after = began.elapsed();
                self.until(Instant::now() + limits.quiet).await;
                // A key whose sync failed may still wait for its retry after an event has caused a successful sync.
                while self.state.writes() == look.writes {
                    let waiting = self.waiting();
                    if waiting.is_empty() {
                        return Some(after);
                    }
                    if began.elapsed() >= limits.settle {
                        for what in waiting {
                            self.state.violated(what);
                        }
                        return None;
                    }
                    self.until(Instant::now() + WAIT).await;
                }
            }
            if began.elapsed() >= limits.settle {
                for difference in look.verdict(&self.state) {
                    self.state.violated(format!("{:?} after the last fault: {difference}", began.elapsed()));
                }
                return None;
            }
            self.until(Instant::now() + LOOK).await;
        }
    }
}

/// Result of the last check of the state.
#[derive(Default)]
struct Look {
    writes: u64,
    /// Whether there were no writes since the previous check.
    is_still: bool,
    revision: u64,
    differences: Vec<String>,
}

impl Look {
    /// Checks the state. The expensive comparison with the rules is made only if there were no writes since the last
    /// check and the revision has changed since the last comparison.
    fn again(&mut self, run_state: &RunState) {
        let (writes, revision) = (run_state.writes(), run_state.server.revision());
        self.is_still = std::mem::replace(&mut self.writes, writes) == writes;
        if self.is_still && self.revision != revision {
            self.differences = run_state.rules.differences(&run_state.server);
            self.revision = revision;
        }
    }

    /// Returns the violations at the time limit.
    fn verdict(&mut self, run_state: &RunState) -> Vec<String> {
        if self.is_still && run_state.writes() == self.writes && !self.differences.is_empty() {
            return std::mem::take(&mut self.differences);
        }
        vec!["writes have not ended".to_owned()]
    }
}
