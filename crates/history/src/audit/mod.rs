//! Changes from audit logs of kube-apiserver.
//!
//! ```text
//! files --> values --> line: event or wrapper --> write --> look_ahead --> objects --> Change --> Encoder
//! ```
//!
//! A log has requests, in about the order in which they were answered. An event of level `RequestResponse` has the object after the
//! write. One of level `Request` has what was requested: an object, or a patch, whose outcome is certain for some fields only. One of
//! level `Metadata` names who wrote which object. A write whose outcome is not certain is a [`What::Unknown`](crate::What::Unknown).
//!
//! Objects that existed before the log are unknown until they are written. If the files contain lists that `kubectl get -o json` has
//! printed, those of their objects that are older than the first write are the state before it.
//!
//! [`reads`] reads the same files for who has read Endpoints.

mod content;
mod event;
mod google;
mod line;
mod look_ahead;
mod objects;
mod patch;
pub mod reads;
mod source;
mod summary;
mod values;
mod write;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{self, Read};

use jiff::Timestamp;

use self::look_ahead::LookAhead;
use self::objects::Objects;
use self::source::{Printed, Source};
use self::write::Write;
use crate::{Change, Recorded};

pub use self::summary::{Skipped, Summary};

/// Audit logs that are read as one: JSON lines of `audit.k8s.io/v1` Events, or exports of Google Cloud, Amazon and Azure, plain or
/// compressed by gzip.
///
/// At most 16,384 writes and 64 MiB of them wait for earlier ones, and an event has at most 8 MiB. Longer ones, and lines that are no
/// event, are skipped and counted.
pub struct AuditLogs {
    sources: Vec<Source>,
    /// Time of the next write of each source that has one, with its number.
    next: BinaryHeap<Reverse<(Timestamp, usize)>>,
    namespace: Option<String>,
    waiting: LookAhead,
    objects: Objects,
    /// Objects that kubectl has printed before the first write.
    printed: Printed,
    changes: VecDeque<Change>,
    has_started: bool,
    summary: Summary,
}

impl AuditLogs {
    /// Returns the logs without files. With a namespace, only its objects and all Nodes are read.
    pub fn new(namespace: Option<&str>) -> AuditLogs {
        AuditLogs {
            sources: Vec::new(),
            next: BinaryHeap::new(),
            namespace: namespace.map(str::to_owned),
            waiting: LookAhead::default(),
            objects: Objects::default(),
            printed: Printed::default(),
            changes: VecDeque::new(),
            has_started: false,
            summary: Summary::default(),
        }
    }

    /// Adds a file, which is read until its first write. Files are merged by time; each should be in order. `name` is for messages.
    /// To be added before the first call of another function.
    ///
    /// # Errors
    ///
    /// If nothing can be read. What follows an error later in the file is missing, as [`Summary::unreadable`] says.
    pub fn add(&mut self, name: &str, file: impl Read + Send + 'static) -> io::Result<()> {
        self.sources.push(Source::open(name.to_owned(), file)?);
        self.read_next(self.sources.len() - 1);
        Ok(())
    }

    /// Reads on, as far as is necessary, and returns the objects that existed before the first write. Later calls return those that
    /// exist after the last change.
    pub fn objects(&mut self) -> impl Iterator<Item = &Recorded> {
        self.start();
        self.objects.iter()
    }

    /// Moves to the next change; `None` at the end. Its time is that of the answer to the request, and never before that of the
    /// change before.
    pub fn next_change(&mut self) -> Option<Change> {
        self.start();
        while self.changes.is_empty() {
            self.look_ahead();
            let write = self.waiting.pop()?;
            self.objects.apply(write, &mut self.changes, &mut self.summary);
        }
        self.changes.pop_front()
    }

    /// Returns what was read so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Finds the objects that existed before the first write.
    fn start(&mut self) {
        if self.has_started {
            return;
        }
        self.look_ahead();
        self.has_started = true;
        let printed = std::mem::take(&mut self.printed).objects;
        let Some(first) = self.waiting.lowest_version() else { return };
        for content in printed {
            if (1..first).contains(&content.object.version()) {
                self.summary.objects[1] += 1;
                self.objects.add(content);
            }
        }
    }

    fn look_ahead(&mut self) {
        while !self.waiting.is_full()
            && let Some(write) = self.next_write()
        {
            self.waiting.push(write);
        }
    }

    /// Returns the first write of all sources.
    fn next_write(&mut self) -> Option<Write> {
        let Reverse((_, source)) = self.next.pop()?;
        let write = self.sources[source].next();
        self.read_next(source);
        write
    }

    fn read_next(&mut self, source: usize) {
        let namespace = self.namespace.as_deref();
        if let Some(write) = self.sources[source].peek(namespace, &mut self.printed, &mut self.summary) {
            self.next.push(Reverse((write.seen, source)));
        }
        if self.has_started {
            self.printed = Printed::default();
        }
    }
}
