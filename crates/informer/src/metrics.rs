//! Traits for the metrics of informers.

use std::{sync::Arc, time::Duration};

use kube_wire::{Resource, ResourceVersion};
use tokio::time::Instant;

use crate::Progress;

/// Creates the metrics of informers (client-go: `InformerMetricsProvider`). Also implemented for a pair of providers.
pub trait InformerMetricsProvider: Send + Sync {
    /// Returns the metrics of the informer of a resource. Called once, when the informer is built.
    fn informer(&self, resource: &Resource) -> Arc<dyn InformerMetrics>;
}

impl<P: InformerMetricsProvider + ?Sized> InformerMetricsProvider for Arc<P> {
    fn informer(&self, resource: &Resource) -> Arc<dyn InformerMetrics> {
        (**self).informer(resource)
    }
}

/// Metrics of one informer.
///
/// The informer waits for each call: implementations must not block and must not call the informer.
pub trait InformerMetrics: Send + Sync {
    /// Records a complete list: the number of its items, and the time since its first request.
    fn listed(&self, items: usize, took: Duration);

    /// Records a failed list.
    fn list_failed(&self);

    /// Records that a watch was opened.
    fn watch_opened(&self);

    /// Records a relist in place of a resumed watch, which would cost the server far less.
    fn relist(&self, cause: RelistCause);

    /// Records an item of a list or an event of a watch that could not be decoded.
    fn undecodable(&self);

    /// Sets the number of objects whose newest state could not be decoded. The store has an older state of them, or
    /// none.
    fn undecodable_objects(&self, objects: usize);

    /// Records the time taken to store one event or list and to queue it for the handlers.
    fn processed(&self, took: Duration);

    /// Sets the resource version of the store and the number of its objects. Called after each event, list and
    /// bookmark.
    fn stored(&self, version: &ResourceVersion, objects: usize);

    /// Records a decision on a list that lacks many objects, see [`Guard`](crate::Guard). The default
    /// implementation does nothing.
    fn guarded(&self, _outcome: GuardOutcome) {}

    /// Passes the time of the last list, event or bookmark, to be read when metrics are collected. Called once, when
    /// the informer is built. The default implementation does nothing.
    fn register_progress(&self, _progress: &Progress) {}

    /// Returns the metrics of a handler; `name` is empty if it has none. Called once, when the handler is added.
    fn handler(&self, name: &str) -> Arc<dyn HandlerMetrics>;
}

/// Metrics of the queue of one handler.
pub trait HandlerMetrics: Send + Sync {
    /// Records queued events.
    fn queued(&self, events: usize);

    /// Records events that left the queue.
    fn delivered(&self, events: usize);

    /// Records how long the next event has waited in the queue. Sampled about once a second while there are events.
    fn lag(&self, waited: Duration);
}

/// Cause of a relist in place of a resumed watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RelistCause {
    /// The resource version of the store is no longer in the server's history (410).
    Expired,
    /// The server has not reached that version: etcd was restored from a backup, or another replica answered.
    Ahead,
    /// The watch ended within 1 s without an event.
    Short,
    /// The program waits for a later version in [`Informer::catch_up`](crate::Informer::catch_up), for example as a new
    /// leader.
    Requested,
    /// The server acknowledged a write that the watch does not show.
    LostWrite,
    /// The watch was rejected, ended with another error, or delivered data that cannot be decoded.
    Failed,
    /// A list is held because it lacks objects that exist, see [`Guard`](crate::Guard).
    Confirm,
}

impl RelistCause {
    /// All causes of a relist.
    pub const ALL: [Self; 7] =
        [Self::Expired, Self::Ahead, Self::Short, Self::Requested, Self::LostWrite, Self::Failed, Self::Confirm];

    /// Returns the value of the label `cause` in metrics, such as `expired`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Ahead => "ahead",
            Self::Short => "short",
            Self::Requested => "requested",
            Self::LostWrite => "lost_write",
            Self::Failed => "failed",
            Self::Confirm => "confirm",
        }
    }
}

/// Decision on a list that lacks many objects, or follows such a list, see [`Guard`](crate::Guard).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum GuardOutcome {
    /// An object that a list lacks exists or cannot be read: the list is held.
    Held,
    /// The objects that were read do not exist: the list is right.
    Confirmed,
    /// A list after a held one lacks no object.
    Withdrawn,
}

impl GuardOutcome {
    /// All decisions on lists.
    pub const ALL: [Self; 3] = [Self::Held, Self::Confirmed, Self::Withdrawn];

    /// Returns the value of the label `result` in metrics, such as `held`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Confirmed => "confirmed",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// Minimum time between two samples of the lag of a handler.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);

/// Metrics of one informer, if there is a provider. Otherwise it does nothing and reads no clock.
#[derive(Clone)]
pub(crate) struct Meter(Option<Arc<dyn InformerMetrics>>);

impl Meter {
    pub(crate) fn new(provider: Option<&dyn InformerMetricsProvider>, resource: &Resource) -> Self {
        Self(provider.map(|provider| provider.informer(resource)))
    }

    /// Returns the current time for [`record_time`](Self::record_time); `None` without metrics.
    pub(crate) fn start_timer(&self) -> Option<Instant> {
        self.0.as_ref().map(|_| Instant::now())
    }

    pub(crate) fn record(&self, record: impl FnOnce(&dyn InformerMetrics)) {
        if let Some(metrics) = &self.0 {
            record(&**metrics);
        }
    }

    pub(crate) fn record_time(&self, started_at: Option<Instant>, record: impl FnOnce(&dyn InformerMetrics, Duration)) {
        if let (Some(metrics), Some(started_at)) = (&self.0, started_at) {
            record(&**metrics, started_at.elapsed());
        }
    }

    pub(crate) fn handler(&self, name: &str) -> Option<HandlerMeter> {
        Some(HandlerMeter { sink: self.0.as_ref()?.handler(name), next_sample: Instant::now() })
    }
}

/// Metrics of a handler, for the sending end of its queue.
pub(crate) struct HandlerMeter {
    pub(crate) sink: Arc<dyn HandlerMetrics>,
    next_sample: Instant,
}

impl HandlerMeter {
    /// Records that events were queued. Returns the current time if their lag is to be sampled.
    pub(crate) fn queued(&mut self, events: usize) -> Option<Instant> {
        self.sink.queued(events);
        let now = Instant::now();
        (now >= self.next_sample).then(|| {
            self.next_sample = now + SAMPLE_INTERVAL;
            now
        })
    }
}
