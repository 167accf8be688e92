//! Resyncs: the stored objects, delivered again.

use std::{collections::HashSet, convert::Infallible, future::pending, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use kube_wire::Object;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::{Shared, WriteSide};
use crate::{Index, Objects, changes::Changes};

/// Minimum resync period, as in client-go (`minimumResyncPeriod`).
const MIN_PERIOD: Duration = Duration::from_secs(1);

/// Calls `deliver` once per resync period; never if that is zero.
fn resync(period: Duration, deliver: Box<dyn Fn(Instant) + Send + Sync>) -> BoxFuture<'static, Infallible> {
    Box::pin(async move {
        if period.is_zero() {
            return pending().await;
        }
        let period = period.max(MIN_PERIOD);
        let mut ticks = interval_at(Instant::now() + period, period);
        // After a suspension there is one resync, not one per missed period.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            deliver(Instant::now());
        }
    })
}

impl<T: Object, X: Index<T>> Shared<T, X> {
    /// Queues all stored objects for all handlers once per period; never if that is zero.
    pub(crate) fn resync(self: Arc<Self>, period: Duration) -> BoxFuture<'static, Infallible> {
        resync(period, Box::new(move |now| self.resync_now(now)))
    }

    fn resync_now(&self, now: Instant) {
        let mut write_side = self.locked();
        if !self.lister.is_populated() {
            return;
        }
        let stored = Changes::unchanged(self.lister.list());
        let WriteSide { listeners, deferred, .. } = &mut *write_side;
        listeners.retain_mut(|listener| deferred.queue_all(listener, &stored, now));
    }

    /// Returns the stored objects that a relist did not change; `None` if there are none.
    ///
    /// Upstream's handlers get an update for each of these (`sharedIndexInformer.OnUpdate`, IN-38), so that a relist also
    /// repairs what a controller missed.
    pub(super) fn unchanged(&self, changes: &Changes<T>) -> Option<Changes<T>> {
        let changed: HashSet<_> = changes.iter().map(|event| Arc::as_ptr(event.object())).collect();
        let unchanged_objects = |objects: &Objects<T>| {
            objects.iter().filter(|it| !changed.contains(&Arc::as_ptr(it))).cloned().collect::<Vec<_>>()
        };
        let unchanged = self.lister.read(|objects, _| unchanged_objects(objects));
        (!unchanged.is_empty()).then(|| Changes::unchanged(unchanged))
    }
}
