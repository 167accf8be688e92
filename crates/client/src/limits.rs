//! Adaptive limits of the requests in flight: the async shell around [`Levels`].

mod adaptive;
mod levels;
mod queue;

#[cfg(test)]
mod tests;

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::{HeaderName, Response, StatusCode};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use self::adaptive::Answer;
use self::levels::{Admission, Levels};
pub use self::queue::RequestPriority;
use crate::{Call, ClientMetrics, retry};

/// UID of the priority level, in the responses of API priority and fairness.
const PRIORITY_LEVEL: HeaderName = HeaderName::from_static("x-kubernetes-pf-prioritylevel-uid");
/// Requests that are neither limited nor counted: a delay could cost the leader its lease.
const EXEMPT: &str = "leases.coordination.k8s.io";

/// Limits of the requests in flight of one client, by priority level of the server.
pub(crate) struct AdaptiveLimits {
    levels: Mutex<Levels>,
    /// Wakes waiting requests after each change of `levels`.
    changed: Notify,
    metrics: Arc<dyn ClientMetrics>,
}

impl AdaptiveLimits {
    pub(crate) fn new(metrics: Arc<dyn ClientMetrics>) -> Self {
        Self { levels: Mutex::new(Levels::new()), changed: Notify::new(), metrics }
    }

    /// Waits until the request may be sent. `None` for requests that are never limited.
    pub(crate) async fn acquire(&self, call: &Call, priority: RequestPriority) -> Option<Permit<'_>> {
        if call.resource() == EXEMPT {
            return None;
        }
        let request = self.levels().enqueue(call.verb(), call.resource(), priority, Instant::now().into_std());
        let mut permit = Permit { limits: self, request, sent: None, is_finished: false };
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            let paused_until = {
                let (mut levels, now) = (self.levels(), Instant::now().into_std());
                permit.sent = levels.poll(request, now);
                self.report(&levels, request);
                if permit.sent.is_some() {
                    return Some(permit);
                }
                levels.paused_until(request, now)
            };
            match paused_until {
                Some(until) => drop(timeout_at(until.into(), changed).await),
                None => changed.await,
            }
        }
    }

    fn levels(&self) -> MutexGuard<'_, Levels> {
        self.levels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self, levels: &Levels, request: Admission) {
        self.metrics.limit_changed(&levels.state(request));
    }
}

/// A request that waits or is in flight. Dropping it ends both.
pub(crate) struct Permit<'a> {
    limits: &'a AdaptiveLimits,
    request: Admission,
    /// Time from which the request counts as in flight; `None` while it waits.
    sent: Option<std::time::Instant>,
    is_finished: bool,
}

impl Permit<'_> {
    /// Ends the request with its response; `None` without a response.
    ///
    /// Returns whether the priority level pauses until the server accepts requests again, so that the next attempt need
    /// not wait for `Retry-After` by itself.
    pub(crate) fn finish<B>(mut self, response: Option<&Response<B>>) -> bool {
        let answer = match response {
            Some(response) if response.status() == StatusCode::TOO_MANY_REQUESTS => {
                let seconds = retry::retry_after(response.headers());
                Answer::Rejected(seconds.map(|seconds| Duration::from_secs(u64::from(seconds))))
            }
            Some(response) if !response.status().is_server_error() => Answer::Served,
            _ => Answer::Failed,
        };
        let uid = response.and_then(|response| response.headers().get(PRIORITY_LEVEL)?.to_str().ok());
        if let Some(sent) = self.sent {
            let mut levels = self.limits.levels();
            let uid = uid.filter(|uid| !uid.is_empty());
            levels.finish(self.request, sent, Instant::now().into_std(), answer, uid);
            self.limits.report(&levels, self.request);
            self.is_finished = true;
        }
        matches!(answer, Answer::Rejected(Some(_)))
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            let mut levels = self.limits.levels();
            levels.cancel(self.request, self.sent, Instant::now().into_std());
            self.limits.report(&levels, self.request);
        }
        self.limits.changed.notify_waiters();
    }
}
