//! What an informer reports of itself, and to whom.

use std::{sync::Arc, time::Duration};

use kube_wire::{Resource, ResourceVersion};
use tokio::time::Instant;

use crate::Progress;

/// Makes the metrics of informers.
pub trait MetricsProvider: Send + Sync {
    /// The metrics of the informer of a type. Asked once, when the informer is built.
    fn informer(&self, of: &Resource) -> Arc<dyn InformerMetrics>;
}

impl<P: MetricsProvider + ?Sized> MetricsProvider for Arc<P> {
    fn informer(&self, of: &Resource) -> Arc<dyn InformerMetrics> {
        (**self).informer(of)
    }
}

/// What happens in one informer. Called while the informer waits: be quick, and do not call the informer.
pub trait InformerMetrics: Send + Sync {
    /// A list is complete and stored: so many items, in so much time from the first request on.
    fn listed(&self, items: usize, took: Duration);

    /// A list failed.
    fn list_failed(&self);

    /// A watch was opened.
    fn watching(&self);

    /// A watch is given up for a list, which costs the server far more than a watch that goes on.
    fn relisting(&self, cause: RelistCause);

    /// An item of a list, or an event of a watch, could not be decoded; the others were.
    fn undecodable(&self);

    /// Number of objects whose newest state could not be decoded. The store has an older state of them, or none.
    fn undecodable_objects(&self, objects: usize);

    /// One event or list was stored and put before the handlers, which took so long.
    fn processed(&self, took: Duration);

    /// The store is good up to this version and holds so many objects. Said after each event, list and bookmark.
    fn stored(&self, version: &ResourceVersion, objects: usize);

    /// Hands over the time of the last list, event or bookmark, to be read when metrics are collected. Called once, when the
    /// informer is built; does nothing unless implemented.
    fn follow(&self, _progress: &Progress) {}

    /// The metrics of a handler. Asked once, when the handler is added.
    fn handler(&self, name: &str) -> Arc<dyn HandlerMetrics>;
}

/// How far a handler is behind.
pub trait HandlerMetrics: Send + Sync {
    /// So many events more wait for the handler.
    fn queued(&self, events: usize);

    /// So many of them wait no more.
    fn delivered(&self, events: usize);

    /// What is delivered now has waited this long. Sampled about once a second while there are events.
    fn lag(&self, waited: Duration);
}

/// Why an informer lists again instead of going on with its watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RelistCause {
    /// The version from which to go on is no longer in the server's history (410).
    Expired,
    /// The server is behind that version: it was restored, or is another replica.
    Ahead,
    /// The watch ended within a second and without a word.
    Short,
    /// The program asked for a list: a new leader whose cache is behind the server.
    Requested,
    /// The server acknowledged a write, but the watch does not show it.
    LostWrite,
    /// The watch was refused or broke otherwise, or brought what cannot be read.
    Failed,
}

impl RelistCause {
    /// The cause in one word, for a label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Ahead => "ahead",
            Self::Short => "short",
            Self::Requested => "requested",
            Self::LostWrite => "lost_write",
            Self::Failed => "failed",
        }
    }
}

/// How often the lag of a handler is sampled.
const SAMPLE: Duration = Duration::from_secs(1);

/// Takes the times of an informer's work; does nothing, and reads no clock, where nobody wants to know.
#[derive(Clone)]
pub(crate) struct Meter(Option<Arc<dyn InformerMetrics>>);

impl Meter {
    pub(crate) fn new(provider: Option<&dyn MetricsProvider>, of: &Resource) -> Self {
        Self(provider.map(|provider| provider.informer(of)))
    }

    /// When a list begins; to be given to [`listed`](Self::listed).
    pub(crate) fn begin(&self) -> Option<Instant> {
        self.0.as_ref().map(|_| Instant::now())
    }

    pub(crate) fn listed(&self, items: usize, begun: Option<Instant>) {
        if let (Some(sink), Some(begun)) = (&self.0, begun) {
            sink.listed(items, begun.elapsed());
        }
    }

    pub(crate) fn list_failed(&self) {
        if let Some(sink) = &self.0 {
            sink.list_failed();
        }
    }

    pub(crate) fn watching(&self) {
        if let Some(sink) = &self.0 {
            sink.watching();
        }
    }

    pub(crate) fn relisting(&self, cause: RelistCause) {
        if let Some(sink) = &self.0 {
            sink.relisting(cause);
        }
    }

    pub(crate) fn undecodable(&self) {
        if let Some(sink) = &self.0 {
            sink.undecodable();
        }
    }

    pub(crate) fn undecodable_objects(&self, objects: usize) {
        if let Some(sink) = &self.0 {
            sink.undecodable_objects(objects);
        }
    }

    pub(crate) fn processed(&self, begun: Option<Instant>) {
        if let (Some(sink), Some(begun)) = (&self.0, begun) {
            sink.processed(begun.elapsed());
        }
    }

    /// Asks for what is stored only if somebody wants to know.
    pub(crate) fn stored(&self, now: impl FnOnce() -> (ResourceVersion, usize)) {
        if let Some(sink) = &self.0 {
            let (version, objects) = now();
            sink.stored(&version, objects);
        }
    }

    pub(crate) fn follow(&self, progress: &Progress) {
        if let Some(sink) = &self.0 {
            sink.follow(progress);
        }
    }

    pub(crate) fn handler(&self, name: &str) -> Option<HandlerMeter> {
        Some(HandlerMeter { sink: self.0.as_ref()?.handler(name), next_sample: Instant::now() })
    }
}

/// The sending half of a handler's metrics.
pub(crate) struct HandlerMeter {
    pub(crate) sink: Arc<dyn HandlerMetrics>,
    next_sample: Instant,
}

impl HandlerMeter {
    /// Notes that events were queued, and says whether their wait is to be measured.
    pub(crate) fn queued(&mut self, events: usize) -> Option<Instant> {
        self.sink.queued(events);
        let now = Instant::now();
        (now >= self.next_sample).then(|| {
            self.next_sample = now + SAMPLE;
            now
        })
    }
}
