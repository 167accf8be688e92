//! Reviews of plans: the writes of each sync are passed on, and not sent.

use std::fmt;
use std::sync::Arc;

use educe::Educe;
use kube_wire::{ObjectKey, Write};

use crate::Client;

/// Gets the plans of a controller that only compares: another program writes its objects.
///
/// A [`WriteGate`](crate::WriteGate) decides about single requests by time; a review gets the whole plan of a sync.
pub trait Review<T>: Send + Sync {
    /// Gets the writes of one sync, which are not sent. `key` is the key of the sync.
    ///
    /// Called by each sync that computes a plan, also if `writes` is empty, from several workers at once, but not for one
    /// key at once. Must not block.
    fn review(&self, key: &ObjectKey, writes: &[&Write<T>]);
}

/// A client whose writes of `T` go to a [`Review`] in place of the API server, if there is one.
///
/// Controllers take `impl Into<ReviewedClient<T>>`: a [`Client`] converts to one without review.
#[derive(Educe)]
#[educe(Clone(bound(false)))]
pub struct ReviewedClient<T> {
    client: Client,
    review: Option<Arc<dyn Review<T>>>,
}

impl<T> ReviewedClient<T> {
    /// Returns a client whose writes go to `review`.
    pub fn new(client: Client, review: Arc<dyn Review<T>>) -> Self {
        Self { client, review: Some(review) }
    }

    /// Returns the client. Requests that it sends directly are not reviewed.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns whether there is a review: another program writes these objects now, and this one only compares.
    ///
    /// Decisions that depend on earlier writes of the controller are then derived from the stored objects, and requests
    /// that only protect writes are not sent.
    pub fn observes(&self) -> bool {
        self.review.is_some()
    }

    /// Returns whether to send the writes of one sync: `true` without a review. Otherwise passes them to the review;
    /// `writes` is called only then.
    pub fn sends<'a, W>(&self, key: &ObjectKey, writes: impl FnOnce() -> W) -> bool
    where
        W: IntoIterator<Item = &'a Write<T>>,
        T: 'a,
    {
        let Some(review) = &self.review else { return true };
        review.review(key, &writes().into_iter().collect::<Vec<_>>());
        false
    }
}

/// A client without review.
impl<T> From<Client> for ReviewedClient<T> {
    fn from(client: Client) -> Self {
        Self { client, review: None }
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
