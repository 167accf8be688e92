//! Follows the recorded changes of one Service.

use std::collections::BTreeSet;
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
use super::{Timeline, add};
use crate::{Change, Recorded, What};

/// Time after a gap in which changes may be those of the gap: kinds are listed again one after another.
const LATE: SignedDuration = SignedDuration::from_secs(30);

/// Follows the recorded changes of one Service.
///
/// For each change of the Service, its Endpoints, a Pod or a Node, the slices that the controllers would leave before it
/// are compared with those after it; an address that differs is an entry, with the reason that `explain` gives. The
/// slice that shows it is found by the address and its new state, before or after its cause: each kind has its own watch. A
/// slice that changes otherwise is an entry of its own.
pub(super) struct Follower {
    pub(super) service: ObjectKey,
    pub(super) world: World,
    pub(super) expected: Contents,
    pub(super) written: Contents,
    pub(super) pending: Pending,
    /// The last change of hints, until a slice shows it.
    pub(super) pending_hints: Option<usize>,
    pub(super) timeline: Timeline,
    pub(super) unknown: Option<UnknownBefore>,
    /// Entries about slices that a cause has explained later.
    explained: BTreeSet<usize>,
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
    pub(super) fn new(service: ObjectKey, world: World) -> Follower {
        Follower {
            expected: Contents::expected(&service, &world),
            written: Contents::written(&service, &world),
            service,
            world,
            pending: Pending::default(),
            pending_hints: None,
            timeline: Timeline::default(),
            unknown: None,
            explained: BTreeSet::new(),
            gap: None,
        }
    }

    pub(super) fn into_timeline(self) -> Timeline {
        let Timeline { entries, gaps, has_unknown_writes } = self.timeline;
        let numbered = entries.into_iter().enumerate();
        let entries = numbered.filter(|(at, _)| !self.explained.contains(at)).map(|(_, entry)| entry).collect();
        Timeline { entries, gaps, has_unknown_writes }
    }

    pub(super) fn follow(&mut self, change: &Change) {
        let object = match &change.what {
            What::Gap(gap) => {
                self.gap = Some((gap.since, change.seen));
                self.timeline.gaps.push((gap.clone(), change.seen));
                return;
            }
            What::Unknown(write) => {
                self.follow_unknown(change, write);
                return;
            }
            What::Put { after, .. } => {
                add(&mut self.world, after);
                after
            }
            What::Removed(before) => {
                self.world.remove(before.kind().into(), &before.key());
                before
            }
        };
        let names = actor::names(change, self.earliest(change));
        let seen = Seen { change, object: ObjectRef::new(object.kind().into(), &object.key()), names };
        let expected = Contents::expected(&self.service, &self.world);
        if let Recorded::EndpointSlice(slice) = object {
            self.follow_slice(&seen, slice, &expected);
        } else {
            self.follow_cause(&seen, object, &expected);
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

    fn follow_cause(&mut self, seen: &Seen<'_>, object: &Recorded, expected: &Contents) {
        let differences = self.expected.differences(expected);
        // Without ready endpoints there are no hints, for that reason alone.
        let has_ready = self.expected.ready() > 0 && expected.ready() > 0;
        let hints = HintsChange { from: self.expected.hints, to: expected.hints };
        let hints = Some(hints).filter(|hints| has_ready && hints.from != hints.to);
        if differences.is_empty() && hints.is_none() {
            if self.concerns(object) {
                let report = self.world.service(&self.service);
                let reason = report.and_then(|report| without_effect(&report, &seen.object));
                let cause = seen.cause((reason, false));
                self.add(Entry { cause, ..seen.entry(expected) });
            }
            return;
        }
        let service = Cluster::service(&self.world, &self.service);
        let selector = service.as_ref().and_then(|it| it.selector.as_ref());
        let ends = |change: &EndpointChange| change.to == EndpointState::Ready;
        let reports = if selector.is_none() || hints.is_some() || differences.iter().any(ends) {
            self.reports(seen)
        } else {
            // No reason has ended.
            self.reports_after(seen)
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
                self.pending.expect(&endpoint.address, self.timeline.entries.len(), seen.change, to);
            }
            let entry = seen.entry(expected);
            self.add(Entry { endpoint: Some(endpoint), cause: seen.cause(why), written, ..entry });
        }
        if let Some(hints) = hints {
            let cause = seen.cause(reports.of_hints(hints));
            self.pending_hints = Some(self.timeline.entries.len());
            self.add(Entry { hints: Some(hints), cause, ..seen.entry(expected) });
        }
    }

    pub(super) fn add(&mut self, entry: Entry) {
        self.timeline.entries.push(entry);
    }

    /// Explains the Service before and after a change. The world is that after it, before and afterwards.
    pub(super) fn reports<'a>(&mut self, seen: &'a Seen<'_>) -> Reports<'a> {
        let before = self.report_before(&seen.change.what);
        Reports { before, ..self.reports_after(seen) }
    }

    fn reports_after<'a>(&self, seen: &'a Seen<'_>) -> Reports<'a> {
        let after = self.world.service(&self.service);
        Reports { before: None, after, what: &seen.change.what, object: &seen.object }
    }

    fn report_before(&mut self, what: &What) -> Option<ServiceReport> {
        match what {
            What::Put { before, after } => {
                match before {
                    Some(before) => add(&mut self.world, before),
                    None => self.world.remove(after.kind().into(), &after.key()),
                }
                let report = self.world.service(&self.service);
                add(&mut self.world, after);
                report
            }
            What::Removed(before) => {
                add(&mut self.world, before);
                let report = self.world.service(&self.service);
                self.world.remove(before.kind().into(), &before.key());
                report
            }
            What::Gap(_) | What::Unknown(_) => None,
        }
    }

    /// Returns whether a change of an object without effect is of interest.
    fn concerns(&self, object: &Recorded) -> bool {
        match object {
            Recorded::Service(_) | Recorded::Endpoints(_) => object.key() == self.service,
            Recorded::Pod(pod) => pod.namespace == self.service.namespace && self.selects(pod),
            Recorded::Node(_) | Recorded::EndpointSlice(_) => false,
        }
    }

    pub(super) fn selects(&self, pod: &Pod) -> bool {
        let selects = |service: Arc<Service>| service.selector.as_ref().is_some_and(|it| pod.labels.contains_all(it));
        self.expected.has_pod(&pod.name) || Cluster::service(&self.world, &self.service).is_some_and(selects)
    }
}
