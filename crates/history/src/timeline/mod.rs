//! Why the endpoints of a Service have changed.

mod entry;
mod expected;
mod fold;
mod text;
mod written;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;
use kube_endpoint_model::{Cluster, Code, ObjectKey, Pod};
use kube_endpoints_explain::{Kind as Explained, ObjectRef, Reason, ServiceReport, Settings, World};

use crate::{Change, Gap, Kind, ReadError, Recorded, Replay, What};

pub use entry::{Action, Cause, EndpointChange, EndpointState, Entry, Written};
pub use fold::{Burst, Line, fold};
pub use text::lines as text;

use entry::names;
use expected::Expected;

/// The changes of a Service's endpoints, with their causes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// The changes, by time.
    pub entries: Vec<Entry>,
    /// Times for which nothing is known, with their ends.
    pub gaps: Vec<(Gap, Timestamp)>,
}

/// Follows the recorded changes of one Service.
///
/// For each change of the Service, a Pod or a Node, the plan before is compared with the plan after it, as `explain` shows
/// them; an address that differs is an entry, with the reason that the rules give. The EndpointSlice that later contains it
/// is found by the address and its new state. A slice that changes otherwise is an entry of its own.
struct Follower {
    service: ObjectKey,
    world: World,
    expected: Expected,
    report: Option<ServiceReport>,
    written: BTreeMap<String, EndpointState>,
    /// Entries that no slice has shown yet, by address.
    pending: HashMap<String, usize>,
    timeline: Timeline,
}

impl Timeline {
    /// Returns the timeline of a Service, from the state of a replay on until a time.
    ///
    /// # Errors
    ///
    /// [`ReadError`], if the history is damaged there.
    pub fn of_service(
        service: &ObjectKey,
        settings: Settings,
        replay: &mut Replay<'_>,
        until: Timestamp,
    ) -> Result<Timeline, ReadError> {
        let mut world = World::new(settings);
        for object in replay.objects() {
            add(&mut world, object);
        }
        for kind in replay.header().iter().flat_map(|header| &header.unknown) {
            world.set_unknown((*kind).into());
        }
        let mut follower = Follower::new(service.clone(), world);
        while let Some(change) = replay.next_change()? {
            if change.seen > until {
                break;
            }
            follower.follow(&change);
        }
        Ok(follower.timeline)
    }
}

impl Follower {
    fn new(service: ObjectKey, world: World) -> Follower {
        let report = world.service(&service);
        let expected = Expected::of(&service, &world, report.as_ref());
        let written = written::states(&service, &world);
        let (pending, timeline) = (HashMap::new(), Timeline::default());
        Follower { service, world, expected, report, written, pending, timeline }
    }

    fn follow(&mut self, change: &Change) {
        let object = match &change.what {
            What::Gap(gap) => {
                self.timeline.gaps.push((gap.clone(), change.seen));
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
        let reference = ObjectRef::new(object.kind().into(), &object.key());
        let report = self.world.service(&self.service);
        let expected = Expected::of(&self.service, &self.world, report.as_ref());
        if object.kind() == Kind::EndpointSlice {
            self.follow_slice(change, &reference, &expected);
        } else if expected != self.expected {
            let seen = Seen { change, object: &reference };
            self.add_differences(&seen, &expected, report.as_ref());
        } else if self.concerns(object) {
            let cause = Cause::new(reference, change, None, false);
            self.add(Entry { time: change.seen, endpoint: None, cause, ready: expected.ready(), written: None });
        }
        (self.expected, self.report) = (expected, report);
    }

    /// Returns whether a change of an object without effect is of interest.
    fn concerns(&self, object: &Recorded) -> bool {
        match object {
            Recorded::Service(service) => service.name == self.service.name,
            Recorded::Pod(pod) => self.expected.has_pod(&pod.name) || self.reports_pod(pod),
            Recorded::Node(_) => false,
            Recorded::Endpoints(_) | Recorded::EndpointSlice(_) => true,
        }
    }

    fn reports_pod(&self, pod: &Pod) -> bool {
        self.report.as_ref().is_some_and(|report| report.pods.iter().any(|it| it.name == *pod.name))
    }

    /// Adds an entry for each address whose state should now be another one.
    fn add_differences(&mut self, seen: &Seen<'_>, expected: &Expected, report: Option<&ServiceReport>) {
        let ready = expected.ready();
        for endpoint in self.expected.differences(expected) {
            let (reason, ended) = self.reason(seen, &endpoint, report);
            let cause = Cause::new(seen.object.clone(), seen.change, reason, ended);
            self.pending.insert(endpoint.address.clone(), self.timeline.entries.len());
            self.add(Entry { time: seen.change.seen, endpoint: Some(endpoint), cause, ready, written: None });
        }
    }

    /// Returns the reason of the rules for a change of an address, and whether it is one that has ended.
    fn reason(
        &self,
        seen: &Seen<'_>,
        endpoint: &EndpointChange,
        report: Option<&ServiceReport>,
    ) -> (Option<Reason>, bool) {
        let pod = endpoint.pod.as_deref();
        let reason_in = |report: Option<&ServiceReport>| {
            let pods = report.into_iter().flat_map(|report| &report.pods);
            let found = pods.into_iter().find(|it| Some(it.name.as_str()) == pod);
            found.map(|pod| pod.reasons.first().cloned())
        };
        let because = |code, message: &str| (Some(Reason { code, message: message.to_owned() }), false);
        if endpoint.to == EndpointState::Ready {
            return (reason_in(self.report.as_ref()).flatten(), true);
        }
        match (report, reason_in(report)) {
            (_, Some(reason)) => (reason, false),
            (None, None) => because(Code::ServiceTerminating, "the Service no longer exists"),
            (Some(_), None) if seen.object.kind == Explained::Pod && matches!(seen.change.what, What::Removed(_)) => {
                because(Code::PodTerminating, "the Pod no longer exists")
            }
            (Some(_), None) => match Cluster::service(&self.world, &self.service).and_then(|it| it.selector.clone()) {
                Some(selector) => {
                    let pairs: Vec<String> = selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
                    because(Code::PodNotSelected, &format!("the labels do not match the selector {}", pairs.join(",")))
                }
                None => because(Code::NoSelector, "the Endpoints object no longer contains the address"),
            },
        }
    }

    /// Relates a slice to the entries that it shows, and adds one for each address that it should not show so.
    fn follow_slice(&mut self, change: &Change, slice: &ObjectRef, expected: &Expected) {
        let now = written::states(&self.service, &self.world);
        let before = std::mem::replace(&mut self.written, now);
        let addresses: Vec<String> = before.keys().chain(self.written.keys()).cloned().collect();
        let mut done = BTreeSet::new();
        for address in addresses {
            let state =
                |all: &BTreeMap<String, EndpointState>| all.get(&address).copied().unwrap_or(EndpointState::Absent);
            let (from, to) = (state(&before), state(&self.written));
            if from == to || !done.insert(address.clone()) {
                continue;
            }
            if let Some(entry) = self.pending.get(&address).copied()
                && let Some(entry) = self.timeline.entries.get_mut(entry)
                && entry.endpoint.as_ref().is_some_and(|endpoint| endpoint.to == to)
            {
                let (manager, _) = names(change.author.as_ref());
                let after = change.seen.duration_since(entry.time);
                entry.written = Some(Written { object: slice.clone(), manager, after });
                self.pending.remove(&address);
            } else {
                let is_right = expected.state(&address) == to;
                self.add_write(change, slice, EndpointChange { address, pod: None, from, to }, is_right);
            }
        }
    }

    /// Adds a write that no change of another object explains.
    fn add_write(&mut self, change: &Change, slice: &ObjectRef, endpoint: EndpointChange, is_right: bool) {
        let pod = self.expected.pod_of(&endpoint.address);
        let message =
            if is_right { "now as the controller would write it" } else { "not as the controller would write it" };
        let reason = Reason { code: Code::SlicesDiffer, message: message.to_owned() };
        let cause = Cause::new(slice.clone(), change, Some(reason), is_right);
        let ready = self.written.values().filter(|state| **state == EndpointState::Ready).count();
        let endpoint = Some(EndpointChange { pod, ..endpoint });
        self.add(Entry { time: change.seen, endpoint, cause, ready, written: None });
    }

    fn add(&mut self, entry: Entry) {
        self.timeline.entries.push(entry);
    }
}

/// A change of an object that is no slice.
struct Seen<'a> {
    change: &'a Change,
    object: &'a ObjectRef,
}

impl From<Kind> for Explained {
    fn from(kind: Kind) -> Explained {
        match kind {
            Kind::Service => Explained::Service,
            Kind::Pod => Explained::Pod,
            Kind::Node => Explained::Node,
            Kind::Endpoints => Explained::Endpoints,
            Kind::EndpointSlice => Explained::EndpointSlice,
        }
    }
}

fn add(world: &mut World, object: &Recorded) {
    match object.clone() {
        Recorded::Service(service) => world.add_services([service]),
        Recorded::Pod(pod) => world.add_pods([pod]),
        Recorded::Node(node) => world.add_nodes([node]),
        Recorded::Endpoints(endpoints) => world.add_endpoints([endpoints]),
        Recorded::EndpointSlice(slice) => world.add_slices([slice]),
    }
}
