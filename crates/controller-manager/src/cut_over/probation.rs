//! The first minute of a leader: counts the writes that no change explains.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use kube_wire::{ObjectKey, ResourceVersion, Text};
use tokio::time::Instant;

/// Time after the first sync of a controller in which its writes are counted.
pub(super) const PERIOD: Duration = Duration::from_secs(60);
/// Time after which a plan without explanation is reviewed again before it counts: its explanation may be on the way, in
/// another watch.
pub(super) const RECHECK: Duration = Duration::from_secs(1);
/// Maximum number of examples in a [`Stop`].
const EXAMPLES: usize = 10;

/// Maximum number of unexplained writes of each controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limit {
    /// Fraction of all slices; there is no limit if it is at least 1.
    pub(super) fraction: f64,
    /// Lower bound of the limit.
    pub(super) minimum: usize,
}

impl Limit {
    /// Returns the limit for this number of slices; `None` if there is none.
    fn of(self, objects: usize) -> Option<usize> {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a fraction of a number of objects, rounded down"
        )]
        let share = || (objects as f64 * self.fraction) as usize;
        (self.fraction < 1.0).then(|| share().max(self.minimum))
    }
}

/// A plan of one sync that is not empty.
pub(super) struct Plan<'a> {
    pub(super) controller: &'static str,
    pub(super) key: &'a ObjectKey,
    /// Whether a change of an input explains the plan.
    pub(super) is_explained: bool,
    /// Whether an input is missing without an explanation, so that even the consequence of an explained write counts.
    pub(super) has_vanished: bool,
    /// The writes. A retry of a failed write has the same identity.
    pub(super) writes: Vec<WriteId>,
}

/// Identity of a planned write: the object and the state that it replaces.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum WriteId {
    /// The n-th create of a plan, with the newest version of the Service's objects.
    Create(usize, Option<u64>),
    /// The update or delete of an object.
    Replace(Text, ResourceVersion),
}

/// Result of [`Probation::decide`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Send,
    /// Withhold the writes, and review the key again after [`RECHECK`].
    Recheck,
    /// Withhold all writes from now on.
    Stop(Stop),
}

/// Why a leader stops to write.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stop {
    /// Number of unexplained writes, those of the withheld plan included.
    pub(super) planned: usize,
    pub(super) limit: usize,
    /// Number of slices that the limit was derived from.
    pub(super) objects: usize,
    /// Descriptions of the first unexplained writes.
    pub(super) examples: Vec<String>,
}

/// What was found about the plans of one key of a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Finding {
    Explained,
    /// These writes are not explained since this time, and not counted yet.
    Pending(Instant, Vec<WriteId>),
    Unexplained,
}

/// Counts the unexplained writes of each controller in its first [`PERIOD`].
pub(super) struct Probation {
    limit: Limit,
    /// Controllers that have not started to sync.
    waiting: BTreeSet<&'static str>,
    ends: HashMap<&'static str, Instant>,
    findings: HashMap<(&'static str, ObjectKey), Finding>,
    counted: HashSet<(&'static str, ObjectKey, WriteId)>,
    examples: Vec<String>,
}

impl Probation {
    /// Returns the state before the first sync.
    pub(super) fn new(limit: Limit, controllers: impl IntoIterator<Item = &'static str>) -> Probation {
        Probation {
            limit,
            waiting: controllers.into_iter().collect(),
            ends: HashMap::new(),
            findings: HashMap::new(),
            counted: HashSet::new(),
            examples: Vec::new(),
        }
    }

    /// Starts the period of a controller with its first sync. Returns whether it has ended.
    pub(super) fn is_over_for(&mut self, controller: &'static str, now: Instant) -> bool {
        self.waiting.remove(controller);
        *self.ends.entry(controller).or_insert(now + PERIOD) <= now
    }

    /// Returns whether the periods of all controllers have ended.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.waiting.is_empty() && self.ends.values().all(|end| *end <= now)
    }

    /// Records that the plan of a key is empty: a difference that was not explained is over.
    pub(super) fn settled(&mut self, controller: &'static str, key: &ObjectKey) {
        let id = (controller, key.clone());
        if matches!(self.findings.get(&id), Some(Finding::Pending(..))) {
            self.findings.remove(&id);
        }
    }

    /// Decides about a plan in the period of its controller. `objects` is the number of all slices, `describe` describes
    /// the n-th write of the plan.
    pub(super) fn decide(
        &mut self,
        now: Instant,
        plan: Plan<'_>,
        objects: usize,
        describe: impl Fn(usize) -> String,
    ) -> Decision {
        let Plan { controller, key, is_explained, has_vanished, writes } = plan;
        let Some(limit) = self.limit.of(objects) else { return Decision::Send };
        let finding = self.findings.get(&(controller, key.clone())).cloned();
        // A write that follows from an explained one, such as that of another slice, is explained.
        if is_explained || (finding == Some(Finding::Explained) && !has_vanished) {
            self.findings.insert((controller, key.clone()), Finding::Explained);
            return Decision::Send;
        }
        match finding {
            Some(Finding::Pending(since, pending)) if pending == writes => {
                if now < since + RECHECK {
                    return Decision::Recheck;
                }
            }
            None | Some(Finding::Explained | Finding::Pending(..)) => {
                self.findings.insert((controller, key.clone()), Finding::Pending(now, writes));
                return Decision::Recheck;
            }
            Some(Finding::Unexplained) => {}
        }
        let counted = |write: &WriteId| self.counted.contains(&(controller, key.clone(), write.clone()));
        let new: Vec<(usize, WriteId)> = writes.into_iter().enumerate().filter(|(_, write)| !counted(write)).collect();
        let free = EXAMPLES.saturating_sub(self.examples.len());
        self.examples.extend(new.iter().take(free).map(|(at, _)| describe(*at)));
        // Slices and Endpoints of one Service change together, so that each controller has the limit of its own.
        let planned = self.counted.iter().filter(|(of, ..)| *of == controller).count() + new.len();
        if planned > limit {
            return Decision::Stop(Stop { planned, limit, objects, examples: std::mem::take(&mut self.examples) });
        }
        self.counted.extend(new.into_iter().map(|(_, write)| (controller, key.clone(), write)));
        self.findings.insert((controller, key.clone()), Finding::Unexplained);
        Decision::Send
    }
}

#[cfg(test)]
mod tests;
