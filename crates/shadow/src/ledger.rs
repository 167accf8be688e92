//! The results of all comparisons. No client and no clock: the time is an argument.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

use kube_endpoint_model::ObjectKey;
use kube_endpoints_explain::DifferenceClass;
use tokio::time::Instant;

use crate::drains::{Drains, WINDOW};
use crate::mismatches::{Mismatches, ObjectMismatch};
use crate::writer::{LEASE_PERIOD, LeaseReading, Writer, WriterState};

/// Digest of the objects that a plan depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    /// Digest of the objects that the controller reads only.
    pub(crate) inputs: u64,
    /// Digest of the objects that it writes.
    pub(crate) outputs: u64,
}

/// Why a plan was computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A change for which the controller syncs.
    Change,
    /// A comparison only: a change for which the controller does not sync, or the period of comparisons.
    Comparison,
    /// The first sync, a retry, or the end of the required period.
    #[default]
    Other,
}

/// Plan of one controller for one Service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison<'a> {
    /// Name of the controller, as in `--controllers`.
    pub(crate) controller: &'static str,
    pub(crate) key: &'a ObjectKey,
    /// Digest of the objects in the caches, taken after the plan.
    pub(crate) fingerprint: Fingerprint,
    pub(crate) cause: Cause,
    /// Whether the plan has no writes.
    pub(crate) is_empty: bool,
}

/// What follows from a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Nothing: the plan is empty, or a recorded mismatch has not changed.
    Done,
    /// Compare again after this time, if no event causes it earlier: the difference has not lasted long enough.
    Again(Duration),
    /// [Record](Ledger::record) the difference: both sides have settled.
    Mismatch,
}

/// State of one Service and controller.
#[derive(Debug)]
struct Entry {
    compared: Instant,
    fingerprint: Fingerprint,
    /// Boxed, since most plans are empty.
    pending: Option<Box<Pending>>,
    /// Classes of the open mismatch; empty without one.
    open: BTreeSet<DifferenceClass>,
}

/// A plan that is not empty.
#[derive(Debug)]
struct Pending {
    /// First comparison with these inputs and a plan that is not empty.
    first: Instant,
    /// First comparison with this fingerprint and a plan that is not empty.
    since: Instant,
    /// Whether the difference is recorded for this fingerprint.
    recorded: bool,
    /// Whether the writer syncs because of it. Until then it is no mismatch: Kubernetes leaves the objects as they are
    /// after some changes, such as one of Endpoints or of the phase alone of a Pod.
    triggered: bool,
}

/// The last comparison of each Service and controller, the mismatches, and the speed of the writer.
///
/// A plan becomes a mismatch when it was not empty at two comparisons that are the required period apart, and no object
/// that it depends on has changed in between. At least one of the syncs must follow a change for which the writer syncs as
/// well, or be the first one. The required period is the settle period, or twice the longest time that a
/// plan needed to become empty in the last 10 minutes. If the writer has a Lease, it must have been renewed without a gap
/// during that period, and again after it.
#[derive(Debug)]
pub(crate) struct Ledger {
    settle_period: Duration,
    entries: BTreeMap<&'static str, HashMap<ObjectKey, Entry>>,
    drains: Drains,
    writer: Writer,
    mismatches: Mismatches,
    open: usize,
    /// Number of comparisons after a change of the inputs of a plan.
    changes: u64,
    /// Time of the first comparison, or since which no mismatch has been open.
    clean_since: Option<Instant>,
}

impl Ledger {
    /// Returns an empty ledger. `follows_lease`: no difference is a mismatch before a Lease was
    /// [observed](Self::observe_lease).
    pub(crate) fn new(settle_period: Duration, follows_lease: bool) -> Ledger {
        Ledger {
            settle_period,
            entries: BTreeMap::new(),
            drains: Drains::default(),
            writer: Writer::new(follows_lease),
            mismatches: Mismatches::default(),
            open: 0,
            changes: 0,
            clean_since: None,
        }
    }

    /// Stores a reading of the writer's Lease.
    pub(crate) fn observe_lease(&mut self, now: Instant, reading: LeaseReading) {
        let before = self.writer.state(now);
        self.writer.observe(now, reading);
        // Without a writer, plans that differ are no mismatches, and the time proves nothing.
        let proves = match (before, self.writer.state(now)) {
            (WriterState::Stalled, _) | (_, WriterState::Stalled) => false,
            (WriterState::Running { since: before, .. }, WriterState::Running { since, .. }) => before == since,
            _ => true,
        };
        if !proves {
            self.clean_since = self.clean_since.map(|_| now);
        }
    }

    pub(crate) fn compare(&mut self, now: Instant, comparison: Comparison<'_>) -> Decision {
        let Comparison { controller, key, fingerprint, cause, is_empty } = comparison;
        self.clean_since.get_or_insert(now);
        let required = self.required_period(now);
        let entries = self.entries.entry(controller).or_default();
        let new = || Entry { compared: now, fingerprint, pending: None, open: BTreeSet::new() };
        let is_new = !entries.contains_key(key);
        let entry = entries.entry(key.clone()).or_insert_with(new);
        let last = std::mem::replace(&mut entry.fingerprint, fingerprint);
        entry.compared = now;
        let inputs_changed = last.inputs != fingerprint.inputs;
        self.changes += u64::from(inputs_changed);

        if is_empty {
            if let Some(pending) = entry.pending.take().filter(|it| it.triggered) {
                self.drains.record(now, now.saturating_duration_since(pending.first));
            }
            if !std::mem::take(&mut entry.open).is_empty() {
                self.resolve(now, controller, key);
            }
            return Decision::Done;
        }
        let begun = Pending { first: now, since: now, recorded: false, triggered: false };
        let pending = entry.pending.get_or_insert_with(|| Box::new(begun));
        let triggers = cause == Cause::Change || (is_new && cause == Cause::Other);
        if last != fingerprint || (triggers && !pending.triggered) {
            let first = if inputs_changed || !pending.triggered { now } else { pending.first };
            **pending = Pending { first, since: now, recorded: false, triggered: pending.triggered || triggers };
        }
        if pending.recorded || !pending.triggered {
            return Decision::Done;
        }
        let (start, renewed) = match self.writer.state(now) {
            WriterState::Unknown => (pending.since, None),
            WriterState::Stalled => return Decision::Again(LEASE_PERIOD),
            WriterState::Running { since, renewed } => (pending.since.max(since), Some(renewed)),
        };
        let settled = start + required;
        if now < settled {
            return Decision::Again(settled.saturating_duration_since(now).min(WINDOW));
        }
        if renewed.is_some_and(|renewed| renewed < settled) {
            return Decision::Again(LEASE_PERIOD);
        }
        pending.recorded = true;
        Decision::Mismatch
    }

    /// Records the differences of a plan for which [`compare`](Self::compare) returned [`Decision::Mismatch`]. `classes`
    /// are those of all its writes, at least one. Returns whether the mismatch is new.
    pub(crate) fn record(
        &mut self,
        now: Instant,
        (controller, key): (&'static str, &ObjectKey),
        classes: BTreeSet<DifferenceClass>,
        objects: Vec<ObjectMismatch>,
    ) -> bool {
        let entry = self.entries.get_mut(controller).and_then(|entries| entries.get_mut(key));
        // It was forgotten in between.
        let Some(entry) = entry else { return false };
        let is_new = std::mem::replace(&mut entry.open, classes.clone()).is_empty();
        self.open += usize::from(is_new);
        self.mismatches.record(now, controller, key, classes, objects);
        is_new
    }

    /// Drops the state of a Service that the controller ignores from now on. Its open mismatch is resolved.
    pub(crate) fn forget(&mut self, now: Instant, controller: &'static str, key: &ObjectKey) {
        let entry = self.entries.get_mut(controller).and_then(|entries| entries.remove(key));
        if entry.is_some_and(|entry| !entry.open.is_empty()) {
            self.resolve(now, controller, key);
        }
    }

    /// [Forgets](Self::forget) all Services of a controller for which `keeps` returns `false`.
    pub(crate) fn prune(&mut self, now: Instant, controller: &'static str, keeps: impl Fn(&ObjectKey) -> bool) {
        let entries = self.entries.get(controller).into_iter().flat_map(HashMap::keys);
        let dropped: Vec<ObjectKey> = entries.filter(|key| !keeps(key)).cloned().collect();
        for key in dropped {
            self.forget(now, controller, &key);
        }
    }

    fn resolve(&mut self, now: Instant, controller: &'static str, key: &ObjectKey) {
        self.mismatches.resolve(now, controller, key);
        self.open = self.open.saturating_sub(1);
        if self.open == 0 {
            self.clean_since = Some(now);
        }
    }

    /// Returns the time for which a difference must last before it is a mismatch.
    pub(crate) fn required_period(&mut self, now: Instant) -> Duration {
        self.settle_period.max(2 * self.drains.longest(now))
    }

    /// Returns the time without an open mismatch, at most the time since the first comparison, and for which one holder
    /// has renewed the writer's Lease without a gap. `None` while a mismatch is open or the writer is stalled, and
    /// before the first comparison.
    pub(crate) fn clean_for(&self, now: Instant) -> Option<Duration> {
        let since = self.clean_since.filter(|_| self.open == 0 && !self.is_writer_stalled(now))?;
        Some(now.saturating_duration_since(since))
    }

    /// Returns the number of open mismatches.
    pub(crate) fn open(&self) -> usize {
        self.open
    }

    /// Returns the number of open mismatches by controller and class. A mismatch with several classes counts in each.
    pub(crate) fn open_by_class(&self) -> BTreeMap<(&'static str, DifferenceClass), usize> {
        let mut counts = BTreeMap::new();
        for (controller, entries) in &self.entries {
            for class in DifferenceClass::ALL {
                counts.insert((*controller, class), 0);
            }
            for class in entries.values().flat_map(|entry| &entry.open) {
                *counts.entry((*controller, *class)).or_default() += 1;
            }
        }
        counts
    }

    /// Returns the number of Services that were compared and still exist.
    pub(crate) fn services(&self) -> usize {
        self.entries.values().flat_map(HashMap::keys).collect::<HashSet<_>>().len()
    }

    /// Returns the number of plans that are not empty and no mismatch yet.
    pub(crate) fn unsettled(&self) -> usize {
        self.pending().filter(|(pending, is_open)| pending.triggered && !is_open).count()
    }

    /// Returns the number of plans that are not empty, because of changes for which the writer does not sync.
    pub(crate) fn untriggered(&self) -> usize {
        self.pending().filter(|(pending, _)| !pending.triggered).count()
    }

    /// Returns the plans that are not empty, each with whether it is an open mismatch.
    fn pending(&self) -> impl Iterator<Item = (&Pending, bool)> {
        let entries = self.entries.values().flat_map(HashMap::values);
        entries.filter_map(|entry| Some((entry.pending.as_deref()?, !entry.open.is_empty())))
    }

    /// Returns the age of the oldest comparison; zero without one.
    pub(crate) fn oldest_comparison(&self, now: Instant) -> Duration {
        let compared = self.entries.values().flat_map(HashMap::values).map(|entry| entry.compared);
        compared.min().map(|oldest| now.saturating_duration_since(oldest)).unwrap_or_default()
    }

    /// Returns the number of comparisons after a change of the inputs of a plan.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns whether the writer has a Lease that is not renewed.
    pub(crate) fn is_writer_stalled(&self, now: Instant) -> bool {
        self.writer.state(now) == WriterState::Stalled
    }

    pub(crate) fn mismatches(&self) -> &Mismatches {
        &self.mismatches
    }
}

#[cfg(test)]
mod tests;
