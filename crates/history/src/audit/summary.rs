//! What was read, and what could not be known.

use jiff::Timestamp;

/// Counts of what was read. [`AuditLogs::summary`](super::AuditLogs::summary) returns it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Number of audit events at each level: `Metadata`, `Request`, `RequestResponse`.
    pub events: [u64; 3],
    /// Number of events that have written a recorded object.
    pub writes: u64,
    /// Number of events about other kinds of objects and other namespaces.
    pub others: u64,
    /// Number of events that have changed nothing: reads, failed requests, dry runs, and other stages of a request.
    pub without_effect: u64,
    /// Number of writes of objects whose names the server has generated, and which the log does not have.
    pub unnamed: u64,
    /// Number of writes after which the content of an object is unknown.
    pub without_content: u64,
    /// Number of writes that were read more than 1 s too late to be put in order. They have the time of the write before them.
    pub late: u64,
    /// Number of objects that kubectl has printed, and of those among them that existed unchanged before the first write.
    pub objects: [u64; 2],
    /// Lines that are neither an audit event nor an object.
    pub foreign: Skipped,
    /// Values that are longer than 8 MiB.
    pub too_long: Skipped,
    /// Files that could not be read to their end, with the error.
    pub unreadable: Vec<(String, String)>,
    /// Time of the first event; `None` without events.
    pub first: Option<Timestamp>,
    /// Time of the last event; `None` without events.
    pub last: Option<Timestamp>,
}

/// What was skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Number of lines.
    pub count: u64,
    /// File and number of the first of them.
    pub first: Option<(String, u64)>,
}

impl Summary {
    pub(super) fn see(&mut self, time: Timestamp) {
        self.first = Some(self.first.map_or(time, |first| first.min(time)));
        self.last = Some(self.last.map_or(time, |last| last.max(time)));
    }
}

impl Skipped {
    pub(super) fn add(&mut self, file: &str, line: u64) {
        self.count += 1;
        self.first.get_or_insert_with(|| (file.to_owned(), line));
    }
}
