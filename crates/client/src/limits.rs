//! The adaptive limit of the requests in flight: the async shell around [`Requests`].

mod adaptive;
mod queue;
mod requests;

#[cfg(test)]
mod tests;

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::{Response, StatusCode};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use self::adaptive::{Answer, Sent};
pub use self::queue::RequestPriority;
use self::queue::Ticket;
use self::requests::Requests;
use crate::{Call, ClientMetrics, retry};

/// Resources whose requests are neither limited nor counted: a delay could cost the leader its lease, and an event writer
/// sends one event at a time.
const EXEMPT: [&str; 2] = ["leases.coordination.k8s.io", "events"];

/// Limit of the requests in flight of one client.
pub(crate) struct AdaptiveLimits {
    requests: Mutex<Requests>,
    /// Wakes waiting requests after each change of `requests`.
    changed: Notify,
    metrics: Arc<dyn ClientMetrics>,
}

impl AdaptiveLimits {
    pub(crate) fn new(metrics: Arc<dyn ClientMetrics>) -> Self {
        Self { requests: Mutex::new(Requests::new()), changed: Notify::new(), metrics }
    }

    /// Waits until the request may be sent. `None` for requests that are never limited.
    pub(crate) async fn acquire(&self, call: &Call, priority: RequestPriority) -> Option<Permit<'_>> {
        if EXEMPT.contains(&call.resource()) {
            return None;
        }
        let request = self.requests().enqueue(priority, Instant::now().into_std());
        let mut permit = Permit { limits: self, request, sent: None, is_finished: false };
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            let waits_until = {
                let (mut requests, now) = (self.requests(), Instant::now().into_std());
                permit.sent = requests.poll(request, now);
                self.report(&requests);
                if permit.sent.is_some() {
                    return Some(permit);
                }
                requests.waits_until(now)
            };
            match waits_until {
                Some(until) => drop(timeout_at(until.into(), changed).await),
                None => changed.await,
            }
        }
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self, requests: &Requests) {
        self.metrics.limit_changed(requests.state());
    }
}

/// A request that waits or is in flight. Dropping it ends both.
pub(crate) struct Permit<'a> {
    limits: &'a AdaptiveLimits,
    request: Ticket,
    /// The request in flight; `None` while it waits.
    sent: Option<Sent>,
    is_finished: bool,
}

impl Permit<'_> {
    /// Ends the request with its response; `None` without a response.
    ///
    /// Returns whether requests pause until the server accepts them again, so that the next attempt need not wait for
    /// `Retry-After` by itself.
    pub(crate) fn finish<B>(mut self, response: Option<&Response<B>>) -> bool {
        let answer = match response {
            Some(response) if response.status() == StatusCode::TOO_MANY_REQUESTS => {
                let seconds = retry::retry_after(response.headers());
                Answer::Rejected(seconds.map(|seconds| Duration::from_secs(u64::from(seconds))))
            }
            Some(response) if !response.status().is_server_error() => Answer::Served,
            Some(_) => Answer::Failed,
            None => Answer::Unanswered,
        };
        if let Some(sent) = self.sent {
            let mut requests = self.limits.requests();
            requests.finish(sent, Instant::now().into_std(), answer);
            self.limits.report(&requests);
            self.is_finished = true;
        }
        matches!(answer, Answer::Rejected(Some(_)))
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            let mut requests = self.limits.requests();
            requests.cancel(self.request, self.sent, Instant::now().into_std());
            self.limits.report(&requests);
        }
        self.limits.changed.notify_waiters();
    }
}
