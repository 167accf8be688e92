//! Reviews of writes: whether the writes that a sync has planned are sent.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kube_wire::ObjectKey;

use crate::Client;

/// One write of a plan, before it is sent.
#[derive(Debug, PartialEq)]
pub enum PlannedWrite<'a, T> {
    /// Create of this object. Its name may be empty if the server generates it.
    Create(&'a T),
    /// Replacement of an object.
    Update {
        /// The object in the cache that the plan is based on.
        stored: &'a T,
        /// The object to write.
        desired: &'a T,
    },
    /// Delete of this object, in the state of the cache.
    Delete(&'a T),
}

/// Result of a [`Review`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Send the writes.
    Send,
    /// Send none of them: the sync succeeds without writes.
    Withhold {
        /// Delay after which the key is synced again without an event; `None` for not at all.
        sync_again: Option<Duration>,
    },
}

/// Decides whether the writes of a sync are sent, for example to compare plans with the writes of another controller, or
/// to stop a controller that writes more than its inputs explain.
///
/// A [`WriteGate`](crate::WriteGate) decides about single requests by time; a review about the whole plan of a sync by its
/// content.
pub trait Review<T>: Send + Sync {
    /// Returns whether to send the writes of one sync. `key` is the key of the sync.
    ///
    /// Called by each sync that computes a plan, also if `writes` is empty, from several workers at once, but not for one
    /// key at once. Must not block.
    fn review(&self, key: &ObjectKey, writes: &[PlannedWrite<'_, T>]) -> Verdict;

    /// Returns whether another program writes these objects now, and this one only compares; `false` by default.
    ///
    /// Decisions that depend on earlier writes of the controller are then derived from the stored objects, and requests
    /// that only protect writes are not sent.
    fn observes(&self) -> bool {
        false
    }
}

/// A client whose writes of `T` pass a [`Review`] first, if there is one.
///
/// Controllers take `impl Into<ReviewedClient<T>>`: a [`Client`] converts to one without review.
pub struct ReviewedClient<T> {
    client: Client,
    review: Option<Arc<dyn Review<T>>>,
}

impl<T> ReviewedClient<T> {
    /// Returns a client whose writes pass `review`.
    pub fn new(client: Client, review: Arc<dyn Review<T>>) -> Self {
        Self { client, review: Some(review) }
    }

    /// Returns the client. Requests that it sends directly are not reviewed.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns whether the [review only compares](Review::observes); `false` without a review.
    pub fn observes(&self) -> bool {
        self.review.as_ref().is_some_and(|review| review.observes())
    }

    /// Returns the verdict about the writes of one sync, [`Verdict::Send`] without a review. `writes` is called only if
    /// there is a review.
    pub fn verdict<'a>(&self, key: &ObjectKey, writes: impl FnOnce() -> Vec<PlannedWrite<'a, T>>) -> Verdict
    where
        T: 'a,
    {
        self.review.as_ref().map_or(Verdict::Send, |review| review.review(key, &writes()))
    }
}

/// A client without review.
impl<T> From<Client> for ReviewedClient<T> {
    fn from(client: Client) -> Self {
        Self { client, review: None }
    }
}

impl<T> Clone for ReviewedClient<T> {
    fn clone(&self) -> Self {
        Self { client: self.client.clone(), review: self.review.clone() }
    }
}

impl<T> fmt::Debug for ReviewedClient<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReviewedClient")
            .field("client", &self.client)
            .field("is_reviewed", &self.review.is_some())
            .finish()
    }
}
