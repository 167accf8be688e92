//! The metrics interface of a queue.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::core::Index;

/// Factory of the [`QueueMetrics`] of named queues.
pub trait MetricsProvider: Send + Sync {
    /// Returns the metrics of the queue `name`. Called once, by [`Builder::build`](crate::Builder::build).
    fn queue(&self, name: &str) -> Arc<dyn QueueMetrics>;
}

impl<P: MetricsProvider + ?Sized> MetricsProvider for Arc<P> {
    fn queue(&self, name: &str) -> Arc<dyn QueueMetrics> {
        (**self).queue(name)
    }
}

/// Receiver of the measurements of one queue. The methods are called with the queue's lock held: they must be fast and
/// must not call the queue.
pub trait QueueMetrics: Send + Sync {
    /// Counts an accepted key: increments adds and depth. Not called for a key that is queued already; called for the
    /// first add of a key while it is being processed.
    fn added(&self);

    /// Records that a worker got a key, `waited` after its first add: decrements the depth.
    fn taken(&self, waited: Duration);

    /// Records that a worker is done with a key, `worked` after it got the key.
    fn finished(&self, worked: Duration);

    /// Counts a rate-limited add, or another one with a delay (a zero delay included): not only failures, as in client-go.
    fn retried(&self);

    /// Sets the sum and the maximum of the times that the keys now in process have taken so far. Called every 500 ms
    /// while the [`Timer`](crate::Timer) runs, which ends with a shutdown. If the last call had other times than zero, it is
    /// called once more, with zero, when no key is in process any longer.
    fn unfinished(&self, total: Duration, longest: Duration);
}

/// Interval of [`QueueMetrics::unfinished`].
pub(crate) const REPORT_EVERY: Duration = Duration::from_millis(500);

/// Records timestamps per key and reports durations to the metrics.
pub(crate) struct Meter {
    sink: Arc<dyn QueueMetrics>,
    /// By index of the key's entry.
    times: Vec<Times>,
    /// Whether the last report had other times than zero.
    reported: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Times {
    /// Time of the first add since the key was last handed out.
    added: Option<Instant>,
    /// Time at which a worker got the key.
    taken: Option<Instant>,
}

impl Meter {
    pub(crate) fn new(sink: Arc<dyn QueueMetrics>) -> Self {
        Self { sink, times: Vec::new(), reported: false }
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

    /// Reports the ages of the keys in process; `processing` must begin with the oldest.
    pub(crate) fn report(&mut self, processing: impl Iterator<Item = Index>, now: Instant) {
        let mut ages = processing
            .filter_map(|index| self.times.get(index as usize)?.taken)
            .map(|taken| now.saturating_duration_since(taken))
            .peekable();
        let longest = ages.peek().copied().unwrap_or_default();
        self.reported = !longest.is_zero();
        self.sink.unfinished(ages.fold(Duration::ZERO, Duration::saturating_add), longest);
    }

    /// Reports that no key is in process, unless the last report said so.
    pub(crate) fn report_end(&mut self) {
        if std::mem::take(&mut self.reported) {
            self.sink.unfinished(Duration::ZERO, Duration::ZERO);
        }
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
