//! The guard of a key that is being processed.

use std::{borrow::Cow, fmt, ops::Deref};

use crate::{
    Lane, Queue,
    core::{Index, Lease},
};

/// A key handed to a worker. The key is being processed until this is dropped.
///
/// It borrows the queue; [`into_owned`](Item::into_owned) lets it go to a task of its own.
#[must_use = "dropping it ends the processing of its key"]
pub struct Item<'a, K> {
    turn: Turn<'a, K>,
    key: K,
}

/// The hand-out that ends with the item. The key is apart from it, so that it can change hands.
struct Turn<'a, K> {
    /// Borrowed unless asked for: a counted handle would be counted up and down for every key.
    queue: Cow<'a, Queue<K>>,
    index: Index,
    ticket: u32,
    lane: u8,
    /// Not when another guard has taken over.
    is_mine: bool,
}

impl<'a, K> Item<'a, K> {
    #[inline]
    pub(crate) fn new(queue: &'a Queue<K>, lease: Lease<K>) -> Self {
        let Lease { key, index, ticket, lane } = lease;
        Self { turn: Turn { queue: Cow::Borrowed(queue), index, ticket, lane, is_mine: true }, key }
    }

    /// The key.
    pub fn key(&self) -> &K {
        &self.key
    }

    /// The lane it was handed out from.
    pub fn lane(&self) -> Lane {
        Lane(self.turn.lane)
    }

    /// The same guard with a handle of the queue of its own, for a task that outlives the borrow.
    pub fn into_owned(self) -> Item<'static, K> {
        let Self { mut turn, key } = self;
        turn.is_mine = false;
        let queue = Cow::Owned(Queue::clone(&turn.queue));
        let (index, ticket, lane) = (turn.index, turn.ticket, turn.lane);
        Item { turn: Turn { queue, index, ticket, lane, is_mine: true }, key }
    }

    /// Ends the processing; dropping does the same. If the key was added meanwhile, it is queued now.
    #[inline]
    pub fn done(self) {
        drop(self);
    }
}

impl<K> Deref for Item<'_, K> {
    type Target = K;

    fn deref(&self) -> &K {
        self.key()
    }
}

impl<K> Drop for Turn<'_, K> {
    #[inline]
    fn drop(&mut self) {
        if self.is_mine {
            self.queue.shared.done(self.index, self.ticket);
        }
    }
}

impl<K: fmt::Debug> fmt::Debug for Item<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Item").field(self.key()).finish()
    }
}
