//! The part of an informer that does not depend on the type of its objects, and is compiled once.

use kube_wire::Resource;
use tokio::{sync::watch, time::Instant};

use crate::{
    Guard, GuardOutcome, HandlerHandle, HeldList, InformerMetricsProvider, Progress, metrics::Meter,
    relist::ListRequests,
};

/// An informer without its objects.
pub(crate) struct Untyped {
    pub(crate) resource: Resource,
    pub(crate) name: String,
    pub(crate) guard: Option<Guard>,
    pub(crate) meter: Meter,
    pub(crate) synced: watch::Sender<bool>,
    pub(crate) held_list: watch::Sender<Option<HeldList>>,
    pub(crate) requests: ListRequests,
    pub(crate) progress: Progress,
}

impl Untyped {
    pub(crate) fn new(
        resource: &Resource,
        guard: Option<Guard>,
        metrics: Option<&dyn InformerMetricsProvider>,
    ) -> Self {
        let meter = Meter::new(metrics, resource);
        let progress = Progress::default();
        meter.record(|metrics| metrics.register_progress(&progress));
        Self {
            resource: *resource,
            name: resource.to_string(),
            guard,
            meter,
            synced: watch::Sender::new(false),
            held_list: watch::Sender::new(None),
            requests: ListRequests::default(),
            progress,
        }
    }

    /// Returns a handle that is synced as soon as the first list is stored, before handlers have processed it.
    pub(crate) fn store_handle(&self) -> HandlerHandle {
        HandlerHandle::new(&self.name, self.synced.subscribe(), None)
    }

    /// Records that the last list may lack objects which exist. Logs it when it is the first such list.
    pub(crate) fn hold(&self, list: HeldList) {
        let HeldList { missing, example, found } = list.clone();
        let mut is_first = false;
        // In one step: a task that ends the hold in between would leave one of the two set.
        self.held_list.send_modify(|held| {
            is_first = self.progress.held(Instant::now());
            *held = Some(list);
        });
        if is_first {
            tracing::warn!(
                resource = self.name, missing, %example, found,
                compare = format_args!("kubectl get {} -A | wc -l", self.resource.plural),
                "A list lacks objects that exist or cannot be read: their removal waits until a list has them or reads do \
                 not find them"
            );
        }
        self.meter.record(|metrics| metrics.guarded(GuardOutcome::Held));
    }

    /// Records that the last list is believed. Returns whether one was held.
    pub(crate) fn end_hold(&self) -> bool {
        self.held_list.send_if_modified(|held| {
            self.progress.believed();
            held.take().is_some()
        })
    }

    pub(crate) fn is_held(&self) -> bool {
        self.held_list.borrow().is_some()
    }
}

#[cfg(test)]
mod tests;
