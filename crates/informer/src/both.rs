//! Two metrics providers as one.

use std::{sync::Arc, time::Duration};

use kube_wire::{Resource, ResourceVersion};

use crate::{GuardOutcome, HandlerMetrics, InformerMetrics, InformerMetricsProvider, Progress, RelistCause};

/// Calls both providers, the first one first.
impl<A: InformerMetricsProvider, B: InformerMetricsProvider> InformerMetricsProvider for (A, B) {
    fn informer(&self, resource: &Resource) -> Arc<dyn InformerMetrics> {
        Arc::new(Both(self.0.informer(resource), self.1.informer(resource)))
    }
}

struct Both<T: ?Sized>(Arc<T>, Arc<T>);

impl InformerMetrics for Both<dyn InformerMetrics> {
    fn listed(&self, items: usize, took: Duration) {
        self.0.listed(items, took);
        self.1.listed(items, took);
    }

    fn list_failed(&self) {
        self.0.list_failed();
        self.1.list_failed();
    }

    fn watch_opened(&self) {
        self.0.watch_opened();
        self.1.watch_opened();
    }

    fn relist(&self, cause: RelistCause) {
        self.0.relist(cause);
        self.1.relist(cause);
    }

    fn undecodable(&self) {
        self.0.undecodable();
        self.1.undecodable();
    }

    fn undecodable_objects(&self, objects: usize) {
        self.0.undecodable_objects(objects);
        self.1.undecodable_objects(objects);
    }

    fn processed(&self, took: Duration) {
        self.0.processed(took);
        self.1.processed(took);
    }

    fn stored(&self, version: &ResourceVersion, objects: usize) {
        self.0.stored(version, objects);
        self.1.stored(version, objects);
    }

    fn guarded(&self, outcome: GuardOutcome) {
        self.0.guarded(outcome);
        self.1.guarded(outcome);
    }

    fn register_progress(&self, progress: &Progress) {
        self.0.register_progress(progress);
        self.1.register_progress(progress);
    }

    fn handler(&self, name: &str) -> Arc<dyn HandlerMetrics> {
        Arc::new(Both(self.0.handler(name), self.1.handler(name)))
    }
}

impl HandlerMetrics for Both<dyn HandlerMetrics> {
    fn queued(&self, events: usize) {
        self.0.queued(events);
        self.1.queued(events);
    }

    fn delivered(&self, events: usize) {
        self.0.delivered(events);
        self.1.delivered(events);
    }

    fn lag(&self, waited: Duration) {
        self.0.lag(waited);
        self.1.lag(waited);
    }
}
