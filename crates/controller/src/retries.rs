//! Retries of keys whose sync failed.

use std::fmt::Display;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use tokio::time::Instant;

use crate::back_off::{Failure, ServerFailure};
use crate::failure_log::Kind;
use crate::server_gate::Member;
use crate::{FailureCause, locked};

/// Policy of the retries of keys whose sync failed: a number of retries with back-off, then a fixed interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Number of retries that the queue's rate limiter delays; 15 by default.
    ///
    /// An event that adds the key before its retry is due causes a sync at once, at most one per second. A failure of
    /// such a sync is no retry: the next one stays due when it was.
    pub max_retries: u32,
    /// Interval of all further retries; 1,000 s by default.
    ///
    /// Upstream drops the key, which is then not synced before its next event; here it is retried until a sync succeeds
    /// (EC-36). An event that adds the key in between allows `max_retries` new ones, as upstream.
    pub slow_interval: Duration,
}

impl Default for RetryPolicy {
    /// 15 retries as upstream, then one every 1,000 s, the maximum delay of client-go's rate limiters.
    fn default() -> Self {
        RetryPolicy { max_retries: 15, slow_interval: Duration::from_secs(1_000) }
    }
}

/// Requeues keys whose sync failed.
pub(crate) struct Retries<K> {
    pub(crate) controller: Arc<str>,
    pub(crate) retry: RetryPolicy,
    pub(crate) gate: Arc<Member<K>>,
}

impl<K: Clone + Eq + Hash + Display + Send + 'static> Retries<K> {
    /// Returns for how long this key, which an event added, is not synced.
    pub(crate) fn hold(&self, key: &K) -> Option<Duration> {
        locked(&self.gate.back_offs).hold(key, Instant::now())
    }

    pub(crate) fn forget(&self, key: &K) {
        self.gate.queue.forget(key);
        locked(&self.gate.back_offs).forget(key);
    }

    /// Requeues a key whose sync failed; `urgent`: it removes something that others still use.
    pub(crate) fn requeue(&self, key: K, error: &dyn std::error::Error, cause: FailureCause, urgent: bool) {
        if urgent {
            self.gate.removals.add(key.clone());
        }
        match cause {
            FailureCause::Key => self.retry(key, error),
            FailureCause::Server | FailureCause::Unreachable => self.retry_server(key, error, cause, urgent),
        }
    }

    fn retry(&self, key: K, error: &dyn std::error::Error) {
        let now = Instant::now();
        let failure = locked(&self.gate.back_offs).failed(&key, now);
        if let Failure::Early(wait) = failure {
            self.log(Kind::Key, &key, error);
            // The event may have replaced the deadline of the retry, since a key has one.
            self.gate.queue.add_after(key, wait);
        } else if failure == Failure::Counts && self.gate.queue.num_requeues(&key) < self.retry.max_retries {
            self.log(Kind::Key, &key, error);
            let delay = self.gate.queue.add_rate_limited(key.clone());
            locked(&self.gate.back_offs).wait(key, now + delay, false);
        } else {
            let controller = &*self.controller;
            if self.gate.gate().logs(Kind::Exhausted) {
                tracing::error!(
                    controller, %key, err = %error.display_full(),
                    "Retry budget exceeded, retrying at the slowest rate"
                );
            }
            if let Some(metrics) = &self.gate.metrics {
                metrics.retries_exhausted();
            }
            self.gate.queue.forget(&key);
            locked(&self.gate.back_offs).wait(key.clone(), now + self.retry.slow_interval, true);
            self.gate.queue.add_after(key, self.retry.slow_interval);
        }
    }

    fn retry_server(&self, key: K, error: &dyn std::error::Error, cause: FailureCause, urgent: bool) {
        let last_success = self.gate.gate().last_success();
        let ServerFailure { suspect, wait } =
            locked(&self.gate.back_offs).server_failed(key.clone(), last_success, Instant::now());
        self.log(Kind::Server, &key, error);
        if !self.gate.failed(&key, cause, suspect, urgent, error) {
            self.gate.queue.add_after(key, wait);
        }
    }

    fn log(&self, kind: Kind, key: &K, error: &dyn std::error::Error) {
        let controller = &*self.controller;
        if self.gate.gate().logs(kind) {
            tracing::warn!(controller, %key, err = %error.display_full(), "Error syncing, retrying");
        } else {
            tracing::debug!(controller, %key, err = %error.display_full(), "Error syncing, retrying");
        }
    }
}
