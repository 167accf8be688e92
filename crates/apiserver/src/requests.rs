//! The request log: what clients requested, for assertions in tests.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde::Serialize;

use crate::faults::{On, RequestFields};
use crate::shared::Shared;

/// Entry of the request log: a request that was answered, or whose connection a fault reset. Strings that do not apply
/// are empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LoggedRequest {
    /// Time at which the request arrived.
    pub started: Timestamp,
    /// Time at which the request was answered: that of the first byte for a watch.
    pub answered: Timestamp,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`; for a non-resource path,
    /// the HTTP method in lower case.
    pub verb: String,
    /// API group; empty for core.
    pub group: String,
    /// Plural name of the resource, such as `pods`.
    pub resource: String,
    /// Subresource, such as `status`.
    pub subresource: String,
    /// Namespace in the path; for a Namespace, its own name.
    pub namespace: String,
    /// Name in the path, or the name that the field selector requires.
    pub name: String,
    /// Name of the object that a successful write created, changed or deleted, such as a generated name; empty
    /// otherwise.
    pub object_name: String,
    /// Path with query parameters.
    pub path: String,
    /// Name of the user; empty if authentication failed.
    pub user: String,
    /// Value of the `User-Agent` header.
    pub user_agent: String,
    /// Value of the `Content-Length` header in bytes; 0 without one.
    pub content_length: u64,
    /// HTTP status code; `None` if the connection was reset instead.
    pub status: Option<u16>,
    /// Whether a write was applied, even if the response was lost or replaced by a fault: the server accepted it, and
    /// it was not a dry run. A write that changes nothing counts.
    pub applied: bool,
    /// Value of the `resourceVersion` parameter.
    pub resource_version: String,
    /// Whether the query has `dryRun=All`.
    pub dry_run: bool,
    /// Policy of a successful delete: `Background`, `Foreground` or `Orphan`, whether or not the server collects
    /// garbage; empty otherwise.
    pub propagation_policy: String,
}

impl LoggedRequest {
    /// Returns `true` if `on` selects this request.
    pub fn matches(&self, on: &On) -> bool {
        on.matches(&RequestFields {
            verb: &self.verb,
            group: &self.group,
            resource: &self.resource,
            subresource: &self.subresource,
            namespace: &self.namespace,
            name: &self.name,
            user: &self.user,
            user_agent: &self.user_agent,
        })
    }
}

/// Bounded log of the last requests, ordered by the time of their responses.
#[derive(Debug)]
pub(crate) struct RequestLog {
    requests: Mutex<VecDeque<LoggedRequest>>,
    capacity: usize,
}

impl RequestLog {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { requests: Mutex::default(), capacity }
    }

    pub(crate) fn record(&self, request: impl FnOnce() -> LoggedRequest) {
        if self.capacity == 0 {
            return;
        }
        let request = request();
        let mut requests = self.lock();
        if requests.len() == self.capacity {
            requests.pop_front();
        }
        requests.push_back(request);
    }

    /// Returns the requests that `on` selects.
    pub(crate) fn matching(&self, on: &On) -> Vec<LoggedRequest> {
        self.lock().iter().filter(|request| request.matches(on)).cloned().collect()
    }

    /// Returns all requests, and clears the log.
    pub(crate) fn take(&self) -> Vec<LoggedRequest> {
        std::mem::take(&mut *self.lock()).into()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<LoggedRequest>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Request log of a [`Server`](crate::Server): the last [`request_log`](crate::Config::request_log) requests, ordered
/// by the time of their responses.
///
/// Requests for a resource that the server does not serve are logged too, with status 404.
#[derive(Debug, Clone, Copy)]
pub struct Requests<'a> {
    shared: &'a Shared,
}

impl<'a> Requests<'a> {
    pub(crate) fn new(shared: &'a Shared) -> Self {
        Self { shared }
    }

    /// Returns all requests in the log.
    pub fn all(&self) -> Vec<LoggedRequest> {
        self.shared.requests.matching(&On::any())
    }

    /// Returns the requests in the log that `on` selects.
    ///
    /// # Panics
    /// If there are none, and the server does not serve the group or resource that `on` selects.
    #[track_caller]
    pub fn matching(&self, on: &On) -> Vec<LoggedRequest> {
        let requests = self.shared.requests.matching(on);
        if requests.is_empty() {
            self.shared.assert_served(on);
        }
        requests
    }

    /// Returns the number of requests in the log that `on` selects.
    ///
    /// # Panics
    /// If it is 0, and the server does not serve the group or resource that `on` selects: the number of requests for a
    /// mistyped resource is always 0.
    #[track_caller]
    pub fn count(&self, on: &On) -> usize {
        let count = self.shared.requests.lock().iter().filter(|request| request.matches(on)).count();
        if count == 0 {
            self.shared.assert_served(on);
        }
        count
    }

    /// Returns all requests in the log, and clears it.
    pub fn take(&self) -> Vec<LoggedRequest> {
        self.shared.requests.take()
    }

    /// Removes all requests from the log.
    pub fn clear(&self) {
        self.shared.requests.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(name: &str) -> LoggedRequest {
        LoggedRequest {
            started: Timestamp::UNIX_EPOCH,
            answered: Timestamp::UNIX_EPOCH,
            verb: "get".to_owned(),
            group: String::new(),
            resource: "pods".to_owned(),
            subresource: String::new(),
            namespace: "default".to_owned(),
            name: name.to_owned(),
            object_name: String::new(),
            path: format!("/api/v1/namespaces/default/pods/{name}"),
            user: "u".to_owned(),
            user_agent: String::new(),
            content_length: 0,
            status: Some(200),
            applied: false,
            resource_version: String::new(),
            dry_run: false,
            propagation_policy: String::new(),
        }
    }

    #[test]
    fn oldest_requests_are_dropped_at_capacity() {
        let log = RequestLog::new(2);
        for name in ["a", "b", "c"] {
            log.record(|| request(name));
        }
        let names: Vec<String> = log.matching(&On::any()).into_iter().map(|request| request.name).collect();
        assert_eq!(names, ["b", "c"]);
        assert_eq!(log.matching(&On::any().name("b")).len(), 1);
        assert_eq!(log.matching(&On::any().verb("list")), []);
        assert_eq!(log.take().len(), 2);
        assert_eq!(log.take(), []);
    }

    #[test]
    fn capacity_zero_disables_the_log() {
        let log = RequestLog::new(0);
        log.record(|| unreachable!("a log of capacity 0 records nothing"));
    }
}
