//! Reviews by the API server, with cached results: the client side of authentication and authorization.

use std::hash::Hash;
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use kube_controller_client::Client;
use kube_wire::Decode;
use lru::LruCache;
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use crate::peer::Peer;
use crate::review_queue::ReviewQueue;

/// Time limit of one review, including the wait for others.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of concurrent reviews of accepted keys.
const MAX_ACCEPTED_IN_FLIGHT: usize = 8;
/// Maximum number of cached results.
const CACHE_SIZE: NonZeroUsize = NonZeroUsize::new(1_024).expect("not zero");
/// Maximum number of accepted keys that are remembered.
const MAX_ACCEPTED: NonZeroUsize = NonZeroUsize::new(256).expect("not zero");

/// Why there is no answer to a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// None was sent: too many wait already.
    QueueIsFull,
    /// The review failed or took longer than 10 s.
    Failed(String),
}

/// Sends reviews of one kind and caches their results `V` by key `K`.
///
/// A key whose last result was positive is *accepted*. Its reviews are sent at once, when the cached result has expired;
/// those of all other keys go through a queue, so that a client with invalid tokens neither overloads the API server
/// through this process nor delays the requests of others.
#[derive(Debug)]
pub(crate) struct Reviewer<K: Eq + Hash, V> {
    client: Client,
    /// Results, with the time of their expiry.
    results: Mutex<LruCache<K, (V, Instant)>>,
    accepted: Mutex<LruCache<K, ()>>,
    accepted_in_flight: Semaphore,
    others: ReviewQueue,
}

impl<K: Clone + Eq + Hash, V: Clone> Reviewer<K, V> {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            results: Mutex::new(LruCache::sparse(CACHE_SIZE)),
            accepted: Mutex::new(LruCache::sparse(MAX_ACCEPTED)),
            accepted_in_flight: Semaphore::new(MAX_ACCEPTED_IN_FLIGHT),
            others: ReviewQueue::new(),
        }
    }

    pub(crate) fn cached(&self, key: &K) -> Option<V> {
        let mut results = locked(&self.results);
        results.get(key).filter(|(_, expires)| Instant::now() < *expires).map(|(result, _)| result.clone())
    }

    /// Caches the result of a review for `ttl`, and remembers whether it was positive.
    pub(crate) fn cache(&self, key: &K, result: V, positive: bool, ttl: Duration) {
        if positive {
            locked(&self.accepted).put(key.clone(), ());
        } else {
            locked(&self.accepted).pop(key);
        }
        if !ttl.is_zero() {
            locked(&self.results).put(key.clone(), (result, Instant::now() + ttl));
        }
    }

    /// Sends a review of `key` for a request of `peer`, and returns it with its status.
    pub(crate) async fn send<T: Decode + Serialize>(&self, key: &K, peer: Peer, review: &T) -> Result<T, NoAnswer> {
        let answer = timeout(TIMEOUT, async {
            let is_accepted = locked(&self.accepted).get(key).is_some();
            let _permit = if is_accepted {
                // The semaphore is never closed.
                self.accepted_in_flight.acquire().await.ok()
            } else {
                self.others.turn(peer).await?
            };
            self.client.create_virtual(review).await.map_err(|error| NoAnswer::Failed(error.to_string_full()))
        });
        let in_time = answer.await;
        in_time.unwrap_or_else(|_| Err(NoAnswer::Failed(format!("no answer to the {} in time", T::RESOURCE.kind))))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
