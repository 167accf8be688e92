//! The log of requests, for tests that ask what a client did.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde::Serialize;

use crate::faults::{Caller, On};

/// A request that has been answered, or dropped by a fault. Texts that do not apply are empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LoggedRequest {
    /// When it arrived.
    pub started: Timestamp,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; of a path that names no
    /// resource, the HTTP method in lower case.
    pub verb: String,
    /// The API group; empty for core.
    pub group: String,
    /// The plural of the resource.
    pub resource: String,
    /// `status`, say.
    pub subresource: String,
    /// The namespace of the path.
    pub namespace: String,
    /// The name of the path.
    pub name: String,
    /// The name of the object that a write was carried out on, a generated one included; otherwise empty.
    pub object_name: String,
    /// The path with its parameters.
    pub path: String,
    /// Who asked.
    pub user: String,
    /// The `User-Agent` header.
    pub user_agent: String,
    /// How long its body was, as its `Content-Length` says; 0 without one.
    pub content_length: u64,
    /// The code of the answer, or nothing when the connection was dropped instead.
    pub status: Option<u16>,
    /// Whether a write was carried out, answered or not: the server accepted it, and it was no rehearsal. An update that
    /// changes nothing counts.
    pub applied: bool,
    /// The `resourceVersion` parameter, which says where a list or watch is to start.
    pub resource_version: String,
    /// Whether it was only a rehearsal, as its parameters say.
    pub dry_run: bool,
    /// Of a delete that was carried out and answered: `Background`, `Foreground` or `Orphan`, whether or not the server
    /// collects garbage.
    pub propagation_policy: String,
}

impl LoggedRequest {
    /// Whether a fault for `on` could have hit this request.
    pub fn matches(&self, on: &On) -> bool {
        on.matches(&Caller {
            verb: &self.verb,
            resource: &self.resource,
            subresource: &self.subresource,
            namespace: &self.namespace,
            name: &self.name,
            user: &self.user,
            user_agent: &self.user_agent,
        })
    }
}

/// The last requests, oldest first, in the order of their answers.
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

    fn lock(&self) -> MutexGuard<'_, VecDeque<LoggedRequest>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The requests of a [`Server`](crate::Server): the last
/// [`request_log`](crate::Config::request_log) of them, in the order of their answers.
#[derive(Debug, Clone, Copy)]
pub struct Requests<'a> {
    log: &'a RequestLog,
}

impl<'a> Requests<'a> {
    pub(crate) fn new(log: &'a RequestLog) -> Self {
        Self { log }
    }

    /// All of them.
    pub fn all(&self) -> Vec<LoggedRequest> {
        self.log.lock().iter().cloned().collect()
    }

    /// Those that match.
    pub fn matching(&self, on: &On) -> Vec<LoggedRequest> {
        self.log.lock().iter().filter(|request| request.matches(on)).cloned().collect()
    }

    /// How many match.
    pub fn count(&self, on: &On) -> usize {
        self.log.lock().iter().filter(|request| request.matches(on)).count()
    }

    /// All of them, which are forgotten.
    pub fn take(&self) -> Vec<LoggedRequest> {
        std::mem::take(&mut *self.log.lock()).into()
    }

    /// Forgets them.
    pub fn clear(&self) {
        self.log.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(name: &str) -> LoggedRequest {
        LoggedRequest {
            started: Timestamp::UNIX_EPOCH,
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
    fn the_oldest_make_room() {
        let log = RequestLog::new(2);
        for name in ["a", "b", "c"] {
            log.record(|| request(name));
        }
        let requests = Requests::new(&log);
        let names: Vec<String> = requests.all().into_iter().map(|request| request.name).collect();
        assert_eq!(names, ["b", "c"]);
        assert_eq!(requests.count(&On::any().name("b")), 1);
        assert_eq!(requests.matching(&On::any().verb("list")), []);
        assert_eq!(requests.take().len(), 2);
        assert_eq!(requests.all(), []);
        log.record(|| request("d"));
        requests.clear();
        assert_eq!(requests.all(), []);
    }

    #[test]
    fn a_log_of_nothing_costs_nothing() {
        let log = RequestLog::new(0);
        log.record(|| unreachable!("nobody would read it"));
    }
}
