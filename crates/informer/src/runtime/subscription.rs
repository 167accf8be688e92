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

/// Number of entries up to which a stream that was never polled keeps all.
const MOST_BEFORE_POLL: usize = 1_000;

/// Objects that changed since the stream was last polled: one entry per object, however slow the subscriber is.
struct Changed<K> {
    order: VecDeque<Identity>,
    newest: HashMap<Identity, Change<K>>,
    /// Number of entries above which deleted objects are forgotten; `None` after the first poll. A standby creates its controller long
    /// before it polls it. A controller that begins reconciles all owners anyway.
    most: Option<usize>,
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
    let (order, newest, most) = (VecDeque::new(), HashMap::new(), Some(MOST_BEFORE_POLL));
    let changed = Changed { order, newest, most, subscriber: None, ended: false };
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
        changed.forget_deleted();
        wake(changed);
        ControlFlow::Continue(())
    }
}

impl<K> Changed<K> {
    /// Forgets deleted objects if there are too many for a stream that was never polled.
    fn forget_deleted(&mut self) {
        if self.most.is_some_and(|most| self.newest.len() > most) {
            self.newest.retain(|_, change| matches!(change, Change::Applied(_)));
            self.order.retain(|identity| self.newest.contains_key(identity));
            self.most = Some(MOST_BEFORE_POLL.max(2 * self.newest.len()));
        }
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
        changed.most = None;
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

#[cfg(test)]
mod tests {
    use futures::{FutureExt as _, StreamExt as _};
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube_wire::Decode as _;

    use super::*;

    fn map(name: &str) -> Arc<Cached<ConfigMap>> {
        let json = format!(r#"{{"metadata":{{"namespace":"shop","name":"{name}","uid":"{name}"}}}}"#);
        Arc::new(Cached::from_json(json.as_bytes()).unwrap())
    }

    /// Returns the names of what a stream has to tell, and whether it was deleted.
    fn told(stream: &mut Subscription<ConfigMap>) -> Vec<(String, bool)> {
        let next = || stream.next().now_or_never().flatten();
        let name = |change| match change {
            Change::Applied(map) => (map.name().to_owned(), false),
            Change::Deleted(map) => (map.name().to_owned(), true),
        };
        std::iter::from_fn(next).map(name).collect()
    }

    fn publish_and_delete(publisher: &Publisher<ConfigMap>, count: usize) {
        for number in 0..count {
            let map = map(&format!("passing-{number}"));
            assert!(publisher.publish(Change::Applied(map.clone())).is_continue());
            assert!(publisher.publish(Change::Deleted(map)).is_continue());
        }
    }

    #[test]
    fn deleted_objects_do_not_pile_up_before_the_first_poll() {
        let (publisher, mut stream) = channel();
        assert!(publisher.publish(Change::Applied(map("stays"))).is_continue());
        publish_and_delete(&publisher, 10_000);
        assert!(publisher.publish(Change::Applied(map("later"))).is_continue());
        {
            let changed = locked(&stream.changed);
            assert!(changed.newest.len() <= MOST_BEFORE_POLL && changed.order.len() == changed.newest.len());
        }
        let told = told(&mut stream);
        assert_eq!((told.first(), told.last()), (Some(&("stays".into(), false)), Some(&("later".into(), false))));
    }

    #[test]
    fn no_deletion_is_forgotten_after_the_first_poll() {
        let (publisher, mut stream) = channel();
        assert_eq!(told(&mut stream), []);
        publish_and_delete(&publisher, 2_000);
        assert_eq!(told(&mut stream).iter().filter(|(_, is_deleted)| *is_deleted).count(), 2_000);
    }
}
