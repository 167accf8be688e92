//! The end of a run: the state has to meet the rules, writes have to end, and queues have to be empty.

use std::time::Duration;

use tokio::time::Instant;

use crate::run::{Limits, Run};
use crate::world::World;

/// Time between two looks at the state.
const LOOK: Duration = Duration::from_millis(500);
/// Time between two looks at queues once writes have ended.
const WAIT: Duration = Duration::from_secs(10);

impl Run {
    /// Returns queues with more pending keys than the rules expect.
    fn waiting(&self) -> Vec<String> {
        let too_many = |(queue, count): (&str, usize)| {
            let may = self.world.rules.may_wait(queue, &self.world.server);
            (count > may).then(|| format!("{count} keys of {queue} are pending at the end, {may} are expected"))
        };
        kube_ambient::pending().into_iter().filter_map(too_many).collect()
    }

    /// Waits until the state meets the rules, nothing is written any more and no work waits. Returns how long the first took.
    pub(crate) async fn settle(&mut self, limits: Limits) -> Option<Duration> {
        let began = Instant::now();
        let mut look = Look::default();
        loop {
            look.again(&self.world);
            if look.is_still && look.differences.is_empty() {
                let after = began.elapsed();
                self.until(Instant::now() + limits.quiet).await;
                // A key whose sync failed may wait for its retry although an event has had it synced meanwhile.
                while self.world.writes() == look.writes {
                    let waiting = self.waiting();
                    if waiting.is_empty() {
                        return Some(after);
                    }
                    if began.elapsed() >= limits.settle {
                        for what in waiting {
                            self.world.violated(what);
                        }
                        return None;
                    }
                    self.until(Instant::now() + WAIT).await;
                }
            }
            if began.elapsed() >= limits.settle {
                for difference in look.verdict(&self.world) {
                    self.world.violated(format!("{:?} after the last fault: {difference}", began.elapsed()));
                }
                return None;
            }
            self.until(Instant::now() + LOOK).await;
        }
    }
}

/// What was seen when the state was last looked at.
#[derive(Default)]
struct Look {
    writes: u64,
    /// Whether nothing had been written since the look before.
    is_still: bool,
    revision: u64,
    differences: Vec<String>,
}

impl Look {
    /// Compares the state with the rules, which is expensive, unless something was written since the last look.
    fn again(&mut self, world: &World) {
        let (writes, revision) = (world.writes(), world.server.revision());
        self.is_still = std::mem::replace(&mut self.writes, writes) == writes;
        if self.is_still && self.revision != revision {
            self.differences = world.rules.differences(&world.server);
            self.revision = revision;
        }
    }

    /// What is wrong at the end of the time for settling.
    fn verdict(&mut self, world: &World) -> Vec<String> {
        if self.is_still && world.writes() == self.writes && !self.differences.is_empty() {
            return std::mem::take(&mut self.differences);
        }
        vec!["writes have not ended".to_owned()]
    }
}
