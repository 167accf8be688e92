//! The builder of a queue.

use std::{fmt, hash::Hash, sync::Arc};

use crate::{MetricsProvider, Queue, RetryLimiter, Timer, default_controller_limiter, metrics::Meter, shared::Shared};

/// Builder of a [`Queue`] and its [`Timer`], from [`Queue::builder`].
///
/// Defaults: no name, no metrics, and [`default_controller_limiter`].
#[must_use = "a builder does nothing until it is built"]
pub struct Builder<K> {
    name: Option<String>,
    limiter: Option<RetryLimiter<K>>,
    metrics: Option<Box<dyn MetricsProvider>>,
}

impl<K: Clone + Eq + Hash + Send + 'static> Builder<K> {
    pub(crate) fn new() -> Self {
        Self { name: None, limiter: None, metrics: None }
    }

    /// Sets the queue's name, the label of its metrics. Without a name the queue has no metrics.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the rate limiter of retries, from which [`Queue::add_rate_limited`] and [`Item::retry`](crate::Item::retry) take their
    /// delays; [`default_controller_limiter`] by default.
    pub fn limiter(mut self, limiter: RetryLimiter<K>) -> Self {
        self.limiter = Some(limiter);
        self
    }

    /// Sets the provider of the queue's metrics, such as `PrometheusMetrics` with the feature `prometheus`.
    /// Without a provider, or without a [`name`](Self::name), nothing is measured.
    pub fn metrics(mut self, provider: impl MetricsProvider + 'static) -> Self {
        self.metrics = Some(Box::new(provider));
        self
    }

    /// Builds the queue, and the timer whose [`run`](Timer::run) the owner must spawn.
    pub fn build(self) -> (Queue<K>, Timer<K>) {
        let Self { name, limiter, metrics } = self;
        let limiter = limiter.unwrap_or_else(default_controller_limiter);
        let meter = metrics.zip(name).map(|(provider, name)| Meter::new(provider.queue(&name)));
        let shared = Arc::new(Shared::new(limiter, meter));
        (Queue { shared: Arc::clone(&shared) }, Timer::new(shared))
    }
}

impl<K> fmt::Debug for Builder<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("name", &self.name).finish_non_exhaustive()
    }
}
