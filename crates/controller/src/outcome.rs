//! Outcome of a sync.

use std::time::Duration;

/// Outcome of a successful sync: whether it wrote to the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing was written.
    Unchanged,
    /// The API server acknowledged at least one write.
    Written,
}

impl Outcome {
    /// Returns [`Outcome::Written`] for one or more writes, [`Outcome::Unchanged`] for none.
    pub fn of_writes(count: usize) -> Self {
        if count == 0 { Outcome::Unchanged } else { Outcome::Written }
    }

    /// Returns this outcome with the request to sync the key again after a delay, see [`Action`].
    pub fn requeue_after(self, delay: Duration) -> Action {
        Action { outcome: self, requeue_after: Some(delay) }
    }
}

/// `()` is [`Outcome::Written`], so that a sync that does not report its writes is measured.
impl From<()> for Outcome {
    fn from((): ()) -> Self {
        Outcome::Written
    }
}

/// Result of a successful sync: its [`Outcome`], and optionally a delay after which the key is synced again without an
/// event. Any outcome, `()` included, converts into an action without one.
///
/// It is the counterpart of `Action` of kube-rs, and of `Result::RequeueAfter` of controller-runtime. The delay is not a
/// retry: it does not count for the [`RetryPolicy`](crate::RetryPolicy). As in controller-runtime and client-go
/// (`Queue.AddAfter`), a key has one delay at a time, and the earlier end wins: an event syncs the key at once and leaves
/// the delay of an earlier sync in effect. kube-rs drops it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the key is only requeued if the sync returns the action"]
pub struct Action {
    pub(crate) outcome: Outcome,
    pub(crate) requeue_after: Option<Duration>,
}

impl Action {
    /// Syncs the key again after a delay, or earlier if an event adds it. The outcome is that of `()`;
    /// [`Outcome::requeue_after`] sets another one.
    pub fn requeue(delay: Duration) -> Self {
        Outcome::from(()).requeue_after(delay)
    }

    /// Syncs the key again after its next event. The same as the conversion from `()`.
    pub fn await_change() -> Self {
        Outcome::from(()).into()
    }
}

impl<T: Into<Outcome>> From<T> for Action {
    fn from(outcome: T) -> Self {
        Action { outcome: outcome.into(), requeue_after: None }
    }
}
