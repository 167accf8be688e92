//! Counts the writes of a new leader with the state of the caches: the [`Probation`] and what it needs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube_controller::locked;
use kube_controller_client::PlannedWrite;
use kube_informer::{HandlerHandle, HandlerOptions, Informer};
use kube_wire::{Decode, Index, ObjectKey};
use tokio::time::Instant;

use super::changes::{Input, RecentChanges};
use super::inputs::{Facts, Inputs};
use super::probation::{Decision, Limit, Plan, Probation, WriteId};
use super::written::{WrittenObject, describe, replaced};
use crate::caches::{Caches, Removal, removal};
use crate::controllers::{ENDPOINTS, ENDPOINTSLICE};

/// Records changes of inputs from the start of the process on, so that a standby has those before its term.
pub(crate) struct ChangeRecorder {
    changes: Arc<Mutex<RecentChanges>>,
    /// Remove the handlers.
    removals: Vec<Removal>,
}

impl ChangeRecorder {
    /// Adds handlers to the caches of Pods, Services and Endpoints.
    pub(crate) fn new(caches: &Caches) -> ChangeRecorder {
        let changes = Arc::default();
        let removals = vec![
            record(&caches.pods, Input::Pod, &changes),
            record(&caches.services, Input::Service, &changes),
            record(&caches.endpoints, Input::Endpoints, &changes),
        ];
        ChangeRecorder { changes, removals }
    }

    /// Removes the handlers, and drops the recorded changes.
    pub(super) fn stop(&self) {
        for remove in &self.removals {
            remove();
        }
        *locked(&self.changes) = RecentChanges::default();
    }
}

fn record<T: Decode, X: Index<T>>(
    informer: &Informer<T, X>,
    input: Input,
    changes: &Arc<Mutex<RecentChanges>>,
) -> Removal {
    let changes = Arc::clone(changes);
    let options = HandlerOptions::named("cut-over").resync(Duration::ZERO);
    let handler =
        informer.add_handler_with(options, move |event| locked(&changes).observe(Instant::now(), input, &event));
    removal(informer, handler)
}

/// The first writes of a leader, of all controllers.
pub(super) struct FirstWrites {
    probation: Probation,
    inputs: Inputs,
    changes: Arc<Mutex<RecentChanges>>,
    slices: Acted,
    endpoints: Acted,
    /// Whether so many inputs of the stored objects are missing that the caches may be wrong; `None` before the first is.
    many_vanished: Option<bool>,
}

/// What the previous writer has left of one resource.
struct Acted {
    synced: HandlerHandle,
    /// Whether the informer runs.
    is_read: bool,
    /// Whether `newest` is known: the cache has synced.
    is_known: bool,
    /// Newest version at the first sync after that, before own writes; `None` without objects.
    newest: Option<u64>,
}

impl Acted {
    fn find(&mut self, newest: impl FnOnce() -> Option<u64>) {
        if !self.is_known && self.synced.has_synced() {
            (self.is_known, self.newest) = (true, newest());
        }
    }
}

impl FirstWrites {
    pub(super) fn new(caches: &Caches, recorder: &ChangeRecorder, limit: Limit, controllers: &[&'static str]) -> Self {
        let acted = |synced, is_read| Acted { synced, is_read, is_known: false, newest: None };
        let reads_endpoints = controllers.iter().any(|name| *name != ENDPOINTSLICE);
        FirstWrites {
            probation: Probation::new(limit, controllers.iter().copied()),
            inputs: Inputs::new(caches),
            changes: Arc::clone(&recorder.changes),
            slices: acted(caches.slices.store_synced(), true),
            endpoints: acted(caches.endpoints.store_synced(), reads_endpoints),
            many_vanished: None,
        }
    }

    /// Returns whether the periods of all controllers have ended.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.probation.is_over(now)
    }

    /// Decides about a plan; `None` if the period of the controller has ended.
    pub(super) fn decide<T: WrittenObject>(
        &mut self,
        now: Instant,
        controller: &'static str,
        key: &ObjectKey,
        writes: &[PlannedWrite<'_, T>],
    ) -> Option<Decision> {
        if self.probation.is_over_for(controller, now) {
            return None;
        }
        locked(&self.changes).record_all();
        self.slices.find(|| self.inputs.newest_slice());
        self.endpoints.find(|| self.inputs.newest_endpoints());
        if writes.is_empty() {
            self.probation.settled(controller, key);
            return Some(Decision::Send);
        }
        // If the list of slices is wrong, Endpoints show that there was a writer.
        if controller != ENDPOINTS && self.endpoints.is_read && !self.endpoints.is_known {
            return Some(Decision::Recheck);
        }
        let acted = self.slices.newest.max(self.endpoints.newest);
        let mut facts = self.inputs.facts(controller, key, writes, &locked(&self.changes), acted);
        if facts.has_vanished && !*self.many_vanished.get_or_insert_with(|| self.inputs.vanished().are_many()) {
            // Deleted while no instance ran.
            (facts.has_vanished, facts.has_changed) = (false, true);
        }
        let plan = plan(controller, key, writes, facts);
        Some(self.probation.decide(now, plan, self.inputs.objects(), |at| describe(key, &writes[at])))
    }
}

fn plan<'a, T: WrittenObject>(
    controller: &'static str,
    key: &'a ObjectKey,
    writes: &[PlannedWrite<'_, T>],
    facts: Facts,
) -> Plan<'a> {
    let id = |(at, write): (usize, &PlannedWrite<'_, T>)| match replaced(write) {
        None => WriteId::Create(at, facts.acted),
        Some(stored) => {
            let metadata = stored.metadata();
            WriteId::Replace(metadata.name.clone(), metadata.resource_version.clone())
        }
    };
    let writes = writes.iter().enumerate().map(id).collect();
    Plan { controller, key, is_explained: facts.explain(), has_vanished: facts.has_vanished, writes }
}
