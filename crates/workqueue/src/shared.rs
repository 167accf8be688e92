//! The state that all handles of a queue share. One lock protects the state machine and the waiting tasks, another one
//! the rate limiter.
//!
//! The only caller-supplied code that runs under the first lock is the key's `Eq` and `Clone` and the metrics: keys are
//! hashed before it is taken; wakers are called and unused keys dropped after it is released.

use std::{
    hash::{BuildHasher, Hash},
    task::{Context, Poll, Waker},
    time::Duration,
};

use hashbrown::DefaultHashBuilder;
use tokio::time::Instant;

use crate::{
    RateLimiter,
    core::{Added, Core, Finished, Fired, Index, Taken},
    metrics::{Meter, REPORT_EVERY},
    sync::{Mutex, lock},
    waiters::{WaiterId, Waiters},
};

pub(crate) struct Shared<K> {
    state: Mutex<State<K>>,
    limiter: Mutex<Box<dyn RateLimiter<K>>>,
    hasher: DefaultHashBuilder,
    /// Origin of the grids of [`Queue::add_after_about`](crate::Queue::add_after_about).
    built: std::time::Instant,
}

/// On cache lines of its own: the reference counts beside it change with every [`Item`](crate::Item), on any core.
#[repr(align(128))]
struct State<K> {
    core: Core<K>,
    /// Whether the latest shutdown was [`shut_down_with_drain`](crate::Queue::shut_down_with_drain).
    draining: bool,
    getters: Waiters,
    drainers: Waiters,
    /// Waker of the timer task, if it sleeps.
    timer: Option<Waker>,
    meter: Option<Meter>,
}

/// When the timer task polls again.
pub(crate) enum Next {
    /// At this instant, or when woken.
    At(Instant),
    /// Only when woken.
    Woken,
    /// Never: the queue is shut down.
    ShutDown,
}

/// Maximum number of deadlines fired per lock acquisition, so that workers get the lock in between.
const BATCH: usize = 64;

impl<K> Shared<K> {
    pub(crate) fn new(limiter: Box<dyn RateLimiter<K>>, meter: Option<Meter>) -> Self {
        let state = State {
            core: Core::new(),
            draining: false,
            getters: Waiters::default(),
            drainers: Waiters::default(),
            timer: None,
            meter,
        };
        Self {
            state: Mutex::new(state),
            limiter: Mutex::new(limiter),
            hasher: DefaultHashBuilder::default(),
            built: Instant::now().into_std(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.state).core.len()
    }

    pub(crate) fn waiting(&self) -> usize {
        lock(&self.state).core.waiting()
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        lock(&self.state).core.is_shutting_down()
    }

    pub(crate) fn with_limiter<T>(&self, call: impl FnOnce(&mut dyn RateLimiter<K>) -> T) -> T {
        call(&mut **lock(&self.limiter))
    }

    pub(crate) fn shut_down(&self, draining: bool) {
        let mut state = lock(&self.state);
        state.draining = draining;
        let dropped = state.core.shut_down();
        let getters = state.getters.wake_all();
        let drainers = state.drainers.wake_all();
        let timer = state.timer.take();
        drop(state);
        getters.chain(drainers).chain(timer).for_each(Waker::wake);
        drop(dropped);
    }

    /// Ends the processing of a key.
    #[inline]
    pub(crate) fn done(&self, index: Index) {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        let finished = state.core.done(index);
        let getter = match &finished {
            Finished::Requeued(index) => {
                state.measure(|meter, now| meter.finished(*index, now));
                state.wake_getter()
            }
            Finished::Kept(index) | Finished::Removed(index, _) => {
                state.measure(|meter, now| meter.finished(*index, now));
                None
            }
        };
        if !state.drainers.is_empty() && state.core.is_drained() {
            let drainers = state.drainers.wake_all();
            drop(guard);
            drainers.for_each(Waker::wake);
        } else {
            drop(guard);
        }
        if let Some(getter) = getter {
            getter.wake();
        }
        drop(finished);
    }

    /// Completes once no key is queued or in process, or once the drain is cancelled by a plain shutdown.
    pub(crate) fn poll_drained(&self, id: &mut Option<WaiterId>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = lock(&self.state);
        let (waker, poll) = if state.core.is_drained() || !state.draining {
            (state.drainers.leave(id), Poll::Ready(()))
        } else {
            (state.drainers.sleep(id, cx.waker()), Poll::Pending)
        };
        drop(state);
        drop(waker);
        poll
    }

    /// Ends the registration of a dropped `shut_down_with_drain`.
    pub(crate) fn cancel_drain(&self, id: &mut Option<WaiterId>) {
        let waker = lock(&self.state).drainers.leave(id);
        drop(waker);
    }

    /// Ends the registration of a dropped `get`. If it was woken, the wake-up passes to the next waiting call.
    pub(crate) fn cancel_get(&self, id: &mut Option<WaiterId>) {
        let mut state = lock(&self.state);
        let waker = state.getters.leave(id);
        let next = state.wake_getter();
        drop(state);
        drop(waker);
        next.into_iter().for_each(Waker::wake);
    }
}

impl<K: Clone + Eq> Shared<K> {
    pub(crate) fn poll_get(&self, id: &mut Option<WaiterId>, cx: &mut Context<'_>) -> Poll<Option<Taken<K>>> {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        let taken = state.core.get();
        let (waker, poll) = match &taken {
            Some(taken) => {
                state.measure(|meter, now| meter.taken(taken.index, now));
                (state.getters.leave(id), Poll::Ready(()))
            }
            None if state.core.is_shutting_down() => (state.getters.leave(id), Poll::Ready(())),
            None => (state.getters.sleep(id, cx.waker()), Poll::Pending),
        };
        drop(guard);
        drop(waker);
        poll.map(|()| taken)
    }

    /// Queues the keys that are due, reports to the metrics if the interval has passed, and returns when to poll again.
    pub(crate) fn poll_timer(&self, now: Instant, report_at: &mut Instant, cx: &mut Context<'_>) -> Next {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        if state.core.is_shutting_down() {
            return Next::ShutDown;
        }
        let mut woken = Vec::new();
        let mut next = Next::At(now);
        for _ in 0..BATCH {
            match state.core.fire(now.into_std()) {
                Fired::Added(index) => {
                    state.measure(|meter, now| meter.added(index, now));
                    woken.extend(state.wake_getter());
                }
                Fired::Duplicate => {}
                Fired::NotBefore(due) => {
                    next = Next::At(Instant::from_std(due));
                    break;
                }
                Fired::Idle => {
                    next = Next::Woken;
                    break;
                }
            }
        }
        if let Some(meter) = &state.meter {
            if *report_at <= now {
                meter.report(state.core.processing(), now.into_std());
                *report_at = now + REPORT_EVERY;
            }
            next = match next {
                Next::At(due) => Next::At(due.min(*report_at)),
                Next::Woken | Next::ShutDown => Next::At(*report_at),
            };
        }
        let old = state.timer.replace(cx.waker().clone());
        drop(guard);
        drop(old);
        woken.into_iter().for_each(Waker::wake);
        next
    }
}

impl<K: Clone + Eq + Hash> Shared<K> {
    pub(crate) fn add(&self, key: K) {
        let hash = self.hash(&key);
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        let added = state.core.add(hash, key);
        let getter = match &added {
            Added::Queued(index) => {
                state.measure(|meter, now| meter.added(*index, now));
                state.wake_getter()
            }
            Added::Dirty(index, _) => {
                state.measure(|meter, now| meter.added(*index, now));
                None
            }
            Added::Duplicate(_) | Added::Refused(_) => None,
        };
        drop(guard);
        if let Some(getter) = getter {
            getter.wake();
        }
        drop(added);
    }

    /// Queues a key after `delay`, rounded up to a multiple of `grid` since the queue was built unless `grid` is zero.
    pub(crate) fn add_after(&self, key: K, delay: Duration, grid: Duration) {
        let hash = self.hash(&key);
        let mut guard = lock(&self.state);
        if guard.core.is_shutting_down() {
            return;
        }
        if let Some(meter) = &guard.meter {
            meter.retried();
        }
        if delay.is_zero() {
            drop(guard);
            return self.add(key);
        }
        let now = Instant::now();
        let due = now.checked_add(delay).unwrap_or_else(|| now + NEVER).into_std();
        let due = next_of_grid(due, self.built, grid);
        let scheduled = guard.core.schedule(hash, key, due);
        let timer = if scheduled.first_changed { guard.timer.take() } else { None };
        drop(guard);
        timer.into_iter().for_each(Waker::wake);
        drop(scheduled);
    }

    fn hash(&self, key: &K) -> u32 {
        (self.hasher.hash_one(key) >> 32) as u32
    }
}

/// Replaces a delay that the clock cannot represent: 30 years.
const NEVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// Rounds `due` up to a multiple of `grid` after `start`.
fn next_of_grid(due: std::time::Instant, start: std::time::Instant, grid: Duration) -> std::time::Instant {
    let past = due.saturating_duration_since(start).as_nanos().checked_rem(grid.as_nanos()).unwrap_or_default();
    match u64::try_from(past) {
        // Already on the grid, or `grid` is zero.
        Ok(0) | Err(_) => due,
        Ok(past) => due.checked_add(grid.saturating_sub(Duration::from_nanos(past))).unwrap_or(due),
    }
}

impl<K> State<K> {
    /// Returns the worker to wake after a key was queued or a woken worker left; `None` if as many workers were woken
    /// and have not polled yet as there are keys.
    fn wake_getter(&mut self) -> Option<Waker> {
        if self.getters.woken() < self.core.len() { self.getters.wake_one() } else { None }
    }

    /// Records a metric; the clock is read only if the queue has metrics.
    fn measure(&mut self, record: impl FnOnce(&mut Meter, std::time::Instant)) {
        if let Some(meter) = &mut self.meter {
            record(meter, Instant::now().into_std());
        }
    }
}
