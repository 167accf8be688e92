//! The state that all handles of a queue share. One lock protects the state machine and the waiting tasks, another one
//! the rate limiter.
//!
//! The only caller-supplied code that runs under the first lock is the key's `Eq` and `Clone` and the metrics: keys are
//! hashed before it is taken; wakers are called and unused keys dropped after it is released.

mod state;

use std::{
    hash::{BuildHasher, Hash},
    sync::Mutex,
    task::{Context, Poll, Waker},
    time::Duration,
};

use hashbrown::DefaultHashBuilder;
use tokio::time::Instant;

use self::state::State;
use crate::{
    RetryLimiter,
    core::{Added, Finished, Index, Taken},
    due::{after, next_of_grid},
    metrics::{Meter, REPORT_EVERY},
    sync::lock,
    waiters::WaiterId,
};

pub(crate) struct Shared<K> {
    state: Mutex<State<K>>,
    limiter: Mutex<RetryLimiter<K>>,
    hasher: DefaultHashBuilder,
    /// Origin of the grids of [`Queue::add_after_about`](crate::Queue::add_after_about).
    built: std::time::Instant,
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

impl<K> Shared<K> {
    pub(crate) fn new(limiter: RetryLimiter<K>, meter: Option<Meter>) -> Self {
        Self {
            state: Mutex::new(State::new(meter)),
            limiter: Mutex::new(limiter),
            hasher: DefaultHashBuilder::default(),
            built: Instant::now().into_std(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.state).core.len()
    }

    pub(crate) fn delayed(&self) -> usize {
        lock(&self.state).core.delayed()
    }

    pub(crate) fn pending(&self) -> usize {
        lock(&self.state).core.pending()
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        lock(&self.state).core.is_shutting_down()
    }

    pub(crate) fn with_limiter<T>(&self, call: impl FnOnce(&mut RetryLimiter<K>) -> T) -> T {
        call(&mut lock(&self.limiter))
    }

    pub(crate) fn shut_down(&self) {
        let mut state = lock(&self.state);
        let dropped = state.core.shut_down();
        state.report_end();
        let getters = state.getters.wake_all();
        let timer = state.timer.take();
        drop(state);
        getters.chain(timer).for_each(Waker::wake);
        drop(dropped);
    }

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
        state.report_end();
        drop(guard);
        if let Some(getter) = getter {
            getter.wake();
        }
        drop(finished);
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
    /// Returns the next key; `None` if the queue is shut down and empty.
    pub(crate) fn poll_get(&self, id: &mut Option<WaiterId>, cx: &mut Context<'_>) -> Poll<Option<Taken<K>>> {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        let taken = state.core.get();
        let (waker, polled) = match taken {
            Some(taken) => {
                state.measure(|meter, now| meter.taken(taken.index, now));
                (state.getters.leave(id), Poll::Ready(Some(taken)))
            }
            None if state.core.is_shutting_down() => (state.getters.leave(id), Poll::Ready(None)),
            None => (state.getters.sleep(id, cx.waker()), Poll::Pending),
        };
        drop(guard);
        drop(waker);
        polled
    }

    /// Queues the keys that are due, reports to the metrics if the interval has passed, and returns when to poll again.
    pub(crate) fn poll_timer(&self, now: Instant, report_at: &mut Instant, cx: &mut Context<'_>) -> Next {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        if state.core.is_shutting_down() {
            return Next::ShutDown;
        }
        let mut woken = Vec::new();
        let mut next = state.fire(now, &mut woken).map_or(Next::Woken, Next::At);
        if let Some(meter) = &mut state.meter {
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
        if delay.is_zero() {
            return self.add_retried(key);
        }
        let due = next_of_grid(after(Instant::now(), delay), self.built, grid);
        self.schedule(key, due);
    }

    fn add_retried(&self, key: K) {
        let state = lock(&self.state);
        if state.core.is_shutting_down() {
            return;
        }
        if let Some(meter) = &state.meter {
            meter.retried();
        }
        drop(state);
        self.add(key);
    }

    fn schedule(&self, key: K, due: std::time::Instant) {
        let hash = self.hash(&key);
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        if state.core.is_shutting_down() {
            return;
        }
        if let Some(meter) = &state.meter {
            meter.retried();
        }
        let scheduled = state.core.schedule(hash, key, due);
        let timer = if scheduled.is_earlier { state.timer.take() } else { None };
        drop(guard);
        timer.into_iter().for_each(Waker::wake);
        drop(scheduled);
    }

    fn hash(&self, key: &K) -> u32 {
        (self.hasher.hash_one(key) >> 32) as u32
    }
}
