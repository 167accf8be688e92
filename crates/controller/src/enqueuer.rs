//! The interface through which handlers add keys to the queue of a controller.

use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use educe::Educe;
use kube_workqueue::Queue;
use tokio::time::Instant;

use crate::damping::Damping;
use crate::observer::Observer;
use crate::pacing::Pacing;
use crate::removals::Removals;
use crate::{Batching, Urgency, locked};

/// Adds keys to the queue of a controller. Clones add to the same queue.
///
/// Handlers get one from [`ControllerBuilder::watch`](crate::ControllerBuilder::watch), other parts of a controller
/// from [`ControllerBuilder::enqueuer`](crate::ControllerBuilder::enqueuer).
#[derive(Educe)]
#[educe(Clone(bound(false)))]
pub struct Enqueuer<K> {
    queue: Queue<K>,
    removals: Removals<K>,
    damping: Arc<Mutex<Damping<K>>>,
    pacing: Arc<Mutex<Pacing<K>>>,
    on_change: Arc<OnceLock<OnChange<K>>>,
    /// Observer and source name of measured adds; `None` disables measurement.
    measured: Option<(Observer<K>, Arc<str>)>,
}

/// Function that gets each key that a change enqueues.
type OnChange<K> = Box<dyn Fn(&K) + Send + Sync>;

impl<K> std::fmt::Debug for Enqueuer<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Enqueuer").finish_non_exhaustive()
    }
}

impl<K: Clone + Eq + Hash + Send + 'static> Enqueuer<K> {
    /// Returns an enqueuer whose adds are not measured.
    pub(crate) fn new(queue: Queue<K>, removals: Removals<K>) -> Self {
        let (damping, pacing, on_change) = (Arc::default(), Arc::default(), Arc::default());
        Enqueuer { queue, removals, damping, pacing, on_change, measured: None }
    }

    /// Returns an enqueuer of the same queue whose adds are measured as events of `source`.
    pub(crate) fn measured(&self, observer: &Observer<K>, source: Arc<str>) -> Self {
        Enqueuer { measured: Some((observer.clone(), source)), ..self.clone() }
    }

    /// Adds a key without delay.
    pub fn add(&self, key: K) {
        self.observe(&key);
        self.queue.add(key);
    }

    /// Adds a key after `delay`, or up to a tenth of it later to share a timer with other keys; see
    /// [`Queue::add_after_about`].
    pub fn add_after(&self, key: K, delay: Duration) {
        self.observe(&key);
        self.queue.add_after_about(key, delay);
    }

    /// Adds a key because of a change, after the delay of [`add_change_after`](Self::add_change_after) that a change
    /// without a delay has: none if the key is quiet.
    pub fn add_change(&self, key: K, urgency: Urgency) {
        match self.paced(&key, urgency, Duration::ZERO) {
            Duration::ZERO => self.add(key),
            delay => self.add_after(key, delay),
        }
    }

    /// Adds a key because of a change, after `delay`.
    ///
    /// The sync of a key that keeps changing is due later: at least one interval after the previous one, so that it combines
    /// changes. The first interval is 20 ms, or up to 100 ms if [`set_interval`](Self::set_interval) set a longer one; further
    /// ones, while changes are less than 100 ms apart, are the one that was set. It halves for each 100 ms without a change.
    /// Upstream's syncs take as long with their writes, and combine as many changes.
    ///
    /// With [`Batching::Adaptive`], it doubles from 100 ms to 1 s while changes are less than 500 ms apart, and halves for
    /// each 500 ms without a change. A change of [`Urgency::High`] is delayed by at most 200 ms, unless `delay` is longer, and
    /// brings those that wait forward.
    ///
    /// As with [`add_after`](Self::add_after), the sync may be up to a tenth of its delay late. Initial contents
    /// and resyncs, which are no changes, are added after `delay`.
    pub fn add_change_after(&self, key: K, urgency: Urgency, delay: Duration) {
        let delay = self.paced(&key, urgency, delay);
        self.add_after(key, delay);
    }

    /// Sets the time that a sync of this key takes upstream: the longest interval between its syncs while it keeps
    /// changing, at most 500 ms. With [`Batching::Adaptive`] it has no effect. To be called by each sync; up to 20 ms are
    /// forgotten, as for a key that no longer exists.
    pub fn set_interval(&self, key: &K, interval: Duration) {
        locked(&self.pacing).set_interval(key, interval);
    }

    /// Returns the delay of a change whose delay is `delay` if its key is quiet.
    fn paced(&self, key: &K, urgency: Urgency, delay: Duration) -> Duration {
        if urgency == Urgency::High {
            self.removals.add(key.clone());
        }
        match &self.measured {
            Some(_) => locked(&self.pacing).record_change(key.clone(), urgency, delay, Instant::now()),
            None => delay,
        }
    }

    /// Adds a key because another client changed or deleted an object that this controller wrote, or because a read from the
    /// server contradicts the cache.
    ///
    /// The first five calls for a key behave as [`add_after`](Self::add_after). Then the delay doubles with each call,
    /// from 1 s to 30 s, but is at least `delay`: otherwise two clients that undo each other's writes would do so at
    /// full speed. Calls before the delay of the previous one has passed are not counted. The count is reset one minute
    /// after the last delay.
    pub fn add_contested(&self, key: K, delay: Duration) {
        let delay = locked(&self.damping).record_change(key.clone(), delay, Instant::now());
        self.add_after(key, delay);
    }

    /// Adds a key for a second sync after a successful one. Its propagation latency is not measured.
    ///
    /// The delay is `delay`, or for a [contested](Self::is_contested) key that of the next
    /// [`add_contested`](Self::add_contested) if it is longer.
    pub fn requeue(&self, key: K, delay: Duration) {
        let delay = locked(&self.damping).next_delay(&key, delay, Instant::now());
        self.queue.add_after_about(key, delay);
    }

    /// Returns whether another client contests the key: one minute has not passed since the delay of its last
    /// [`add_contested`](Self::add_contested) ended.
    ///
    /// The cache may be stale then: the garbage collector deletes objects whose owner is deleted, while the cache still
    /// contains the owner. A sync should read the owner from the API server before it creates such objects again.
    pub fn is_contested(&self, key: &K) -> bool {
        locked(&self.damping).is_contested(key, Instant::now())
    }

    /// Sets how changes are combined, before the first one.
    pub(crate) fn batching(&self, batching: Batching) {
        locked(&self.pacing).set_batching(batching);
    }

    /// Sets the function of [`Controller::on_change`](crate::Controller::on_change), once.
    pub(crate) fn on_change(&self, observe: impl Fn(&K) + Send + Sync + 'static) {
        let _ = self.on_change.set(Box::new(observe));
    }

    fn observe(&self, key: &K) {
        if let Some((observer, source)) = &self.measured {
            observer.queued(key, source);
            if let Some(observe) = self.on_change.get() {
                observe(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::JoinSet;
    use tokio::time::{sleep, sleep_until, timeout};

    use super::*;

    /// A queue and its enqueuer of changes with adaptive batching.
    struct Rig {
        queue: Queue<&'static str>,
        keys: Enqueuer<&'static str>,
        start: Instant,
        _timer: JoinSet<()>,
    }

    impl Rig {
        fn new() -> Rig {
            let (queue, timer) = Queue::builder().build();
            let mut tasks = JoinSet::new();
            tasks.spawn(timer.run());
            let keys = Enqueuer::new(queue.clone(), Removals::default()).measured(&Observer::new(None), "pods".into());
            keys.batching(Batching::Adaptive);
            Rig { queue, keys, start: Instant::now(), _timer: tasks }
        }

        /// Changes the key every 10 ms until `end`, and returns the times of its syncs in milliseconds. A sync takes
        /// 20 ms.
        async fn syncs(&self, end: Duration, urgency: impl Fn(Duration) -> Urgency) -> Vec<u128> {
            let change = async {
                while self.start.elapsed() < end {
                    self.keys.add_change("web", urgency(self.start.elapsed()));
                    sleep(Duration::from_millis(10)).await;
                }
                std::future::pending::<()>().await;
            };
            let mut syncs = Vec::new();
            let sync = async {
                while let Ok(Some(_key)) = timeout(Duration::from_secs(10), self.queue.get()).await {
                    syncs.push(self.start.elapsed().as_millis());
                    sleep(Duration::from_millis(20)).await;
                }
            };
            tokio::select! {
                biased;
                () = sync => {}
                () = change => {}
            }
            syncs
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_removal_among_additions_is_synced_within_220_ms() {
        for removal in (3_000..5_000).step_by(70) {
            let rig = Rig::new();
            let removed = |at: Duration| at.as_millis() == removal;
            let urgency = |at| if removed(at) { Urgency::High } else { Urgency::Normal };
            let syncs = rig.syncs(Duration::from_secs(6), urgency).await;
            let next = syncs.iter().find(|sync| **sync >= removal).expect("a sync after the removal");
            assert!(next - removal <= 221, "{removal}: {syncs:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn initial_contents_and_lone_changes_are_not_delayed() {
        let rig = Rig::new();
        let initial = Enqueuer { measured: None, ..rig.keys.clone() };
        for _ in 0..3 {
            initial.add_change("web", Urgency::Normal);
            assert!(rig.queue.get().await.is_some());
        }
        for at in [0, 600, 5_000] {
            sleep_until(rig.start + Duration::from_millis(at)).await;
            rig.keys.add_change("web", Urgency::Normal);
            assert!(rig.queue.get().await.is_some());
            assert_eq!(rig.start.elapsed().as_millis(), at.into());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn retries_and_adds_without_a_change_are_not_delayed() {
        let rig = Rig::new();
        for _ in 0..3 {
            rig.keys.add_change("web", Urgency::Normal);
        }
        drop(rig.queue.get().await.expect("the first change"));
        rig.keys.add("web");
        drop(rig.queue.get().await.expect("an add"));
        assert_eq!(rig.start.elapsed(), Duration::ZERO);
        drop(rig.queue.get().await.expect("the other changes"));
        assert!((100..=111).contains(&rig.start.elapsed().as_millis()), "{:?}", rig.start.elapsed());
    }
}
