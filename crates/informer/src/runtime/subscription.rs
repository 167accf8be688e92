//! Streams of changed objects.

use std::{
    collections::{HashMap, VecDeque},
    ops::ControlFlow,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::{Context, Poll, Waker},
};

use futures::Stream;
use kube_wire::{Object as _, ObjectKey, Uid};

use super::cached::Cached;

/// Stream of the objects that changed, each once and in its newest state.
pub(super) struct Subscription<K> {
    changed: Arc<Mutex<Changed<K>>>,
}

/// Sending end of a [`Subscription`]; the stream ends when it is dropped.
pub(super) struct Publisher<K> {
    changed: Weak<Mutex<Changed<K>>>,
}

/// Objects that changed since the stream was last polled: one entry per object, however slow the subscriber is.
struct Changed<K> {
    order: VecDeque<Identity>,
    newest: HashMap<Identity, Change<K>>,
    subscriber: Option<Waker>,
    ended: bool,
}

/// The newest state of an object.
pub(super) enum Change<K> {
    /// It was stored, added or changed.
    Applied(Arc<Cached<K>>),
    /// It was deleted; the state is its last.
    Deleted(Arc<Cached<K>>),
}

/// An object and a later one of the same name have entries of their own, because both may have owners to reconcile.
type Identity = (ObjectKey, Uid);

pub(super) fn channel<K>() -> (Publisher<K>, Subscription<K>) {
    let changed = Changed { order: VecDeque::new(), newest: HashMap::new(), subscriber: None, ended: false };
    let changed = Arc::new(Mutex::new(changed));
    (Publisher { changed: Arc::downgrade(&changed) }, Subscription { changed })
}

impl<K: Send + Sync + 'static> Publisher<K> {
    /// Adds a changed object, or replaces its earlier state. Breaks if the stream was dropped.
    pub(super) fn publish(&self, change: Change<K>) -> ControlFlow<()> {
        let Some(changed) = self.changed.upgrade() else { return ControlFlow::Break(()) };
        let mut changed = locked(&changed);
        let (Change::Applied(object) | Change::Deleted(object)) = &change;
        let identity = (object.key(), object.uid());
        if changed.newest.insert(identity.clone(), change).is_none() {
            changed.order.push_back(identity);
        }
        wake(changed);
        ControlFlow::Continue(())
    }
}

impl<K> Drop for Publisher<K> {
    fn drop(&mut self) {
        if let Some(changed) = self.changed.upgrade() {
            let mut changed = locked(&changed);
            changed.ended = true;
            wake(changed);
        }
    }
}

impl<K> Stream for Subscription<K> {
    type Item = Change<K>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Change<K>>> {
        let mut changed = locked(&self.changed);
        while let Some(identity) = changed.order.pop_front() {
            if let Some(change) = changed.newest.remove(&identity) {
                return Poll::Ready(Some(change));
            }
        }
        if changed.ended {
            return Poll::Ready(None);
        }
        changed.subscriber = Some(context.waker().clone());
        Poll::Pending
    }
}

fn locked<K>(changed: &Mutex<Changed<K>>) -> MutexGuard<'_, Changed<K>> {
    changed.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Wakes the subscriber after the lock is released.
fn wake<K>(mut changed: MutexGuard<'_, Changed<K>>) {
    let subscriber = changed.subscriber.take();
    drop(changed);
    if let Some(subscriber) = subscriber {
        subscriber.wake();
    }
}
