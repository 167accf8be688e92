//! Propagation latency: the time from the event that queued a key to the end of the sync that wrote.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use educe::Educe;
use tokio::time::Instant;

use crate::{ControllerMetrics, Latency, Outcome, locked};

/// Event that queued a key.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cause {
    source: Arc<str>,
    at: Instant,
}

/// Measures the propagation latency of the keys of one controller. Clones share their state.
///
/// Only the first event of a key since its last sync is measured. Without metrics, nothing is stored and no clock is
/// read.
#[derive(Educe)]
#[educe(Clone(bound(false)))]
pub(crate) struct Observer<K>(Option<Arc<Shared<K>>>);

struct Shared<K> {
    metrics: Arc<dyn ControllerMetrics>,
    waiting: Mutex<HashMap<K, Cause>>,
}

/// Capacity above which an empty map is freed.
const MAX_SPARE_CAPACITY: usize = 64;

impl<K: Clone + Eq + Hash> Observer<K> {
    pub(crate) fn new(metrics: Option<Arc<dyn ControllerMetrics>>) -> Self {
        Observer(metrics.map(|metrics| Arc::new(Shared { metrics, waiting: Mutex::default() })))
    }

    /// Records an event of `source` that queues `key`. Call it before the key is added to the queue: a worker may start
    /// the sync at once.
    pub(crate) fn queued(&self, key: &K, source: &Arc<str>) {
        if let Some(shared) = &self.0 {
            let at = Instant::now();
            locked(&shared.waiting).entry(key.clone()).or_insert_with(|| Cause { source: Arc::clone(source), at });
        }
    }

    /// Starts the measurement of a sync of `key`. Later events belong to the next sync.
    pub(crate) fn start(&self, key: &K) -> SyncObservation<'_, K> {
        let running = self.0.as_deref().and_then(|shared| {
            let mut waiting = locked(&shared.waiting);
            let cause = waiting.remove(key)?;
            if waiting.is_empty() && waiting.capacity() > MAX_SPARE_CAPACITY {
                *waiting = HashMap::new();
            }
            Some(RunningSync { shared, key: key.clone(), cause, started: Instant::now() })
        });
        SyncObservation(running)
    }
}

/// Measurement of one sync; empty if no event of the key is recorded.
#[must_use]
pub(crate) struct SyncObservation<'a, K>(Option<RunningSync<'a, K>>);

struct RunningSync<'a, K> {
    shared: &'a Shared<K>,
    key: K,
    cause: Cause,
    started: Instant,
}

impl<K: Eq + Hash> SyncObservation<'_, K> {
    /// Reports the latency if the sync wrote. After an error the event is recorded again, for the retry.
    pub(crate) fn end<E>(self, result: &Result<Outcome, E>) {
        let Some(RunningSync { shared, key, cause, started }) = self.0 else { return };
        match result {
            Ok(Outcome::Written) => {
                let latency = Latency { queue: started.saturating_duration_since(cause.at), sync: started.elapsed() };
                shared.metrics.propagated(&cause.source, latency);
            }
            Ok(Outcome::Unchanged) => {}
            // Replaces an event recorded during the sync, which is later.
            Err(_) => {
                locked(&shared.waiting).insert(key, cause);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rstest::rstest;
    use tokio::time::advance;

    use super::*;

    #[derive(Default)]
    struct Reported(Mutex<Vec<(String, u64, u64)>>);

    impl ControllerMetrics for Reported {
        fn propagated(&self, source: &str, latency: Latency) {
            let millis = |it: Duration| u64::try_from(it.as_millis()).unwrap();
            locked(&self.0).push((source.to_owned(), millis(latency.queue), millis(latency.sync)));
        }
    }

    /// Step of a test with one key. Each starts 10 ms after the previous one; a sync takes 10 ms.
    #[derive(Clone, Copy)]
    enum Step {
        Event(&'static str),
        Sync(Result<Outcome, ()>),
        /// A sync with an event during it.
        SyncDuring(&'static str, Result<Outcome, ()>),
    }
    use Step::{Event, Sync, SyncDuring};

    const WRITTEN: Result<Outcome, ()> = Ok(Outcome::Written);
    const UNCHANGED: Result<Outcome, ()> = Ok(Outcome::Unchanged);
    const FAILED: Result<Outcome, ()> = Err(());

    #[rstest]
    #[case::written(&[Event("pods"), Sync(WRITTEN)], &[("pods", 10, 10)])]
    #[case::first_event_counts(&[Event("pods"), Event("services"), Sync(WRITTEN)], &[("pods", 20, 10)])]
    #[case::written_once(&[Event("pods"), Sync(WRITTEN), Sync(WRITTEN)], &[("pods", 10, 10)])]
    #[case::unchanged(&[Event("pods"), Sync(UNCHANGED), Sync(WRITTEN)], &[])]
    #[case::retried(&[Event("pods"), Sync(FAILED), Sync(WRITTEN)], &[("pods", 30, 10)])]
    #[case::event_during_a_sync(
        &[Event("pods"), SyncDuring("nodes", WRITTEN), Sync(WRITTEN)], &[("pods", 10, 10), ("nodes", 10, 10)])]
    #[case::event_during_a_failed_sync(
        &[Event("pods"), SyncDuring("nodes", FAILED), Sync(WRITTEN), Sync(WRITTEN)], &[("pods", 30, 10)])]
    #[tokio::test(start_paused = true)]
    async fn latency_is_reported_for_the_first_event_before_a_write(
        #[case] steps: &[Step],
        #[case] expected: &[(&str, u64, u64)],
    ) {
        const STEP: Duration = Duration::from_millis(10);
        let reported = Arc::new(Reported::default());
        let observer = Observer::new(Some(reported.clone()));
        for step in steps {
            advance(STEP).await;
            match *step {
                Event(source) => observer.queued(&"web", &source.into()),
                Sync(result) => {
                    let observation = observer.start(&"web");
                    advance(STEP).await;
                    observation.end(&result);
                }
                SyncDuring(source, result) => {
                    let observation = observer.start(&"web");
                    advance(STEP).await;
                    observer.queued(&"web", &source.into());
                    observation.end(&result);
                }
            }
        }
        let reported = locked(&reported.0);
        let reported: Vec<_> = reported.iter().map(|(source, queue, sync)| (source.as_str(), *queue, *sync)).collect();
        assert_eq!(reported, expected);
    }

    #[test]
    fn nothing_is_stored_without_metrics_or_events() {
        let observer = Observer::new(None);
        observer.queued(&1, &"pods".into());
        assert!(observer.start(&1).0.is_none());
        let observer = Observer::new(Some(Arc::new(Reported::default())));
        (0..1_000).for_each(|key| observer.queued(&key, &"pods".into()));
        (0..1_000).for_each(|key| observer.start(&key).end::<()>(&Ok(Outcome::Unchanged)));
        let waiting = &observer.0.as_ref().unwrap().waiting;
        assert_eq!(locked(waiting).capacity(), 0);
    }
}
