//! The state under the lock of a queue: the state machine, the waiting tasks and the metrics.

use std::task::Waker;

use tokio::time::Instant;

use crate::{
    core::{Core, Fired},
    metrics::Meter,
    waiters::Waiters,
};

/// On cache lines of its own: the reference counts beside it change with every [`Item`](crate::Item), on any core.
#[repr(align(128))]
pub(super) struct State<K> {
    pub(super) core: Core<K>,
    pub(super) getters: Waiters,
    /// Waker of the timer task, if it sleeps.
    pub(super) timer: Option<Waker>,
    pub(super) meter: Option<Meter>,
}

/// Maximum number of deadlines fired per lock acquisition, so that workers get the lock in between.
const BATCH: usize = 64;

impl<K> State<K> {
    pub(super) fn new(meter: Option<Meter>) -> Self {
        Self { core: Core::new(), getters: Waiters::default(), timer: None, meter }
    }

    /// Queues keys that are due, up to a limit. Returns the next deadline, which is `now` if the limit was reached.
    pub(super) fn fire(&mut self, now: Instant, woken: &mut Vec<Waker>) -> Option<Instant> {
        for _ in 0..BATCH {
            match self.core.fire(now.into_std()) {
                Fired::Added(index) => {
                    self.measure(|meter, now| meter.added(index, now));
                    woken.extend(self.wake_getter());
                }
                Fired::Duplicate => {}
                Fired::NotBefore(due) => return Some(Instant::from_std(due)),
                Fired::Idle => return None,
            }
        }
        Some(now)
    }

    /// Returns the worker to wake after a key was queued or a woken worker left; `None` if as many workers were woken
    /// and have not polled yet as there are keys.
    pub(super) fn wake_getter(&mut self) -> Option<Waker> {
        if self.getters.woken() < self.core.len() { self.getters.wake_one() } else { None }
    }

    /// Records a metric; the clock is read only if the queue has metrics.
    pub(super) fn measure(&mut self, record: impl FnOnce(&mut Meter, std::time::Instant)) {
        if let Some(meter) = &mut self.meter {
            record(meter, Instant::now().into_std());
        }
    }

    /// Reports that no key is in process, where no further sample would: the queue is shut down.
    pub(super) fn report_end(&mut self) {
        if let Some(meter) = &mut self.meter
            && self.core.is_shutting_down()
            && self.core.processing().next().is_none()
        {
            meter.report_end();
        }
    }
}
