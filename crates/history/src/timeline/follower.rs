//! Follows the recorded changes of one Service.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::{Cluster, ObjectKey, Pod, Service};
use kube_endpoints_explain::{ObjectRef, ServiceReport, World};

use super::actor::{self, Names};
use super::contents::Contents;
use super::entry::{Cause, EndpointChange, EndpointState, Entry, HintsChange, Written};
use super::pending::Pending;
use super::reasons::{Reports, Why, without_effect};
use super::unknown::UnknownBefore;
use super::{add, apply};
use crate::{Change, Recorded, What};

/// Time after a gap in which changes may be those of the gap: kinds are listed again one after another.
const LATE: SignedDuration = SignedDuration::from_secs(30);

/// Follows the recorded changes of one Service.
///
/// For each change of the Service, its Endpoints, a Pod or a Node, the slices that the controllers would leave before it
/// are compared with those after it; an address that differs is an entry, with the reason that `explain` gives. The
/// slice that shows it is found by the address and its new state, before or after its cause: each kind has its own watch. A
/// slice that changes otherwise is an entry of its own.
///
/// The world is its owner's, so that many followers share one.
pub(crate) struct Follower {
    pub(super) service: ObjectKey,
    pub(super) expected: Contents,
    pub(super) written: Contents,
    pub(super) pending: Pending,
    /// The last change of hints, until a slice shows it.
    pub(super) pending_hints: Option<usize>,
    pub(super) entries: Vec<Entry>,
    pub(super) unknown: Option<UnknownBefore>,
    /// Entries that the last change has shown.
    pub(super) shown: Vec<usize>,
    /// Entries about slices that a cause has explained later.
    pub(super) explained: BTreeSet<usize>,
    /// Beginning and end of the last gap.
    gap: Option<(Timestamp, Timestamp)>,
}

/// A change, and who made it.
pub(super) struct Seen<'a> {
    pub(super) change: &'a Change,
    pub(super) object: ObjectRef,
    pub(super) names: Names,
}

impl Seen<'_> {
    pub(super) fn cause(&self, (reason, ended): Why) -> Cause {
        let (manager, user) = self.names.clone();
        Cause { object: self.object.clone(), action: actor::action(self.change), reason, ended, manager, user }
    }

    /// Returns an entry without an effect.
    pub(super) fn entry(&self, contents: &Contents) -> Entry {
        let (endpoint, hints, written) = (None, None, None);
        Entry {
            time: self.change.seen,
            endpoint,
            hints,
            cause: self.cause((None, false)),
            ready: contents.ready(),
            written,
        }
    }
}

impl Follower {
    /// Begins with the present state of a world.
    pub(crate) fn new(service: ObjectKey, world: &World) -> Follower {
        Follower {
            expected: Contents::expected(&service, world),
            written: Contents::written(&service, world),
            service,
            pending: Pending::default(),
            pending_hints: None,
            entries: Vec::new(),
            unknown: None,
            shown: Vec::new(),
            explained: BTreeSet::new(),
            gap: None,
        }
    }

    /// Expects what a world would make of the Service. No change is the cause: the recorder can read other kinds.
    pub(crate) fn expect_anew(&mut self, world: &World) {
        self.expected = Contents::expected(&self.service, world);
    }

    /// Forgets all entries but the last ones, and those that a slice may still show: memory then depends on the endpoints, not
    /// on the changes.
    pub(super) fn forget(&mut self, last: usize) {
        let count = self.entries.len();
        let kept = (count.saturating_sub(last)..count).chain(self.pending.entries()).chain(self.pending_hints);
        let kept: BTreeSet<usize> = kept.collect();
        let numbers: HashMap<usize, usize> = kept.iter().copied().zip(0..).collect();
        let entries = std::mem::take(&mut self.entries).into_iter().enumerate();
        self.entries = entries.filter(|(at, _)| kept.contains(at)).map(|(_, entry)| entry).collect();
        self.pending.renumber(&numbers);
        self.pending_hints = self.pending_hints.and_then(|at| numbers.get(&at).copied());
        self.explained = self.explained.iter().filter_map(|at| numbers.get(at).copied()).collect();
        self.shown.clear();
    }

    /// Returns the entries, without those that a cause has explained later.
    pub(crate) fn into_entries(self) -> Vec<Entry> {
        let numbered = self.entries.into_iter().enumerate();
        numbered.filter(|(at, _)| !self.explained.contains(at)).map(|(_, entry)| entry).collect()
    }

    /// Follows a change. The world is that after the change; while the Service before it is explained, it is that before.
    pub(crate) fn follow(&mut self, world: &mut World, change: &Change) {
        self.shown.clear();
        let object = match &change.what {
            What::Gap(gap) => {
                self.gap = Some((gap.since, change.seen));
                return;
            }
            What::Unknown(write) => {
                self.follow_unknown(world, change, write);
                return;
            }
            What::Put { after, .. } => after,
            What::Removed(before) => before,
        };
        let names = actor::names(change, self.earliest(change));
        let seen = Seen { change, object: ObjectRef::new(object.kind(), &object.key()), names };
        let expected = Contents::expected(&self.service, world);
        if let Recorded::EndpointSlice(slice) = object {
            self.follow_slice(world, &seen, slice, &expected);
        } else {
            self.follow_cause(world, &seen, object, &expected);
        }
        self.expected = expected;
    }

    /// Returns the time at which a change happened at the earliest.
    fn earliest(&self, change: &Change) -> Timestamp {
        match self.gap {
            Some((since, until)) if change.seen.duration_since(until) < LATE => since.min(change.seen),
            _ => change.seen,
        }
    }

    fn follow_cause(&mut self, world: &mut World, seen: &Seen<'_>, object: &Recorded, expected: &Contents) {
        let differences = self.expected.differences(expected);
        // Without ready endpoints there are no hints, for that reason alone.
        let has_ready = self.expected.ready() > 0 && expected.ready() > 0;
        let hints = HintsChange { from: self.expected.hints, to: expected.hints };
        let hints = Some(hints).filter(|hints| has_ready && hints.from != hints.to);
        if differences.is_empty() && hints.is_none() {
            if self.concerns(world, object) {
                let report = self.report(world, &seen.change.what);
                let reason = report.and_then(|report| without_effect(&report, &seen.object));
                let cause = seen.cause((reason, false));
                self.add(Entry { cause, ..seen.entry(expected) });
            }
            return;
        }
        let service = Cluster::service(world, &self.service);
        let selector = service.as_ref().and_then(|it| it.selector.as_ref());
        let ends = |change: &EndpointChange| change.to == EndpointState::Ready;
        let reports = if selector.is_none() || hints.is_some() || differences.iter().any(ends) {
            self.reports(world, seen)
        } else {
            // No reason has ended.
            self.reports_after(world, seen)
        };
        for endpoint in differences {
            let why = reports.of_address(&endpoint, selector);
            let to = expected.endpoint(&endpoint.address);
            let early = self.pending.explained(&endpoint.address, &to, seen.change);
            let written = early.map(|early| {
                self.explained.insert(early.entry);
                Written { object: early.slice, manager: early.manager, after: SignedDuration::ZERO }
            });
            if written.is_none() {
                self.pending.expect(&endpoint.address, self.entries.len(), seen.change, to);
            }
            let entry = seen.entry(expected);
            self.add(Entry { endpoint: Some(endpoint), cause: seen.cause(why), written, ..entry });
        }
        if let Some(hints) = hints {
            let cause = seen.cause(reports.of_hints(hints));
            self.pending_hints = Some(self.entries.len());
            self.add(Entry { hints: Some(hints), cause, ..seen.entry(expected) });
        }
    }

    pub(super) fn add(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Explains the Service before and after a change. The world is that after it, before and afterwards.
    pub(super) fn reports<'a>(&self, world: &mut World, seen: &'a Seen<'_>) -> Reports<'a> {
        let before = self.report_before(world, seen.change);
        Reports { before, ..self.reports_after(world, seen) }
    }

    fn reports_after<'a>(&self, world: &World, seen: &'a Seen<'_>) -> Reports<'a> {
        let after = self.report(world, &seen.change.what);
        Reports { before: None, after, what: &seen.change.what, object: &seen.object }
    }

    /// Explains the Service, as far as a change needs it: unless the Service itself has changed, the changed Pod is the only one that
    /// its selector may almost match. To find all, those of the whole namespace are compared.
    fn report(&self, world: &World, what: &What) -> Option<ServiceReport> {
        let (What::Put { after: object, .. } | What::Removed(object)) = what else { return None };
        match object {
            Recorded::Service(_) => world.service(&self.service),
            Recorded::Pod(_) => {
                let mut report = world.service_without_near_misses(&self.service)?;
                report.near_misses.extend(world.near_miss(&self.service, &object.key()));
                Some(report)
            }
            _ => world.service_without_near_misses(&self.service),
        }
    }

    fn report_before(&self, world: &mut World, change: &Change) -> Option<ServiceReport> {
        match &change.what {
            What::Put { before: Some(before), .. } | What::Removed(before) => add(world, before),
            What::Put { before: None, after } => world.remove(after.kind(), &after.key()),
            What::Gap(_) | What::Unknown(_) => return None,
        }
        let report = self.report(world, &change.what);
        apply(world, change);
        report
    }

    /// Returns whether a change of an object without effect is of interest.
    fn concerns(&self, world: &World, object: &Recorded) -> bool {
        match object {
            Recorded::Service(_) | Recorded::Endpoints(_) => object.key() == self.service,
            Recorded::Pod(pod) => pod.namespace == self.service.namespace && self.selects(world, pod),
            Recorded::Node(_) | Recorded::EndpointSlice(_) => false,
        }
    }

    pub(super) fn selects(&self, world: &World, pod: &Pod) -> bool {
        let selects = |service: Arc<Service>| service.selector.as_ref().is_some_and(|it| pod.labels.contains_all(it));
        self.expected.has_pod(&pod.name) || Cluster::service(world, &self.service).is_some_and(selects)
    }
}
