//! The log of a run.

use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use kube_dev_apiserver::{decode_protobuf, decode_watch_frame};
use serde_json::Value;

use crate::fault::{Disturbance, Fault};
use crate::point::Point;
use crate::request::Target;
use crate::script::Operation;

/// Log of one run, in order of time. Two runs of one seed have equal logs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    entries: Vec<Entry>,
}

/// Entry of a [`Log`]: a time, and what happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Virtual time since the start of the run.
    pub at: Duration,
    /// Kind and data of the entry.
    pub what: EntryKind,
}

/// Kind and data of an [`Entry`].
#[derive(Clone, Debug, PartialEq)]
pub enum EntryKind {
    /// The user sent a request.
    User {
        /// The request.
        operation: Operation,
        /// Status code of the response; 0 if the request was not sent, because its object does not exist, or failed.
        code: u16,
    },
    /// A process sent a request.
    Request {
        /// Point of the request.
        point: Point,
        /// Verb, resource and object of the request.
        target: Target,
        /// Body of the request, in JSON if it was an object; empty for reads.
        body: Bytes,
        /// Status code of the server's response; `None` if the request did not reach the server.
        code: Option<u16>,
        /// Body of the server's response; empty for watches.
        answer: Bytes,
    },
    /// A watch delivered an event to a process.
    Event {
        /// Point of the event.
        point: Point,
        /// Frame of the event, JSON or protobuf.
        frame: Bytes,
    },
    /// A fault was injected.
    Fault {
        /// Point of the fault.
        point: Point,
        /// The fault.
        fault: Fault,
    },
    /// A disturbance was injected.
    Disturbance(Disturbance),
    /// A process was started.
    Started {
        /// Name of the process.
        process: String,
    },
    /// A process was killed or ended by itself.
    Ended {
        /// Name of the process.
        process: String,
        /// `killed`, `returned`, or the message of the error or panic.
        reason: String,
    },
    /// A rule was violated.
    Violation(String),
}

impl Log {
    pub(crate) fn push(&mut self, at: Duration, what: EntryKind) {
        self.entries.push(Entry { at, what });
    }

    /// Returns all entries, in order of time.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Formats one line per entry, with complete bodies and frames: two runs with equal texts exchanged the same objects.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            let _ = writeln!(text, "{:>10.3} {}", entry.at.as_secs_f64(), entry.what);
        }
        text
    }

    /// Formats one line per entry, with the bodies cut short, for a human reader. Bookmarks, successful reads and
    /// exchanges about leases are omitted.
    pub fn timeline(&self) -> String {
        let mut text = String::new();
        for entry in self.entries.iter().filter(|entry| tells(&entry.what)) {
            let mut line = entry.what.to_string();
            if line.len() > WIDTH {
                let end = (0..=WIDTH).rev().find(|at| line.is_char_boundary(*at)).unwrap_or_default();
                line.truncate(end);
                line.push('…');
            }
            let _ = writeln!(text, "{:>10.3} {line}", entry.at.as_secs_f64());
        }
        text
    }
}

/// Maximum length of a timeline entry without its time, in bytes.
const WIDTH: usize = 400;

fn tells(what: &EntryKind) -> bool {
    match what {
        EntryKind::Request { point, code, .. } => {
            point.resource != "leases" && (point.verb.is_write() || !matches!(code, Some(200..300)))
        }
        EntryKind::Event { point, frame } => {
            point.resource != "leases" && event(frame).is_some_and(|event| event["type"] != "BOOKMARK")
        }
        _ => true,
    }
}

impl std::fmt::Display for EntryKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EntryKind::User { operation, code } => write!(f, "user     {operation} -> {code}"),
            EntryKind::Request { point, target, body, code, answer } => {
                let Target { namespace, name, subresource, .. } = target;
                write!(f, "{:<8} {} {}", point.process, point.verb, point.resource)?;
                for part in [namespace, name, subresource].into_iter().filter(|part| !part.is_empty()) {
                    write!(f, " {part}")?;
                }
                write!(f, " #{}", point.nth)?;
                if !body.is_empty() {
                    write!(f, " {}", text(body))?;
                }
                match code {
                    Some(code) => write!(f, " -> {code}")?,
                    None => f.write_str(" -> lost")?,
                }
                if !answer.is_empty() {
                    write!(f, " {}", text(answer))?;
                }
                Ok(())
            }
            EntryKind::Event { point, frame } => {
                let frame = event(frame).map_or_else(|| text(frame), |event| event.to_string());
                write!(f, "{:<8} event {} #{} {frame}", point.process, point.resource, point.nth)
            }
            EntryKind::Fault { point, fault } => write!(f, "FAULT    {point}={fault}"),
            EntryKind::Disturbance(disturbance) => write!(f, "FAULT    {disturbance}"),
            EntryKind::Started { process } => write!(f, "{process:<8} started"),
            EntryKind::Ended { process, reason } => write!(f, "{process:<8} ended: {reason}"),
            EntryKind::Violation(text) => write!(f, "VIOLATION {text}"),
        }
    }
}

/// Returns the event in a frame; `None` if it cannot be read.
pub(crate) fn event(frame: &[u8]) -> Option<Value> {
    serde_json::from_slice(frame).ok().or_else(|| decode_watch_frame(frame))
}

/// Returns an object in protobuf as JSON, UTF-8 without its trailing white space, and other bytes escaped.
fn text(bytes: &[u8]) -> String {
    if let Some(object) = decode_protobuf(bytes) {
        return object.to_string();
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => text.trim_end().to_owned(),
        Err(_) => bytes.escape_ascii().to_string(),
    }
}
