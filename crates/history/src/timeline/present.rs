//! What a Service has after the last change.

use kube_endpoint_model::Cluster;
use kube_endpoints_explain::{ObjectRef, Reason, World};
use serde::Serialize;

use super::actor;
use super::entry::{Cause, EndpointState, Entry};
use super::follower::Follower;
use crate::{Change, Kind, What};

/// Numbers of endpoints of a Service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Whether the Service exists, and is no alias of an external name.
    pub exists: bool,
    /// Number of those that are ready, and that a slice shows as ready: clients reach them.
    pub reachable: usize,
    /// Number of those that are ready by the rules, whether or not a slice shows them.
    pub ready: usize,
    /// Number of those whose Pod is being deleted and still answers requests.
    pub draining: usize,
    /// Number of those that are not ready, or serve no port.
    pub not_ready: usize,
}

impl Counts {
    /// Returns whether the Service exists and has no reachable endpoint.
    pub fn is_outage(&self) -> bool {
        self.exists && self.reachable == 0
    }
}

impl Follower {
    /// Returns the entries, among them those that a slice may still show.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the entries that the last change has shown.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &Entry> {
        self.shown.iter().filter_map(|at| self.entries.get(*at))
    }

    /// Returns the entries that no slice has shown yet.
    pub(crate) fn not_shown(&self) -> Vec<&Entry> {
        let mut entries: Vec<usize> = self.pending.not_shown().collect();
        entries.sort_unstable();
        entries.into_iter().filter_map(|at| self.entries.get(at)).collect()
    }

    /// Returns the number of entries that a cause has explained later, and that therefore do not count.
    pub(crate) fn explained(&self) -> usize {
        self.explained.len()
    }

    /// Forgets old entries, if there are many more than those that a slice may still show.
    pub(crate) fn limit_entries(&mut self, last: usize) {
        if self.entries.len() > 2 * (last + self.pending.entries().count()) {
            self.forget(last);
        }
    }

    /// Returns the last entries with an effect.
    pub(crate) fn into_last_entries(self, last: usize) -> Vec<Entry> {
        let mut entries = self.into_entries();
        entries.retain(Entry::has_effect);
        entries.drain(..entries.len().saturating_sub(last));
        entries
    }

    /// Returns the numbers of endpoints after the last change. `unknown` are the kinds that the recorder could not read:
    /// without Pods, the slices say what is ready; without slices, the rules.
    pub(crate) fn counts(&self, world: &World, unknown: &[Kind]) -> Counts {
        let service = Cluster::service(world, &self.service);
        let exists = service.as_ref().is_some_and(|service| !service.external_name);
        let needs_pods = service.is_some_and(|service| service.selector.is_some());
        let is_planned = !needs_pods || !unknown.contains(&Kind::Pod);
        let contents = if is_planned { &self.expected } else { &self.written };
        let shows_all = unknown.contains(&Kind::EndpointSlice);
        let mut counts = Counts { exists, ..Counts::default() };
        for (address, state) in contents.states() {
            match state {
                EndpointState::Ready => {
                    counts.ready += 1;
                    counts.reachable += usize::from(shows_all || self.written.state(address) == EndpointState::Ready);
                }
                EndpointState::Draining => counts.draining += 1,
                EndpointState::NotReady | EndpointState::NoPort | EndpointState::Terminating => counts.not_ready += 1,
                EndpointState::Absent => {}
            }
        }
        counts
    }
}

/// Returns a change as a cause; `None` for a gap.
pub(crate) fn cause_of(change: &Change, reason: Option<Reason>) -> Option<Cause> {
    let (What::Put { after: object, .. } | What::Removed(object)) = &change.what else { return None };
    let (manager, user) = actor::names(change, change.seen);
    let object = ObjectRef::new(object.kind(), &object.key());
    Some(Cause { object, action: actor::action(change), reason, ended: false, manager, user })
}
