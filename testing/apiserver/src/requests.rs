//! The request log: what clients requested, for assertions in tests.

mod unlogged;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde::Serialize;

pub(crate) use self::unlogged::Unlogged;
use self::unlogged::UnloggedWrites;
use crate::faults::On;
use crate::shared::Shared;

/// Entry of the request log: a request that was answered, or whose connection a fault reset. Strings that do not apply
/// are empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(Default))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LoggedRequest {
    /// Time at which the request arrived.
    pub started: Timestamp,
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
    /// HTTP status code; `None` if the connection was reset instead.
    pub status: Option<u16>,
    /// Message of the `Status` in the response; empty if it was none.
    pub message: String,
    /// Whether authentication or authorization refused the request. Its status is then 401 or 403; other refusals, such as
    /// that of a create in a namespace in deletion, have status 403 too.
    pub denied: bool,
    /// Whether a write was applied, even if the response was lost or replaced by a fault: the server accepted it, and
    /// it was not a dry run. A write that changes nothing counts.
    pub applied: bool,
    /// Value of the `resourceVersion` parameter.
    pub resource_version: String,
    /// Whether the query has `dryRun=All`, or the body of a delete that succeeded.
    pub dry_run: bool,
}

impl LoggedRequest {
    /// Returns `true` for a status of 400 or more, and if the connection was reset.
    fn failed(&self) -> bool {
        self.status.is_none_or(|status| status >= 400)
    }
}

/// Formats one line, such as `get pods default/web: 404, pods "web" not found`, or `get /version: connection reset`.
impl fmt::Display for LoggedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verb, resource, subresource, namespace, name, path, .. } = self;
        write!(f, "{verb} {}", if resource.is_empty() { path } else { resource })?;
        if !subresource.is_empty() {
            write!(f, "/{subresource}")?;
        }
        match (namespace.as_str(), name.as_str()) {
            ("", "") => {}
            ("", name) | (name, "") => write!(f, " {name}")?,
            (namespace, name) => write!(f, " {namespace}/{name}")?,
        }
        match self.status {
            Some(status) if self.message.is_empty() => write!(f, ": {status}"),
            Some(status) => write!(f, ": {status}, {}", self.message),
            None => f.write_str(": connection reset"),
        }
    }
}

/// Bounded log of the last requests, ordered by the time of their responses.
#[derive(Debug)]
pub(crate) struct RequestLog {
    entries: Mutex<Entries>,
    unlogged: Arc<UnloggedWrites>,
    capacity: usize,
}

#[derive(Debug, Default)]
struct Entries {
    requests: VecDeque<LoggedRequest>,
    /// Number of requests ever recorded. The last of them are `requests`.
    recorded: u64,
}

impl RequestLog {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { entries: Mutex::default(), unlogged: Arc::default(), capacity }
    }

    /// Marks a write as not logged. To be called before clients can see its effect; readers of the log block until the
    /// result is dropped, before which nothing may be awaited.
    pub(crate) fn begin_write(&self) -> Unlogged {
        self.unlogged.begin()
    }

    pub(crate) fn record(&self, request: &LoggedRequest) {
        if self.capacity == 0 {
            return;
        }
        let mut entries = self.lock();
        if entries.requests.len() == self.capacity {
            entries.requests.pop_front();
        }
        entries.requests.push_back(request.clone());
        entries.recorded += 1;
    }

    pub(crate) fn matching(&self, on: &On) -> Vec<LoggedRequest> {
        self.read().requests.iter().filter(|request| on.matches(request)).cloned().collect()
    }

    /// Returns all requests, and clears the log.
    pub(crate) fn take(&self) -> Vec<LoggedRequest> {
        std::mem::take(&mut self.read().requests).into()
    }

    /// Returns the number of requests ever recorded.
    pub(crate) fn recorded(&self) -> u64 {
        self.read().recorded
    }

    /// Returns the last requests that failed, at most `limit`, without the first `skipped` requests ever recorded.
    pub(crate) fn last_failed(&self, skipped: u64, limit: usize) -> Vec<LoggedRequest> {
        let entries = self.read();
        let new = usize::try_from(entries.recorded - skipped).unwrap_or(usize::MAX);
        let failed = entries.requests.iter().rev().take(new).filter(|request| request.failed()).take(limit);
        let mut failed: Vec<LoggedRequest> = failed.cloned().collect();
        failed.reverse();
        failed
    }

    /// Returns the entries, which contain each write whose effect a client has seen before.
    fn read(&self) -> MutexGuard<'_, Entries> {
        self.unlogged.wait();
        self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Request log of a [`Server`](crate::Server): the last [`request_log`](crate::Config::request_log) requests, ordered
/// by the time of their responses. A write whose effect a client has seen is in it.
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
    /// The log has at most [`request_log`](crate::Config::request_log) requests: when it is full, the number may stay the
    /// same or decrease.
    ///
    /// # Panics
    /// If it is 0, and the server does not serve the group or resource that `on` selects: the number of requests for a
    /// mistyped resource is always 0.
    #[track_caller]
    pub fn count(&self, on: &On) -> usize {
        let count = self.shared.requests.read().requests.iter().filter(|request| on.matches(request)).count();
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
    use rstest::rstest;

    use super::*;

    fn request(name: &str) -> LoggedRequest {
        LoggedRequest {
            verb: "get".to_owned(),
            resource: "pods".to_owned(),
            namespace: "default".to_owned(),
            name: name.to_owned(),
            status: Some(200),
            ..LoggedRequest::default()
        }
    }

    #[test]
    fn last_failed_requests_are_those_recorded_later() {
        let log = RequestLog::new(4);
        let names = |skipped| log.last_failed(skipped, 2).into_iter().map(|it| it.name).collect::<Vec<_>>();
        let record = |name, status| log.record(&LoggedRequest { status, ..request(name) });
        record("a", Some(404));
        let start = log.recorded();
        assert_eq!((names(0), names(start)), (vec!["a".to_owned()], vec![]));
        for (name, status) in [("b", Some(400)), ("c", None), ("d", Some(399)), ("e", Some(500))] {
            record(name, status);
        }
        assert_eq!((names(0), names(start)), (vec!["c".to_owned(), "e".to_owned()], names(0)));
        assert_eq!((names(log.recorded() - 1), names(log.recorded())), (vec!["e".to_owned()], vec![]));
        log.take();
        record("f", None);
        assert_eq!(names(start), ["f"]);
    }

    #[rstest]
    #[case::object(request("web"), "get pods default/web: 200")]
    #[case::list(LoggedRequest { verb: "list".to_owned(), ..request("") }, "list pods default: 200")]
    #[case::cluster_scope(LoggedRequest { namespace: String::new(), ..request("n") }, "get pods n: 200")]
    #[case::part(LoggedRequest { subresource: "status".to_owned(), ..request("a") }, "get pods/status default/a: 200")]
    #[case::message(
        LoggedRequest { status: Some(409), message: "pods \"a\" exists".to_owned(), ..request("a") },
        "get pods default/a: 409, pods \"a\" exists"
    )]
    #[case::reset(LoggedRequest { status: None, ..request("a") }, "get pods default/a: connection reset")]
    fn requests_are_shown_in_one_line(#[case] request: LoggedRequest, #[case] expect: &str) {
        assert_eq!(request.to_string(), expect);
    }

    #[test]
    fn capacity_zero_disables_the_log() {
        let log = RequestLog::new(0);
        log.record(&request("a"));
        assert_eq!(log.take(), []);
    }
}
