//! What a queue reports of itself, and to whom.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::core::Index;

/// Makes the metrics of named queues.
pub trait MetricsProvider: Send + Sync {
    /// The metrics of the queue of that name. Asked once, when the queue is built.
    fn queue(&self, name: &str) -> Arc<dyn QueueMetrics>;
}

impl<P: MetricsProvider + ?Sized> MetricsProvider for Arc<P> {
    fn queue(&self, name: &str) -> Arc<dyn QueueMetrics> {
        (**self).queue(name)
    }
}

/// What happens in one queue. Called under the queue's lock: be quick, and do not call the queue.
pub trait QueueMetrics: Send + Sync {
    /// A key was accepted: one more add, and the queue one deeper. Keys that were queued already do not count, those
    /// added while they are being processed do.
    fn added(&self);

    /// A key was handed out, `waited` after it was first added: the queue one less deep.
    fn taken(&self, waited: Duration);

    /// A key was done with, `worked` after it was handed out.
    fn finished(&self, worked: Duration);

    /// A key was added with a delay, be it zero, or rate limited.
    fn retried(&self);

    /// Twice a second: for how long the keys in process have been with their workers, in all and at the longest.
    fn unfinished(&self, total: Duration, longest: Duration);
}

/// How often the gauges of the keys in process are set.
pub(crate) const REPORT_EVERY: Duration = Duration::from_millis(500);

/// Takes the times of keys and hands durations to the metrics.
pub(crate) struct Meter {
    sink: Arc<dyn QueueMetrics>,
    /// By index of the key's entry.
    times: Vec<Times>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Times {
    /// The first add that no worker has picked up yet.
    added: Option<Instant>,
    /// The hand-out.
    taken: Option<Instant>,
}

impl Meter {
    pub(crate) fn new(sink: Arc<dyn QueueMetrics>) -> Self {
        Self { sink, times: Vec::new() }
    }

    pub(crate) fn added(&mut self, index: Index, now: Instant) {
        self.times_of(index).added.get_or_insert(now);
        self.sink.added();
    }

    pub(crate) fn taken(&mut self, index: Index, now: Instant) {
        let times = self.times_of(index);
        let added = times.added.take().unwrap_or(now);
        times.taken = Some(now);
        self.sink.taken(now.saturating_duration_since(added));
    }

    pub(crate) fn finished(&mut self, index: Index, now: Instant) {
        let taken = self.times_of(index).taken.take().unwrap_or(now);
        self.sink.finished(now.saturating_duration_since(taken));
    }

    pub(crate) fn retried(&self) {
        self.sink.retried();
    }

    /// Reports on the keys in process, the longest in process first.
    pub(crate) fn report(&self, processing: impl Iterator<Item = Index>, now: Instant) {
        let mut ages = processing
            .filter_map(|index| self.times.get(index as usize)?.taken)
            .map(|taken| now.saturating_duration_since(taken))
            .peekable();
        let longest = ages.peek().copied().unwrap_or_default();
        self.sink.unfinished(ages.fold(Duration::ZERO, Duration::saturating_add), longest);
    }

    fn times_of(&mut self, index: Index) -> &mut Times {
        let at = index as usize;
        if at >= self.times.len() {
            self.times.resize(at + 1, Times::default());
        }
        &mut self.times[at]
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter").finish_non_exhaustive()
    }
}
