//! How a queue is configured.

use std::{fmt, hash::Hash};

use crate::{
    Lanes, MetricsProvider, Queue, RateLimiter, Timer, default_controller_limiter, metrics::Meter, shared::Shared,
    sync::Arc,
};

/// Configures a queue; from [`Queue::builder`].
///
/// Unless told otherwise a queue has no name and no metrics, one lane, and the
/// [limiter of most controllers](default_controller_limiter).
#[must_use = "a builder does nothing until it is built"]
pub struct Builder<K> {
    name: Option<String>,
    limiter: Option<Box<dyn RateLimiter<K>>>,
    metrics: Option<Box<dyn MetricsProvider>>,
    lanes: Lanes,
}

impl<K: Clone + Eq + Hash + Send + 'static> Builder<K> {
    pub(crate) fn new() -> Self {
        Self { name: None, limiter: None, metrics: None, lanes: Lanes::ONE }
    }

    /// The name under which the queue is measured. Without one there are no metrics.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Decides how long [`Queue::add_rate_limited`] waits.
    pub fn limiter(mut self, limiter: impl RateLimiter<K> + 'static) -> Self {
        self.limiter = Some(Box::new(limiter));
        self
    }

    /// Where the metrics go. Without a provider nothing is measured, and nothing is spent on it.
    pub fn metrics(mut self, provider: impl MetricsProvider + 'static) -> Self {
        self.metrics = Some(Box::new(provider));
        self
    }

    /// Priority lanes.
    pub fn lanes(mut self, lanes: Lanes) -> Self {
        self.lanes = lanes;
        self
    }

    /// The queue, and the timer that its owner has to [run](Timer::run).
    pub fn build(self) -> (Queue<K>, Timer<K>) {
        let Self { name, limiter, metrics, lanes } = self;
        let limiter = limiter.unwrap_or_else(|| Box::new(default_controller_limiter()));
        let meter = metrics.zip(name).map(|(provider, name)| Meter::new(provider.queue(&name)));
        let shared = Arc::new(Shared::new(lanes, limiter, meter));
        (Queue { shared: Arc::clone(&shared) }, Timer::new(shared))
    }
}

impl<K> fmt::Debug for Builder<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("name", &self.name).field("lanes", &self.lanes).finish_non_exhaustive()
    }
}
