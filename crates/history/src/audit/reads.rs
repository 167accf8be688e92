//! Who has read Endpoints, as audit logs of kube-apiserver show.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read};

use jiff::Timestamp;

use super::event::{Event, Stage};
use super::line::{Line, parse};
use super::source::{FileValues, values};
use super::values::Found;

/// Largest number of different requests that are kept apart.
const MOST_REQUESTS: usize = 64 << 10;
/// Largest number of hours that are kept, of one file and of all: ten years.
const MOST_HOURS: usize = 10 * 366 * 24;
const SECONDS_OF_AN_HOUR: i64 = 3_600;

/// Reads of Endpoints in audit logs, and how much the logs show. The forms of the files are those of
/// [`AuditLogs`](super::AuditLogs).
///
/// At most 65,536 different requests are kept apart; of further ones, only user, program and verb.
#[derive(Clone, Debug, Default)]
pub struct Reads {
    requests: BTreeMap<Request, Counts>,
    /// Whether there were more users and programs than are kept.
    pub is_incomplete: bool,
    /// Files, in the order in which they were added.
    pub files: Vec<LogFile>,
    /// Number of requests of the verbs get, list and watch, for objects of any kind.
    pub reads_of_all_kinds: u64,
    /// Hours since 1970 in which Endpoints were read, by anybody.
    pub hours: BTreeSet<i64>,
}

/// A kind of request, by one user with one program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Request {
    /// User, such as `system:serviceaccount:shop:web`; of an impersonated one, also who has impersonated it.
    pub user: String,
    /// User agent; empty if it is unknown.
    pub agent: String,
    /// `get`, `list` or `watch`.
    pub verb: &'static str,
    /// Namespace; empty for all.
    pub namespace: String,
    /// Name of the object; empty for all.
    pub name: String,
    /// Label selector; `None` for all, and if it is unknown.
    pub labels: Option<String>,
}

/// How often and when a request was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Number of requests.
    pub count: u64,
    /// Time of the first one.
    pub first: Timestamp,
    /// Time of the last one. A watch counts at its beginning and at its end.
    pub last: Timestamp,
}

/// What was read of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// Name.
    pub name: String,
    /// Number of audit events.
    pub events: u64,
    /// Time of the first event; `None` without events.
    pub first: Option<Timestamp>,
    /// Time of the last event; `None` without events.
    pub last: Option<Timestamp>,
    /// Hours since 1970 that have events, each with the lowest hash of their `auditID`s: files of one API server that
    /// have the same hour share it. `None` if they are unknown.
    pub hours: BTreeMap<i64, Option<u64>>,
    /// Whether the file is of all API servers of a cluster, as exports of Google Cloud and Azure are.
    pub is_of_all_servers: bool,
    /// Number of lines that are no audit event.
    pub foreign: u64,
    /// Number of values that are longer than 8 MiB, and were skipped.
    pub too_long: u64,
    /// Why the file could not be read to its end; `None` if it could.
    pub unreadable: Option<String>,
}

/// A request has one event for each of its stages that the policy of the log does not omit.
#[derive(Clone, Copy, Debug)]
struct Counts {
    started: u64,
    complete: u64,
    first: Timestamp,
    last: Timestamp,
}

impl Reads {
    /// Reads a file to its end. `name` is for messages.
    ///
    /// # Errors
    ///
    /// If nothing can be read. What follows an error later in the file is missing, as [`LogFile::unreadable`] says.
    pub fn add(&mut self, name: &str, file: impl Read + Send + 'static) -> io::Result<()> {
        let mut log = LogFile::new(name);
        self.read(values(file)?, &mut log);
        self.files.push(log);
        Ok(())
    }

    /// Returns the requests that have read Endpoints, or would have, had they existed. Those that were denied are none.
    pub fn requests(&self) -> impl Iterator<Item = (&Request, Seen)> {
        self.requests.iter().map(|(request, counts)| {
            let Counts { started, complete, first, last } = *counts;
            (request, Seen { count: started.max(complete), first, last })
        })
    }

    fn read(&mut self, mut values: FileValues, log: &mut LogFile) {
        loop {
            match values.next() {
                Ok(Some(Found::Value(_))) => parse(values.value(), &mut |line| match line {
                    Line::Event(event) => self.see(&event, log),
                    Line::Object(_) | Line::Foreign => log.foreign += 1,
                }),
                Ok(Some(Found::Foreign(_))) => log.foreign += 1,
                Ok(Some(Found::TooLong(_))) => log.too_long += 1,
                Ok(None) => return,
                Err(error) => {
                    log.unreadable = Some(error.to_string());
                    return;
                }
            }
        }
    }

    fn see(&mut self, event: &Event<'_>, log: &mut LogFile) {
        log.see(event);
        let verb = match event.verb.as_str() {
            "get" => "get",
            "list" => "list",
            "watch" => "watch",
            _ => return,
        };
        if event.stage == Stage::Other {
            return;
        }
        self.reads_of_all_kinds += 1;
        let target = &event.target;
        let is_of_endpoints =
            target.resource == "endpoints" && matches!(&*target.group, "" | "core") && target.subresource.is_empty();
        if !is_of_endpoints || event.is_denied {
            return;
        }
        if self.hours.len() < MOST_HOURS {
            self.hours.insert(hour(event.time));
        }
        let name = event.selected_name.as_ref().filter(|_| target.name.is_empty()).unwrap_or(&target.name);
        let mut request = Request {
            user: event.user.clone(),
            agent: event.agent.clone(),
            verb,
            namespace: target.namespace.clone(),
            name: name.clone(),
            labels: event.labels.clone(),
        };
        if self.requests.len() >= MOST_REQUESTS && !self.requests.contains_key(&request) {
            request = Request { namespace: String::new(), name: String::new(), labels: None, ..request };
        }
        if self.requests.len() >= 2 * MOST_REQUESTS && !self.requests.contains_key(&request) {
            self.is_incomplete = true;
            return;
        }
        let (first, last) = (event.time, event.time);
        let counts = self.requests.entry(request).or_insert(Counts { started: 0, complete: 0, first, last });
        counts.first = counts.first.min(event.time);
        counts.last = counts.last.max(event.time);
        match event.stage {
            Stage::Started => counts.started += 1,
            _ => counts.complete += 1,
        }
    }
}

impl LogFile {
    fn new(name: &str) -> LogFile {
        LogFile {
            name: name.to_owned(),
            events: 0,
            first: None,
            last: None,
            hours: BTreeMap::new(),
            is_of_all_servers: false,
            foreign: 0,
            too_long: 0,
            unreadable: None,
        }
    }

    fn see(&mut self, event: &Event<'_>) {
        self.events += 1;
        self.first = Some(self.first.map_or(event.time, |first| first.min(event.time)));
        self.last = Some(self.last.map_or(event.time, |last| last.max(event.time)));
        self.is_of_all_servers |= event.is_of_all_servers;
        let hour = hour(event.time);
        if self.hours.len() < MOST_HOURS || self.hours.contains_key(&hour) {
            let lowest = self.hours.entry(hour).or_default();
            *lowest = hash_of(&event.id).into_iter().chain(*lowest).min();
        }
    }
}

/// Returns the hour since 1970 of a time.
pub fn hour(time: Timestamp) -> i64 {
    time.as_second().div_euclid(SECONDS_OF_AN_HOUR)
}

/// Returns a hash of an `auditID`; `None` if it is unknown.
fn hash_of(id: &str) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    (!id.is_empty()).then(|| hasher.finish())
}
