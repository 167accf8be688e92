//! Requests for a relist, and tasks that wait for a store to advance.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::FutureExt as _;
use kube_wire::ResourceVersion;
use tokio::sync::Notify;

use crate::RelistCause;

/// The pending request for a relist of one store, and the tasks that wait for the store to advance.
#[derive(Debug, Default)]
pub(crate) struct ListRequests {
    /// Notified when the store changes.
    changed: Notify,
    list_requested: Notify,
    request: Mutex<Option<Request>>,
}

/// A request for a relist.
#[derive(Debug)]
pub(crate) struct Request {
    cause: RelistCause,
    min_version: Option<ResourceVersion>,
}

impl ListRequests {
    /// Wakes the tasks in [`wait_until`](Self::wait_until) after a change of the store.
    pub(crate) fn notify_changed(&self) {
        self.changed.notify_waiters();
    }

    /// Waits until `reached` returns `true`. It is called again after each change of the store.
    pub(crate) async fn wait_until(&self, reached: impl Fn() -> bool) {
        loop {
            let changed = self.changed.notified();
            if reached() {
                return;
            }
            changed.await;
        }
    }

    /// Requests a relist at least as new as `min_version`. Pending requests are merged: the first cause and the highest
    /// version are kept.
    pub(crate) fn request_list(&self, cause: RelistCause, min_version: Option<ResourceVersion>) {
        self.request(Request { cause, min_version });
    }

    /// As [`request_list`](Self::request_list), for a request that [`begin_list`](Self::begin_list) returned.
    pub(crate) fn request(&self, Request { cause, min_version }: Request) {
        let mut request = self.locked();
        let request = request.get_or_insert(Request { cause, min_version: None });
        if request.min_version.as_ref().zip(min_version.as_ref()).is_none_or(|(one, other)| one < other) {
            request.min_version = min_version.or(request.min_version.take());
        }
        self.list_requested.notify_one();
    }

    /// Waits for a request, takes it, and returns its cause and the minimum version of the list, if any.
    pub(crate) async fn list_requested(&self) -> (RelistCause, Option<ResourceVersion>) {
        loop {
            self.list_requested.notified().await;
            if let Some(Request { cause, min_version }) = self.locked().take() {
                return (cause, min_version);
            }
        }
    }

    /// Takes the pending request, unless it needs a later version than the list that starts now at `requested`. An
    /// empty `requested` is the most recent state. If the list fails, the caller must [`request`](Self::request) again.
    #[must_use]
    pub(crate) fn begin_list(&self, requested: &ResourceVersion) -> Option<Request> {
        let mut request = self.locked();
        let min_version = request.as_ref().and_then(|request| request.min_version.as_ref());
        let too_old = !requested.is_empty() && min_version.is_some_and(|min_version| requested < min_version);
        if too_old {
            return None;
        }
        let _ = self.list_requested.notified().now_or_never();
        request.take()
    }

    fn locked(&self) -> MutexGuard<'_, Option<Request>> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::most_recent("", Some("7"), false)]
    #[case::any_version("0", Some("7"), true)]
    #[case::older("6", Some("7"), true)]
    #[case::as_new("7", Some("7"), false)]
    #[case::no_version_needed("0", None, false)]
    #[case::not_comparable("6", Some("x"), false)]
    fn a_list_serves_requests_for_no_later_version(
        #[case] requested: &str,
        #[case] min_version: Option<&str>,
        #[case] remains: bool,
    ) {
        let requests = ListRequests::default();
        requests.request_list(RelistCause::Requested, min_version.map(ResourceVersion::from));
        let taken = requests.begin_list(&requested.into());
        assert_eq!(taken.is_none(), remains);
        let request = requests.list_requested().now_or_never();
        let expected = || Some((RelistCause::Requested, min_version.map(ResourceVersion::from)));
        assert_eq!(request, expected().filter(|_| remains));
        if let Some(taken) = taken {
            requests.request(taken);
            assert_eq!(requests.list_requested().now_or_never(), expected(), "the list failed");
        }
    }
}
