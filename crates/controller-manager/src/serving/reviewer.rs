//! Reviews by the API server, with cached results: the client side of authentication and authorization.

use std::hash::Hash;
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use kube_controller_client::Client;
use kube_wire::Decode;
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::ttl_cache::TtlCache;

/// Time limit of one review, including the wait while [`MAX_CONCURRENT`] others are running.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of concurrent reviews, so that a client with invalid tokens cannot overload the API server through
/// this process.
const MAX_CONCURRENT: usize = 16;
/// Maximum number of cached results.
const CACHE_SIZE: NonZeroUsize = NonZeroUsize::new(4096).expect("not zero");

/// Sends reviews of one kind and caches their results `V` by key `K`.
#[derive(Debug)]
pub(super) struct Reviewer<K: Eq + Hash, V> {
    client: Client,
    permits: Semaphore,
    results: Mutex<TtlCache<K, V>>,
}

impl<K: Eq + Hash, V: Clone> Reviewer<K, V> {
    pub(super) fn new(client: Client) -> Self {
        let results = Mutex::new(TtlCache::new(CACHE_SIZE));
        Self { client, permits: Semaphore::new(MAX_CONCURRENT), results }
    }

    /// Returns the cached result of an earlier review.
    pub(super) fn cached(&self, key: &K) -> Option<V> {
        self.results().get(key, Instant::now().into_std())
    }

    /// Caches the result of a review for `ttl`.
    pub(super) fn cache(&self, key: K, result: V, ttl: Duration) {
        self.results().put(key, result, Instant::now().into_std(), ttl);
    }

    /// Sends a review and returns it with its status.
    ///
    /// # Errors
    ///
    /// The reason why there is no answer: the review failed or took longer than 10 s.
    pub(super) async fn send<T: Decode + Serialize>(&self, review: &T) -> Result<T, String> {
        let response = timeout(TIMEOUT, async {
            let _permit = self.permits.acquire().await;
            self.client.create_virtual(review).await
        });
        let response = response.await.map_err(|_| format!("no answer to the {} in time", T::RESOURCE.kind))?;
        response.map_err(|error| error.to_string_full())
    }

    fn results(&self) -> MutexGuard<'_, TtlCache<K, V>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
