//! What is known of one Service while the changes pass.

use std::cmp::Reverse;
use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::{ObjectKey, Text};
use kube_endpoints_explain::{ObjectRef, Reason, World};

use super::list::Top;
use super::series::{Point, Series};
use super::{ManagerWrites, Origin, Outage, Propagation, ServiceTimeline, Writes};
use crate::timeline::{Counts, EndpointChange, EndpointState, Entry, Follower, cause_of};
use crate::{Change, Kind};

/// Number of changes that are kept.
const ENTRIES: usize = 40;
/// Number of field managers that are counted one by one.
const MANAGERS: usize = 16;

/// A Service that existed at any time, and what has happened to it.
pub(super) struct Followed {
    key: ObjectKey,
    service: ObjectRef,
    follower: Follower,
    /// The last state. Several changes may have the same time, such as those that a gap hid: only the last of them counts.
    now: Point,
    /// Whether it had a reachable endpoint since it was created.
    was_reachable: bool,
    /// The outage that has begun.
    outage: Option<Outage>,
    outages: usize,
    down: SignedDuration,
    series: Series,
    changes: usize,
    /// End of the last gap that the follower knows.
    gap: Timestamp,
    writes: HashMap<Option<Text>, [u64; 2]>,
}

/// What the Services have in common.
pub(super) struct Lists {
    /// Kinds that the recorder could not read.
    pub(super) unknown: Vec<Kind>,
    /// The last gap: what was seen until its end may have happened earlier.
    pub(super) gap: Option<Change>,
    pub(super) outages: Top<Outage>,
    pub(super) not_yet_ready: Top<Outage>,
    pub(super) propagation: Top<Propagation>,
}

impl Followed {
    /// Begins with the state of a time.
    pub(super) fn new(key: &ObjectKey, world: &World, time: Timestamp, lists: &mut Lists) -> Followed {
        let mut followed = Followed {
            key: key.clone(),
            service: ObjectRef::new(Kind::Service, key),
            follower: Follower::new(key.clone(), world),
            now: Point { time, counts: Counts::default() },
            was_reachable: false,
            outage: None,
            outages: 0,
            down: SignedDuration::ZERO,
            series: Series::default(),
            changes: 0,
            gap: Timestamp::MIN,
            writes: HashMap::new(),
        };
        followed.observe(world, time, lists, |followed| Origin::Before(followed.first_cause(world)));
        followed
    }

    /// Takes what the rules make of a world in which other kinds are known.
    pub(super) fn expect_anew(&mut self, world: &World) {
        self.follower.expect_anew(world);
    }

    /// Returns the reason to look at first; `None` if everything is as it should be.
    fn first_cause(&self, world: &World) -> Option<Reason> {
        world.service_without_near_misses(&self.key)?.first_cause().cloned()
    }

    /// Follows a change that concerns the Service. The world is that after it.
    pub(super) fn follow(&mut self, world: &mut World, change: &Change, lists: &mut Lists) {
        if let Some(gap) = lists.gap.as_ref().filter(|gap| gap.seen > self.gap) {
            self.gap = gap.seen;
            self.follower.follow(world, gap);
        }
        let (known, explained) = (self.follower.entries().len(), self.follower.explained());
        self.follower.follow(world, change);
        let new = self.follower.entries().get(known..).unwrap_or_default();
        let with_effect = new.iter().filter(|entry| entry.has_effect()).count();
        self.changes = (self.changes + with_effect).saturating_sub(self.follower.explained() - explained);
        for entry in new.iter().chain(self.follower.shown()) {
            if let (Some(written), Some(endpoint)) = (&entry.written, &entry.endpoint)
                && endpoint.became_ready()
                && entry.time > self.gap
            {
                lists.propagation.add(weight(written.after), || self.propagation(entry, endpoint, written.after));
            }
        }
        self.observe(world, change.seen, lists, |followed| followed.origin(world, change, known));
        self.follower.limit_entries(ENTRIES);
    }

    /// Returns why an endpoint is no longer reachable after a change, which added the entries after those that were `known`.
    fn origin(&self, world: &World, change: &Change, known: usize) -> Origin {
        let takes = |entry: &&Entry| entry.endpoint.as_ref().is_some_and(|it| it.from == EndpointState::Ready);
        let new = self.follower.entries().get(known..).unwrap_or_default().iter().filter(|entry| entry.has_effect());
        let of_change = || new.clone().chain(self.follower.shown());
        if let Some(entry) = of_change().find(takes).or_else(|| of_change().next()) {
            return Origin::Change(entry.cause.clone());
        }
        let reason = self.first_cause(world);
        cause_of(change, reason.clone()).map_or(Origin::Before(reason), Origin::Change)
    }

    /// Counts a change of a slice, or of the Endpoints object.
    pub(super) fn count_write(&mut self, manager: Option<Text>, kind: Kind) {
        let is_known = self.writes.len() < MANAGERS || self.writes.contains_key(&manager);
        let counts = self.writes.entry(manager.filter(|_| is_known)).or_default();
        counts[usize::from(kind == Kind::Endpoints)] += 1;
    }

    fn propagation(&self, entry: &Entry, endpoint: &EndpointChange, after: SignedDuration) -> Propagation {
        let written = entry.written.as_ref();
        Propagation {
            service: self.service.clone(),
            pod: endpoint.pod.clone(),
            address: endpoint.address.clone(),
            ready: entry.time,
            slice: written.map(|written| written.object.clone()),
            manager: written.and_then(|written| written.manager.clone()),
            after,
        }
    }

    /// Takes the numbers of endpoints after a change, with the reason if there is no reachable one.
    fn observe(&mut self, world: &World, time: Timestamp, lists: &mut Lists, cause: impl FnOnce(&Self) -> Origin) {
        if time > self.now.time {
            self.settle(lists);
            self.now.time = time;
        }
        self.now.counts = self.follower.counts(world, &lists.unknown);
        if self.now.counts.is_outage() && self.outage.is_none() {
            let (service, cause) = (self.service.clone(), cause(self));
            self.outage = Some(Outage { service, from: self.now.time, until: None, cause });
        }
    }

    /// Adds the last state, after which time has passed.
    fn settle(&mut self, lists: &mut Lists) {
        let Point { time, counts } = self.now;
        if !counts.is_outage()
            && let Some(outage) = self.outage.take()
            && outage.from < time
        {
            self.add_outage(Outage { until: Some(time), ..outage }, time, lists);
        }
        self.series.add(self.now);
        self.was_reachable = counts.exists && (self.was_reachable || counts.reachable > 0);
    }

    fn add_outage(&mut self, outage: Outage, end: Timestamp, lists: &mut Lists) {
        let duration = outage.duration(end);
        let list = if self.was_reachable {
            self.outages += 1;
            self.down += duration;
            &mut lists.outages
        } else {
            &mut lists.not_yet_ready
        };
        list.add(weight(duration), || outage);
    }

    /// Ends with the state of a time.
    pub(super) fn finish(mut self, end: Timestamp, lists: &mut Lists) -> Finished {
        self.settle(lists);
        if let Some(outage) = self.outage.take() {
            self.add_outage(outage, end, lists);
        }
        if !lists.unknown.contains(&Kind::EndpointSlice) {
            for entry in self.follower.not_shown().into_iter().filter(|entry| entry.time > self.gap) {
                if let Some(endpoint) = entry.endpoint.as_ref().filter(|it| it.became_ready()) {
                    let after = end.duration_since(entry.time);
                    lists.propagation.add(weight(after), || self.propagation(entry, endpoint, after));
                }
            }
        }
        let mut managers: Vec<ManagerWrites> = (self.writes.into_iter())
            .map(|(manager, [slices, endpoints])| ManagerWrites { manager, slices, endpoints })
            .collect();
        managers.sort_by(|a, b| {
            let key = |it: &ManagerWrites| Reverse(it.slices + it.endpoints);
            key(a).cmp(&key(b)).then_with(|| a.manager.cmp(&b.manager))
        });
        let sum = |count: fn(&ManagerWrites) -> u64| managers.iter().map(count).sum();
        let (slices, endpoints) = (sum(|it| it.slices), sum(|it| it.endpoints));
        Finished {
            writes: Writes { service: self.service.clone(), slices, endpoints, managers },
            timeline: ServiceTimeline {
                service: self.service,
                outages: self.outages,
                down: self.down,
                points: self.series.into_points(),
                changes: self.changes,
                entries: self.follower.into_last_entries(ENTRIES),
            },
        }
    }
}

/// Everything that is known of a Service at the end.
pub(super) struct Finished {
    pub(super) writes: Writes,
    pub(super) timeline: ServiceTimeline,
}

fn weight(duration: SignedDuration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
